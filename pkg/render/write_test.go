package render

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/kinds"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
)

func written(t testing.TB, v View, o Options) string {
	t.Helper()
	var out bytes.Buffer
	if err := Write(&out, v, o); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

// every view of the fixtures, and what the same types look like without an item.
func views() []View {
	return []View{effectiveFixture(), explanation(), reachFixture(), overriddenFixture(), kindList(), graphFixture(),
		&effective.EffectivePolicyList{}, &explain.Explanation{}, &reach.PolicyReach{},
		&overridden.OverriddenRuleList{}, &kinds.KindList{}, &graph.Topology{}}
}

// JSON written item by item is what encoding/json writes at once.
func TestJSONIsWhatTheStructTagsSay(t *testing.T) {
	for _, v := range views() {
		var want bytes.Buffer
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		e.SetIndent("", "  ")
		if err := e.Encode(v); err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(want.String(), `"items": null`, `"items": []`, 1)
		if got := written(t, v, Options{Format: JSON}); got != text {
			t.Errorf("%T: got\n%s\nwant\n%s", v, got, text)
		}
	}
}

func TestYAMLSaysTheSameAsJSON(t *testing.T) {
	for _, v := range views() {
		var fromJSON, fromYAML any
		if err := json.Unmarshal([]byte(written(t, v, Options{Format: JSON})), &fromJSON); err != nil {
			t.Fatal(err)
		}
		text := written(t, v, Options{Format: YAML})
		if err := yaml.Unmarshal([]byte(text), &fromYAML); err != nil {
			t.Fatalf("%v in\n%s", err, text)
		}
		again, err := json.Marshal(fromYAML)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(again, &fromYAML); err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(fromJSON, fromYAML) {
			t.Errorf("%T differs:\n%s", v, text)
		}
	}
}

// The lines are the answer, taken apart: without what each says of the answer that it is of they
// are its JSON.
func TestNDJSONIsTheAnswerInLines(t *testing.T) {
	for _, v := range views() {
		var want, got map[string]any
		if err := json.Unmarshal([]byte(written(t, v, Options{Format: JSON})), &want); err != nil {
			t.Fatal(err)
		}
		stamp := Stamp{Cluster: `a "b"`, ReadAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.FixedZone("", 3600))}
		lines := strings.Split(strings.TrimSuffix(written(t, v, Options{Format: NDJSON, Stamp: stamp}), "\n"), "\n")
		if err := json.Unmarshal([]byte(lines[0]), &got); err != nil {
			t.Fatal(err)
		}
		const at = "2026-01-02T02:04:05Z"
		unstamped(t, got, map[string]any{"cluster": stamp.Cluster, "readAt": at})
		if findItemsField(v) >= 0 {
			if _, there := got["items"]; there {
				t.Errorf("%T: the first line has items", v)
			}
			items := []any{}
			for _, line := range lines[1:] {
				var item map[string]any
				if err := json.Unmarshal([]byte(line), &item); err != nil {
					t.Fatal(err)
				}
				unstamped(t, item, map[string]any{"apiVersion": want["apiVersion"], "answer": want["kind"],
					"cluster": stamp.Cluster, "readAt": at, "complete": want["complete"]})
				items = append(items, item)
			}
			got["items"] = items
			if want["items"] == nil {
				want["items"] = []any{}
			}
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%T: got %v, want %v", v, got, want)
		}
	}
}

// unstamped takes out of a line what it says of its answer, and checks it.
func unstamped(t *testing.T, line, want map[string]any) {
	t.Helper()
	for key, value := range want {
		if line[key] != value {
			t.Errorf("%s is %v, want %v", key, line[key], value)
		}
		delete(line, key)
	}
}

