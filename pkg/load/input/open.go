package input

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"golang.org/x/term"
)

// deviceTime is how long a device may take, or a file that the system makes up, such as those of
// /proc: some wait for something that never happens.
const deviceTime = 5 * time.Second

// Open opens a file to be read. A device, or a file that the system makes up, ends with an error if
// it has not ended by itself soon. Pipes and terminals last as long as whoever writes to them.
func Open(name string) (*os.File, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := f.Stat()
	if err == nil && info.Mode()&(fs.ModeNamedPipe|fs.ModeSocket) == 0 && !isTerminal(f) {
		_ = f.SetReadDeadline(time.Now().Add(deviceTime)) // files on disk have none, and need none
	}
	return f, nil
}

// isTerminal reports whether a file is a terminal.
func isTerminal(f *os.File) (is bool) {
	if c, err := f.SyscallConn(); err == nil {
		_ = c.Control(func(fd uintptr) { is = term.IsTerminal(int(fd)) }) // f.Fd would take the deadline away
	}
	return is
}

// openWithin is Open, which waits for the other end of a pipe no longer than ctx lasts.
func openWithin(ctx context.Context, name string) (*os.File, error) {
	type result struct {
		file *os.File
		err  error
	}
	done := make(chan result, 1)
	go func() {
		f, err := Open(name)
		done <- result{f, err}
	}()
	select {
	case r := <-done:
		return r.file, r.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// ReadFailure returns why a file could not be read, in words that say what to do about a device.
func ReadFailure(err error) error {
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return fmt.Errorf("it has not ended within %s: it is a device, or a file that the system makes up", deviceTime)
	}
	return err
}

// FindWorkingTree returns the top of the git working tree that a folder, given by its absolute path, is
// in; "" if it is in none.
func FindWorkingTree(folder string) string {
	for ; ; folder = filepath.Dir(folder) {
		if _, err := os.Lstat(filepath.Join(folder, gitFolder)); err == nil {
			return folder
		}
		if folder == filepath.Dir(folder) {
			return ""
		}
	}
}

// IsInside reports whether a file is in a folder, or in one below it, when all links are followed.
func IsInside(folder, file string) bool {
	below, err := filepath.Rel(RealPath(folder), RealPath(file))
	return err == nil && filepath.IsLocal(below)
}

// RealPath tells files apart: the absolute path without links. What does not exist is below the
// folder that does.
func RealPath(p string) string {
	if p == "" {
		return ""
	}
	if abs, err := filepath.Abs(p); err == nil {
		p = abs
	}
	rest := ""
	for at := p; ; at = filepath.Dir(at) {
		if resolved, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(resolved, rest)
		}
		if at == filepath.Dir(at) {
			return p
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}
