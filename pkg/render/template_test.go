package render

import (
	"errors"
	"io"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

func template(t *testing.T, f Format, text string, o TemplateOptions) *Template {
	t.Helper()
	out, err := NewTemplate(f, text, o)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// hostileAnswer has a rule whose name and value move the cursor and hide text.
func hostileAnswer() View {
	return &effective.EffectivePolicyList{Items: []view.EffectivePolicy{{
		Target: model.Ref{Kind: "HTTPRoute", Name: "shop"},
		Rules:  []view.Rule{{Name: "a\x1b[2J", Value: map[string]any{"k\u202e": "one\n\ttwo\x07"}}},
	}}}
}

func TestTemplates(t *testing.T) {
	for name, tc := range map[string]struct {
		format   Format
		text     string
		terminal bool
		want     string
	}{
		"a program gets true values":   {JSONPath, "{.items[0].rules[0].name}", false, "a\x1b[2J"},
		"a terminal gets visible ones": {JSONPath, "{.items[0].rules[0].name}", true, `a\x1b[2J`},
		"with their lines": {GoTemplate,
			`{{range (index (index .items 0).rules 0).value}}{{.}}{{end}}`, true, "one\n\ttwo\\x07"},
		"the template's own text is let be": {GoTemplate,
			"\x1b[1m{{.kind}}{{range $k, $v := (index (index .items 0).rules 0).value}}{{$k}}{{end}}", true, `` +
				"\x1b[1m" + `k\u202e`},
		"columns are always visible": {CustomColumns, "R:.rules[*].name", false, "R\na\\x1b[2J\n"},
		"columns of a null": {CustomColumns, "L:.rules[0].lost,N:.target.name", false,
			"L       N\n<nil>   shop\n"},
	} {
		t.Run(name, func(t *testing.T) {
			got := written(t, hostileAnswer(), Options{Template: template(t, tc.format, tc.text, TemplateOptions{}),
				Terminal: tc.terminal})
			if got != tc.want {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

// Every view can be printed by every template, and a failure prints nothing.
func TestTemplatesOfEveryView(t *testing.T) {
	for _, v := range views() {
		if got := written(t, v, Options{Template: template(t, JSONPath, "{.kind}|",
			TemplateOptions{})}); !strings.HasSuffix(got, "|") {
			t.Errorf("%T: got %q", v, got)
		}
		written(t, v, Options{Template: template(t, CustomColumns, "A:.target.name,B:", TemplateOptions{})})
		for _, tmpl := range []*Template{template(t, JSONPath, "{.kind}{.nope}", TemplateOptions{RequireKeys: true}),
			template(t, GoTemplate, "{{.kind}}{{.nope}}", TemplateOptions{RequireKeys: true})} {
			var out strings.Builder
			var wrong *TemplateError
			if err := Write(&out, v, Options{Template: tmpl}); !errors.As(err, &wrong) || out.Len() > 0 {
				t.Errorf("%T: got %v and %q", v, err, out.String())
			}
		}
	}
}

func TestTemplateOfAnotherFormat(t *testing.T) {
	if _, err := NewTemplate(JSON, "{.kind}", TemplateOptions{}); err == nil ||
		err.Error() != "json: it takes no template" {
		t.Errorf("got %v", err)
	}
}

// No template makes the program fail other than with an error.
func FuzzTemplate(f *testing.F) {
	for _, s := range []string{"{.items[*].target.name}", `{range .items[*]}{.x}{"\n"}{end}`,
		`{.items[?(@.policyKind=="A")].rules[0:2:1]}`, "{..name}",
		"{['a','b']}", "A:.x,B:{.y[*]}", "A B\n.x {.y[*]}", "{.items[-1:]}{$}", "{.items[?(@.a.b<3)]['x']}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		for _, format := range []Format{JSONPath, JSONPathAsJSON, CustomColumns, ColumnsFile} {
			var wrong *TemplateError
			tmpl, err := NewTemplate(format, s, TemplateOptions{})
			if err == nil {
				err = Write(io.Discard, effectiveFixture(), Options{Template: tmpl, Terminal: true})
			}
			if err != nil && !errors.As(err, &wrong) {
				t.Errorf("%s %q: %v", format, s, err)
			}
		}
	})
}
