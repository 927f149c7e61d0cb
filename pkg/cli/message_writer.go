package cli

import (
	"bytes"
	"io"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// messageWriter writes messages without the credentials of addresses, of which libraries quote some.
// A message is written at once.
type messageWriter struct{ to io.Writer }

// Write implements io.Writer.
func (w messageWriter) Write(p []byte) (int, error) {
	if !bytes.Contains(p, []byte("://")) {
		return w.to.Write(p)
	}
	if _, err := io.WriteString(w.to, document.HideCredentials(string(p))); err != nil {
		return 0, err
	}
	return len(p), nil
}
