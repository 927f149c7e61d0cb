package program

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
)

// Kept is a folder with what a peer answered to inputs, or "" for none. A run after a repair, and one that tries deliberate faults, ask mostly what
// was asked before.
type Kept string

// KeptAnswers is the folder for a peer's program: another build of it has another one.
func KeptAnswers(program string) (Kept, error) {
	file, err := os.Open(program)
	if err != nil {
		return "", err
	}
	defer file.Close()
	sum := sha256.New()
	if _, err := io.Copy(sum, file); err != nil {
		return "", fmt.Errorf("reading %s: %w", program, err)
	}
	return Kept(fmt.Sprintf("%s-answers-%x", program, sum.Sum(nil)[:8])), nil
}

// file is where the answer to an input is.
func (k Kept) file(input []byte) string {
	sum := sha256.Sum256(input)
	name := hex.EncodeToString(sum[:16])
	return filepath.Join(string(k), name[:2], name[2:])
}

// get gives the answer to an input, or nil if it was not Kept.
func (k Kept) get(input []byte) (map[string]string, error) {
	if k == "" {
		return nil, nil
	}
	text, err := os.ReadFile(k.file(input))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("reading the Kept answer %s: %w\nRemove the file to ask again", k.file(input), err)
	}
	return out, nil
}

// put keeps an answer. It is written beside its place and moved there, so that a run that is ended leaves no half of one.
func (k Kept) put(input []byte, answer map[string]string) error {
	if k == "" {
		return nil
	}
	text, err := json.Marshal(answer)
	if err != nil {
		return err
	}
	at := k.file(input)
	if err := os.MkdirAll(filepath.Dir(at), 0o755); err != nil {
		return err
	}
	file, err := os.CreateTemp(filepath.Dir(at), "new-*")
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err := errors.Join(err, file.Close()); err != nil {
		return err
	}
	return os.Rename(file.Name(), at)
}
