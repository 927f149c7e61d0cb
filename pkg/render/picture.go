package render

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	renderpicture "github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

// DrawError says that a picture could not be drawn. What was written instead is the DOT text of the
// graph.
type DrawError struct{ Err error }

func (e *DrawError) Error() string { return fmt.Sprintf("the picture could not be drawn: %v", e.Err) }
func (e *DrawError) Unwrap() error { return e.Err }

// writePicture has the graph drawn in the format of o. When that fails nothing is lost: the DOT
// text is written, and the error is a *DrawError.
func writePicture(w *bufio.Writer, t *graph.Topology, o Options) error {
	var text bytes.Buffer
	dot := bufio.NewWriter(&text)
	renderpicture.WriteDOT(dot, t, o.DOT)
	_ = dot.Flush() // writing to memory does not fail
	picture, err := o.drawPicture(text.Bytes())
	if err != nil {
		var to io.Writer = w
		if o.Runner {
			to = escape.NewRunnerWriter(w)
		}
		_, writing := to.Write(text.Bytes())
		return errors.Join(&DrawError{err}, writing, w.Flush())
	}
	_, err = w.Write(picture)
	return err
}

// drawPicture returns the picture of a DOT text.
func (o Options) drawPicture(dot []byte) ([]byte, error) {
	if o.Draw == nil {
		return nil, errors.New("nothing here draws")
	}
	picture, err := o.Draw(string(o.Format), dot)
	if err != nil || o.Format != SVG {
		return picture, err
	}
	return renderpicture.CleanSVG(picture, renderpicture.SVGOptions{Theme: o.DOT.Theme})
}
