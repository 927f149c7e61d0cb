package render

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
)

func TestEscape(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"plain ünïcode 日本", "plain ünïcode 日本"},
		{"two\nlines\r\n\tindented", `two\nlines\r\n\tindented`},
		{"\x1b[31mred\x1b[0m", `\x1b[31mred\x1b[0m`},
		{"bell\a null\x00 del\x7f", `bell\x07 null\x00 del\x7f`},
		{"csi\u009b31m", `csi\u009b31m`},
		{"\u202eevil\u202c \u2066x\u2069", `\u202eevil\u202c \u2066x\u2069`},
		{"zero\u200bwidth\ufeff\u2060", `zero\u200bwidth\ufeff\u2060`},
		{"line\u2028paragraph\u2029", `line\u2028paragraph\u2029`},
		{"tag\U000e0041", `tag\U000e0041`},
		{"broken\xff\xc3", `broken\xff\xc3`},
		{"real \ufffd", "real \ufffd"},
	} {
		if got := escape.Escape(tc.in); got != tc.want {
			t.Errorf("%q: got %q, want %q", tc.in, got, tc.want)
		}
	}
}

// evil is a name that tries everything.
const evil = "x\"\\\n\r\t\x00\x1b[2J\x7f\u009b31m\u202e\u2066\u200b\ufeff\U000e0041<b>&\\N -> {};' #\\"

