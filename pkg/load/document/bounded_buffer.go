package document

import (
	"bytes"
	"errors"
)

// BoundedBuffer keeps what is written up to a limit, and fails after that.
type BoundedBuffer struct {
	kept      bytes.Buffer // not embedded: its ReadFrom knows no limit
	remaining int
	exceeded  bool
}

// NewBoundedBuffer returns a buffer for so many bytes.
func NewBoundedBuffer(most int) *BoundedBuffer { return &BoundedBuffer{remaining: most} }

// Write implements io.Writer.
func (b *BoundedBuffer) Write(p []byte) (int, error) {
	if b.remaining -= len(p); b.remaining < 0 {
		b.exceeded = true
		return 0, errors.New("too much")
	}
	return b.kept.Write(p)
}

// IsExceeded reports whether more was written than the buffer takes.
func (b *BoundedBuffer) IsExceeded() bool { return b.exceeded }

// Bytes returns what was written.
func (b *BoundedBuffer) Bytes() []byte { return b.kept.Bytes() }

// String returns what was written.
func (b *BoundedBuffer) String() string { return b.kept.String() }
