package view

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestCommandIsQuotedForAShell(t *testing.T) {
	o := TableOptions{Source: "-f testdata/demo"}
	for _, tc := range []struct{ word, want string }{
		{"httproute/baker", "kubectl dopolicy explain httproute/baker -f testdata/demo"},
		{"x; rm -rf ~", "kubectl dopolicy explain 'x; rm -rf ~' -f testdata/demo"},
		{"it's", `kubectl dopolicy explain 'it'\''s' -f testdata/demo`},
		{"", "kubectl dopolicy explain '' -f testdata/demo"},
	} {
		if got := o.FormatCommand("explain", tc.word); got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}

func TestClosing(t *testing.T) {
	forbidden := func(message string) model.Problem {
		return model.Problem{Severity: model.Warning, Code: model.Forbidden, Message: message}
	}
	for _, tc := range []struct {
		problems []model.Problem
		want     string
	}{
		{nil, ""},
		{[]model.Problem{{Severity: model.Warning, Code: model.TargetNotFound}}, ""},
		{[]model.Problem{forbidden("a")}, "incomplete: 1 list was not readable"},
		{[]model.Problem{forbidden("a"), forbidden("b"), {Severity: model.Error, Code: model.InvalidYAML},
			{Severity: model.Warning, Code: model.NotEvaluated}, {Severity: model.Info, Code: model.NotEvaluated}},
			"incomplete: 2 lists were not readable, 1 error, 1 thing was not evaluated"},
	} {
		var e Envelope
		e.Finish("Test", tc.problems)
		got := ""
		if lines := e.IncompleteLines(); len(lines) > 0 {
			got = lines[0]
		}
		if got != tc.want {
			t.Errorf("got %q, want %q", got, tc.want)
		}
	}
}
