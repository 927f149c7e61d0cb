// Package program builds and runs the programs of the two sides of a comparison: kubectl-dopolicy of this tree, and those that give what a vendor's own code
// says. It expects to be used in a folder test/NAME of the tree.
package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// Program is a kubectl-dopolicy that was built.
type Program string

// ErrRefused is the error of a program that gives no answer to an input.
var ErrRefused = errors.New("no answer")

// tree is the root of the tree.
var tree = filepath.Join("..", "..")

// Build builds kubectl-dopolicy from this tree, with an overlay if there is one.
func Build(ctx context.Context, path, overlay string) (Program, error) {
	args := []string{"build", "-trimpath", "-tags", "kustomize_disable_go_plugin_support", "-o", path}
	if overlay != "" {
		args = append(args, "-overlay", overlay)
	}
	cmd := exec.CommandContext(ctx, "go", append(args, "./cmd/kubectl-dopolicy")...)
	cmd.Dir = tree
	if text, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("building kubectl-dopolicy: %w\n%s", err, text)
	}
	return Program(path), nil
}

// JSON runs the program over objects, and reads what it prints with -o json.
func (p Program) JSON(ctx context.Context, objects []draw.Object, into any, args ...string) error {
	manifests, err := draw.Manifests(objects)
	if err != nil {
		return err
	}
	file, remove, err := Temporary("objects-*.yaml", manifests)
	if err != nil {
		return err
	}
	defer remove()
	out, err := exec.CommandContext(ctx, string(p), append(args, "-o", "json", "-f", file)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return fmt.Errorf("%w to %v: %s", ErrRefused, args, failed.Stderr)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// Temporary writes a file that remove removes.
func Temporary(pattern string, text []byte) (path string, remove func(), err error) {
	file, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", nil, err
	}
	_, err = file.Write(text)
	return file.Name(), func() { os.Remove(file.Name()) }, errors.Join(err, file.Close())
}
