package localfile

import (
	"io"
	"os"
	"path/filepath"
)

// WriteAtomically writes a file whole or not at all.
func WriteAtomically(name string, write func(io.Writer) error) error {
	t, err := os.CreateTemp(filepath.Dir(name), ".snapshot-*")
	if err != nil {
		return err
	}
	defer os.Remove(t.Name())
	if err := write(t); err != nil {
		_ = t.Close()
		return err
	}
	if err := t.Close(); err != nil {
		return err
	}
	return os.Rename(t.Name(), name)
}
