package viewer

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/cli/browser"
	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/draw"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// Flags say where an answer goes that is looked at, not read: a picture, a page.
type Flags struct{ Open bool }

// AddFlag adds --open; what names what is opened.
func (f *Flags) AddFlag(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&f.Open, "open", false, "write "+what+" to a temporary file and open it in the default program")
}

// WithDrawing returns the streams with the function that draws pictures. The program that does is
// looked for when the first picture is drawn.
func WithDrawing(ctx context.Context, s run.Streams) run.Streams {
	s.Draw = func(format string, dot []byte) ([]byte, error) {
		program, err := draw.Find()
		if err != nil {
			return nil, err
		}
		return program.Draw(ctx, format, dot)
	}
	return s
}

// ExplainDrawError explains a picture that could not be drawn.
func ExplainDrawError(err error) error {
	var (
		drawing *render.DrawError
		missing *draw.MissingError
	)
	if !errors.As(err, &drawing) {
		return err
	}
	hint := "the graph was written as DOT instead: draw it with Graphviz, for example dot -Tsvg"
	if errors.As(err, &missing) {
		hint = "install it with: go install github.com/dopolicy/kubectl-dopolicy/cmd/... (release archives include it); " + hint
	}
	return failure.NoAnswer(drawing.Error(), hint)
}

// WriteAndOpen calls write with a file of its own, called name, and opens that file. Only the user
// can read the folder; it stays, because what opens the file reads it later. If ctx ends before the
// file is written, there is none.
func WriteAndOpen(ctx context.Context, s run.Streams, name string, write func(to run.Streams) error) error {
	folder, err := os.MkdirTemp("", "dopolicy-")
	if err != nil {
		return failure.NoAnswer(fmt.Sprintf("cannot write a file to open: %v", err),
			"drop --open and redirect the output")
	}
	kept := context.AfterFunc(ctx, func() { _ = os.RemoveAll(folder) })
	path := filepath.Join(folder, name)
	file, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return failure.NoAnswer(fmt.Sprintf("cannot write a file to open: %v", err),
			"drop --open and redirect the output")
	}
	to := s
	to.Out, to.OutIsTTY = file, false
	err = write(to)
	err = errors.Join(err, file.Close())
	if !kept() {
		err = errors.Join(err, ctx.Err())
	}
	if err != nil {
		_ = os.RemoveAll(folder) // its path was not printed
		return err
	}
	fmt.Fprintln(s.Err, "opening", escape.Escape(path))
	// What the opener says is not the answer.
	browser.Stdout, browser.Stderr = s.Err, s.Err
	if err := browser.OpenURL(fileURL(path)); err != nil {
		return failure.NoAnswer(fmt.Sprintf("%s was written but could not be opened: %v", path, err),
			"open it yourself")
	}
	return nil
}

// fileURL names a file for a browser.
func fileURL(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // before a drive letter
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}