// hostileView is a graph of evil names; hostileList an answer of them.
func hostileGraph() *graph.Topology {
	ref := model.Ref{Group: evil, Kind: evil, Namespace: evil, Name: evil}
	t := &graph.Topology{
		Nodes: []graph.GraphNode{{ID: evil, Ref: ref, Kind: "policy", Labels: map[string]string{evil: evil}},
			{ID: evil + "2", Ref: ref.WithSection(evil), Kind: evil}, {ID: `\`, Ref: model.Ref{Name: `\`}}},
		Edges: []graph.GraphEdge{{From: evil, To: evil + "2", Kind: evil}, {From: `\`, To: "no such node",
			Kind: "effective", State: evil}},
	}
	t.Finish("Topology", []model.Problem{{Severity: model.Error, Message: evil}})
	return t
}

func hostileList() *effective.EffectivePolicyList {
	ref := model.Ref{Group: evil, Kind: evil, Namespace: evil, Name: evil, Section: evil}
	origin := &model.Origin{File: evil, Line: 1}
	s := view.Source{Policy: &ref, Target: &ref, Level: evil, Block: evil, Strategy: evil, Origin: origin}
	l := &effective.EffectivePolicyList{Items: []view.EffectivePolicy{{PolicyKind: evil, Target: ref,
		Paths: []view.Path{{Gateway: evil, Listener: evil}},
		Spec:  map[string]any{evil: evil}, Rules: []view.Rule{{Name: evil, Value: map[string]any{evil: []any{evil}},
			Sources: []view.Source{s}, Lost: []view.Loss{{Source: s, Value: evil, Reason: evil, Message: evil}}}},
		Policies: []view.PolicyUse{{Policy: &ref, Target: &ref, Level: evil, Role: evil}}, Lost: []view.RuleLoss{
			{Rule: evil, Loss: view.Loss{Source: s, Value: evil, Reason: evil, Message: evil}}}}}}
	l.Finish("EffectivePolicyList", []model.Problem{{Severity: model.Error, Ref: &ref, Origin: origin,
		Message: evil, Hint: evil}})
	return l
}

func TestNothingHostileIsWritten(t *testing.T) {
	for _, v := range []View{hostileGraph(), hostileList()} {
		for _, format := range supportedFormats(v) {
			if format == string(SVG) || format == string(PNG) {
				continue // drawn of DOT
			}
			out := written(t, v, Options{Format: Format(format), Table: view.TableOptions{Target: evil}})
			if strings.ContainsFunc(out, func(r rune) bool { return escape.IsUnsafe(r) && r != '\n' }) {
				t.Errorf("%T as %s holds a hostile character: %q", v, format, out)
			}
			if !utf8.ValidString(out) {
				t.Errorf("%T as %s is no UTF-8", v, format)
			}
		}
	}
	var out strings.Builder
	if err := WriteProblems(&out, hostileList().Problems, ProblemOptions{}); err != nil {
		t.Fatal(err)
	}
	if lines := strings.Split(strings.TrimSpace(out.String()), "\n"); len(lines) != 2 ||
		strings.ContainsFunc(strings.Join(lines, ""), escape.IsUnsafe) {
		t.Errorf("got %q", lines)
	}
}

// JSON and YAML escape hostile characters, but the value that is read back is the true one.
func TestValuesSurviveJSONAndYAML(t *testing.T) {
	values := []string{evil, "", " ", "yes", "No", "on", "y", "null", "~", "0x1f", "0777", "1e3", "12:30:45", "1_000",
		".5", ".inf", "2024-01-01", "<<", "=",
		"- a", "a: b", "#c", "&x", "*x", "!x", "%x", "@x", "`x", "a #b", "\n", "a\n", "a\n\n", " a\nb", "a\n b\n",
		"\ta", "a\tb\nc", "trailing ", "trailing \nx", "é\u0301", "\u0085", "\u2028", "{}", "[]", "|", ">", "?", "-",
		"---", "...\n"}
	var l effective.EffectivePolicyList
	for i, s := range values {
		l.Items = append(l.Items, view.EffectivePolicy{ID: fmt.Sprint(i), Spec: map[string]any{s: s,
			"list": []any{s, int64(1) << 60, 0.1, 1e21, true, nil}}})
	}
	type spec struct {
		Items []struct {
			Spec map[string]any `json:"spec" yaml:"spec"`
		} `json:"items" yaml:"items"`
	}
	var fromJSON, fromYAML spec
	if err := json.Unmarshal([]byte(written(t, &l, Options{Format: JSON})), &fromJSON); err != nil {
		t.Fatal(err)
	}
	text := written(t, &l, Options{Format: YAML})
	if err := yaml.Unmarshal([]byte(text), &fromYAML); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	for i, s := range values {
		for _, got := range []map[string]any{fromJSON.Items[i].Spec, fromYAML.Items[i].Spec} {
			if got[s] != s || got["list"].([]any)[0] != s {
				t.Errorf("%q came back as %q", s, got)
			}
		}
	}
	for _, word := range []string{`"yes": "yes"`, `"No": "No"`, `"on": "on"`, `"y": "y"`, `"12:30:45": "12:30:45"`} {
		if !strings.Contains(text, word) {
			t.Errorf("YAML does not quote %s, which older readers take for something else", word)
		}
	}
}

func FuzzEscape(f *testing.F) {
	f.Add(evil)
	f.Fuzz(func(t *testing.T, s string) {
		out := escape.Escape(s)
		if strings.ContainsFunc(out, escape.IsUnsafe) || !utf8.ValidString(out) {
			t.Errorf("%q became %q", s, out)
		}
		if escape.Escape(out) != out {
			t.Errorf("%q is escaped twice", s)
		}
	})
}

// Whatever a key or a text contains, YAML reads it back as it was; encoding/json has replaced what
// is no UTF-8.
func FuzzYAML(f *testing.F) {
	for _, s := range []string{evil, "a\n  b\n", "yes", "10s", "0xff", "# x", "a: b", "- x",
		strings.Repeat("long ", 300), strings.Repeat("long", 300), "\uffff\ufffe\ufdd0\U0001ffff"} {
		f.Add(s, s)
	}
	f.Fuzz(func(t *testing.T, key, text string) {
		key, text = strings.ToValidUTF8(key, "?"), strings.ToValidUTF8(text, "?")
		out, err := appendYAML(nil, map[string]any{"deep": []any{map[string]any{key: text}, text}})
		if err != nil {
			t.Fatal(err)
		}
		var back struct {
			Deep []any `yaml:"deep"`
		}
		if err := yaml.Unmarshal(out, &back); err != nil {
			t.Fatalf("%v in\n%s", err, out)
		}
		m, _ := back.Deep[0].(map[string]any)
		if got, known := m[key]; !known || got != text || back.Deep[1] != text {
			t.Errorf("%q: %q came back as %q from\n%s", key, text, back.Deep, out)
		}
	})
}
