// Package draw turns graphs in the DOT language into pictures, by a program of its own that is
// started when a picture is asked for.
//
// The Graphviz library behind it compiles WebAssembly whenever a program that contains it starts
// (30 ms at best), so it is in a program that nothing else needs. What goes wrong in there, a
// crash, a layout that never ends, is an error here.
package draw

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/child"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
)

// programName is what the program is called, without the suffix that some systems want. It does not
// start with "kubectl-": kubectl takes such programs for plugins.
const programName = "dopolicy-draw"

// defaultLimit is how long a picture may take. One of a few hundred nodes takes a second.
const defaultLimit = time.Minute

// What is taken of the program.
const (
	maxPictureBytes = 128 << 20
	maxErrorBytes   = 64 << 10
)

// errorLines is how much is repeated of what the program said before it failed.
const errorLines = 3

// The formats of pictures.
const (
	SVG = "svg"
	PNG = "png"
)

// MissingError says that the program was not found.
type MissingError struct{ Looked string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("the program %s, which draws, was not found: not %s, and not on the PATH", programName, e.Looked)
}

// Program is the program that draws.
type Program struct {
	Path  string
	Limit time.Duration // how long a picture may take; 0: a minute
}

// Find looks for the program beside this one, wherever links to it lead, then on the PATH. If it is
// nowhere, the error is a *MissingError.
func Find() (Program, error) {
	looked := "beside this one"
	if own, err := os.Executable(); err == nil {
		real, err := filepath.EvalSymlinks(own)
		if err != nil {
			real = own
		}
		for _, at := range []string{real, own} {
			beside := filepath.Join(filepath.Dir(at), programName+executableSuffix())
			if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
				return Program{Path: beside}, nil
			}
		}
		looked = "in " + filepath.Dir(real)
	}
	path, err := exec.LookPath(programName)
	if err != nil {
		return Program{}, &MissingError{Looked: looked}
	}
	return Program{Path: path}, nil
}

func executableSuffix() string {
	if runtime.GOOS == "windows" {
		return ".exe"
	}
	return ""
}

// Draw makes a picture of a graph in the DOT language. It gives up when ctx ends or the time is
// over.
func (p Program) Draw(ctx context.Context, format string, dot []byte) ([]byte, error) {
	most := p.Limit
	if most == 0 {
		most = defaultLimit
	}
	timed, stop := context.WithTimeout(ctx, most)
	defer stop()
	out, said := document.NewBoundedBuffer(maxPictureBytes), document.NewBoundedBuffer(maxErrorBytes)
	cmd := child.NewCommand(timed, p.Path, "-format", format, "-bytes", strconv.Itoa(len(dot)))
	cmd.Stdout, cmd.Stderr = out, said
	err := runWithInput(cmd, dot)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case out.IsExceeded():
		return nil, fmt.Errorf("%s makes a picture of more than %d MiB", p.Path, maxPictureBytes>>20)
	case timed.Err() != nil:
		return nil, fmt.Errorf("%s did not finish in %s", p.Path, most)
	case err != nil:
		return nil, explainFailure(p.Path, err, said.String())
	case len(out.Bytes()) == 0:
		return nil, fmt.Errorf("%s drew nothing", p.Path)
	}
	return out.Bytes(), nil
}

// runWithInput runs a program with an input that stays open behind the text: it ends only when this
// process ends, by which the program knows.
func runWithInput(cmd *exec.Cmd, text []byte) error {
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	go func() { _, _ = in.Write(text) }() // it need not be read
	return cmd.Wait()
}

// explainFailure tells why the program did not draw: what it said, or how it ended.
func explainFailure(path string, err error, said string) error {
	var start *fs.PathError
	if errors.As(err, &start) {
		return fmt.Errorf("starting %s: %w", path, start.Err)
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if lines[0] == "" {
		return fmt.Errorf("%s: %w", path, err)
	}
	lines[0] = strings.TrimPrefix(lines[0], "error: ")
	return fmt.Errorf("%s: %s (%w)", path, strings.Join(lines[:min(len(lines), errorLines)], "; "), err)
}
