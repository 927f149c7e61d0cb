package output

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// emptyView is an answer that can have no content.
type emptyView interface{ Empty() bool }

// emptyAnswerMessage is what to print in place of an answer without content, "" if it has some.
func (f *Flags) emptyAnswerMessage(session *source.Session, v render.View) string {
	e, ok := v.(emptyView)
	if !ok || !e.Empty() {
		return ""
	}
	if _, statuses := v.(*status.StatusList); statuses {
		return "no policies " + session.DescribeScope()
	}
	return f.EmptyMessage
}

// writeEmptyAnswer prints the message; an answer for programs is written all the same.
func (f *Flags) writeEmptyAnswer(s run.Streams, session *source.Session, what string, v render.View,
	e *view.Envelope) error {
	switch render.Format(f.Format) {
	case render.Table, render.Wide, render.Tree, render.Name:
		if f.Template.Parsed != nil {
			break
		}
		for _, line := range append([]string{what}, e.IncompleteLines()...) {
			fmt.Fprintln(s.Err, escape.Escape(line))
		}
		if f.Strict && !e.Complete {
			return failure.ErrIncomplete
		}
		return nil
	}
	fmt.Fprintln(s.Err, escape.Escape(what))
	return f.WriteOnly(s, session, "", v, e)
}