// What a line says of its answer takes no name of its item's.
func TestStampsHideNothing(t *testing.T) {
	for _, v := range views() {
		field := findItemsField(v)
		if field < 0 {
			continue
		}
		item := reflect.TypeOf(v).Elem().Field(field).Type.Elem()
		for _, m := range (Stamp{Cluster: "a", ReadAt: time.Unix(1, 0)}).itemMembers(v) {
			for _, f := range reflect.VisibleFields(item) {
				if name, _, _ := strings.Cut(f.Tag.Get("json"), ","); `"`+name+`"` == m.name {
					t.Errorf("%T: items have a field %s of their own", v, name)
				}
			}
		}
	}
}

func TestFormats(t *testing.T) {
	for _, tc := range []struct {
		v    View
		want string
	}{
		{(*effective.EffectivePolicyList)(nil), "table wide grouped tree name yaml json ndjson"},
		{(*kinds.KindList)(nil), "table wide name yaml json ndjson"},
		{(*graph.Topology)(nil), "table wide name yaml json ndjson dot mermaid svg png"},
	} {
		if got := strings.Join(supportedFormats(tc.v), " "); got != tc.want {
			t.Errorf("%T: got %q, want %q", tc.v, got, tc.want)
		}
	}
}

func TestUnsupportedFormat(t *testing.T) {
	var out bytes.Buffer
	err := Write(&out, effectiveFixture(), Options{Format: DOT})
	if want := `unknown output format "dot", use one of table, wide, grouped, tree, name, yaml, json, ndjson`; fmt.Sprint(err) != want || out.Len() > 0 {
		t.Errorf("got %q and %q", err, out.String())
	}
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, io.ErrShortWrite }

func TestErrorsOfTheWriterAreReturned(t *testing.T) {
	for _, v := range []View{effectiveFixture(), graphFixture()} {
		for _, format := range supportedFormats(v) {
			if err := Write(fullDisk{}, v, Options{Format: Format(format)}); !errors.Is(err, io.ErrShortWrite) {
				t.Errorf("%T as %s: got %v", v, format, err)
			}
		}
	}
}

func TestNoTrailingSpaces(t *testing.T) {
	for _, v := range views() {
		for _, format := range []Format{Table, Wide, Tree} {
			if !slices.Contains(supportedFormats(v), string(format)) {
				continue
			}
			for _, line := range strings.Split(written(t, v, Options{Format: format}), "\n") {
				if strings.TrimRight(line, " ") != line {
					t.Errorf("%T as %s: %q", v, format, line)
				}
			}
		}
	}
}

func TestColumnsLineUpWhateverTheScript(t *testing.T) {
	table := view.Table{Blocks: []view.Block{{Columns: []view.Column{{Name: "NAME"}, {Name: "X"}},
		Rows: [][]view.Cell{{{Text: "日本"}, {Text: "a"}}, {{Text: "e\u0301te\u0301"}, {Text: "b"}},
			{{Text: "abcde"}, {Text: "c"}}, {{Text: "alone, and longer than any column"}}}}}}
	got := written(t, tableOnly(table), Options{})
	want := "NAME    X\n日本    a\ne\u0301te\u0301     b\nabcde   c\nalone, and longer than any column\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// tableOnly is a view that is nothing but a table.
type tableOnly view.Table

func (t tableOnly) Table(view.TableOptions) view.Table { return view.Table(t) }

func TestColorModes(t *testing.T) {
	for _, tc := range []struct {
		mode ColorMode
		at   Terminal
		want bool
	}{
		{Auto, Terminal{IsTerminal: true}, true},
		{"", Terminal{IsTerminal: true}, true},
		{Auto, Terminal{IsTerminal: true, NoColor: true}, false},
		{Auto, Terminal{}, false},
		{always, Terminal{NoColor: true}, true},
		{never, Terminal{IsTerminal: true}, false},
	} {
		if got := tc.mode.Enabled(tc.at); got != tc.want {
			t.Errorf("%q at %+v: got %v", tc.mode, tc.at, got)
		}
	}
	if _, err := ParseColorMode("purple"); err == nil ||
		err.Error() != `unknown color mode "purple", use one of auto, always, never` {
		t.Errorf("got %v", err)
	}
	if m, err := ParseColorMode(""); m != Auto || err != nil {
		t.Errorf("got %q, %v", m, err)
	}
}
