package render

import (
	"errors"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

func TestRunnerText(t *testing.T) {
	for text, want := range map[string]string{
		"::error::x\n":             ": :error::x\n",
		"a ::error::x\n":           "a ::error::x\n",
		"a\n  ::add-mask::x\n":     "a\n  : :add-mask::x\n",
		"\t::stop-commands::x":     "\t: :stop-commands::x",
		"see ##[group]x":           "see ## [group]x",
		"a ##vso[task.setvar]x":    "a ##vso [task.setvar]x",
		"##teamcity[message]":      "##teamcity [message]",
		"## A heading\na::b [c]\n": "## A heading\na::b [c]\n",
		": : x\n":                  ": : x\n",
		":::x\n":                   ": ::x\n",
		"a\r::error::x\n":          "a\r: :error::x\n",
		"\u00a0::error::x\n":       "\u00a0: :error::x\n",
		"\u3000 \v::error::x\n":    "\u3000 \v: :error::x\n",
		"é::error::x\n":            "é::error::x\n",
	} {
		for cut := range len(text) + 1 { // wherever a write ends
			var out strings.Builder
			w := escape.NewRunnerWriter(&out)
			for _, part := range []string{text[:cut], text[cut:]} {
				if n, err := w.Write([]byte(part)); err != nil || n != len(part) {
					t.Fatal(n, err)
				}
			}
			if out.String() != want {
				t.Errorf("%q cut at %d: got %q, want %q", text, cut, out.String(), want)
			}
		}
	}
}

// A picture that cannot be drawn is DOT text, in which there are no commands either.
func TestDOTInsteadOfPictureHasNoRunnerCommands(t *testing.T) {
	graph := &graph.Topology{Nodes: []graph.GraphNode{{ID: "gw", Kind: "gateway", Ref: model.Ref{Kind: "Gateway",
		Name: "##[error]x"}, Labels: map[string]string{}}}}
	var out strings.Builder
	var missing *DrawError
	if err := Write(&out, graph, Options{Format: SVG, Runner: true}); !errors.As(err, &missing) ||
		!strings.Contains(out.String(), "error]x") || strings.Contains(out.String(), "##[") {
		t.Errorf("%v: %s", err, out.String())
	}
}

// No format lets a name or a value out as a command of a runner.
func TestFormatsHaveNoRunnerCommands(t *testing.T) {
	hostile := "::set-env name=X::y\n  ::add-mask::z\n##[command]x ##vso[task.setvar]y ##teamcity[message]"
	list := effectiveFixture()
	list.Items[0].Target = model.Ref{Group: "g", Kind: "K", Namespace: "::warning::", Name: hostile}
	list.Items[0].Rules[0] = view.Rule{Name: hostile, Value: map[string]any{hostile: hostile, "a": "x\n\u00a0::notice::y"},
		Why: "x\n\u3000 ::notice::y"}
	list.Problems = []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated, Message: hostile,
		Hint: hostile}}
	for _, format := range supportedFormats(list) {
		text := written(t, list, Options{Format: Format(format), Runner: true})
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") ||
				strings.Contains(line, "##vso[") || strings.Contains(line, "##teamcity[") {
				t.Errorf("%s: %q", format, line)
			}
		}
	}
}
