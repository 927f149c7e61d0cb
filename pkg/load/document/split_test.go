package document

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// readAs is what documents hold that are cut into pieces one way or the other.
func readAs(t *testing.T, cut func(File, []byte) []Raw, text string) []string {
	t.Helper()
	outcomes, err := Decode(context.Background(), cut(File{Name: "a.yaml", Named: true}, []byte(text)), DefaultLimits())
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, o := range outcomes {
		for _, object := range o.Objects {
			out = append(out, fmt.Sprint(object.Ref, object.Origin, object.Body.Value()))
		}
		for _, f := range o.Problems {
			out = append(out, fmt.Sprint(f.problem.Code, *f.problem.Origin, f.problem.Message))
		}
	}
	slices.Sort(out)
	return out
}

// FuzzJoined: small documents that are parsed together mean what they mean one by one, on the same
// lines.
func FuzzJoined(f *testing.F) {
	const thing = `{"apiVersion": "v1", "kind": "A", "metadata": {"name": "a"}, "spec": {"b": [1, 1.0, 1e3, -0, "x: y", true, null, "on"]}}`
	for _, seed := range []string{thing, thing + "\n---\n" + thing, "{a}\n---\n" + thing + "\n---\n[b, c]\n",
		"---\n{\"a\": \"\\u00e9\"}\n---\n{\"a\":\t1}\n---\na: 1\n",
		"{}\n---\n{\"y\": 1}\n---\n{\"on\": 1, \"a\": 2, \"a\": 3}\n",
		"---\n- a\n---\n{\"a\": 12345678901234567890, \"b\": 1E400, \"c\": 0x1F}\n", "{\"a\": 1}{\"b\": 2}\n[3]\n",
		"{\"a\": \"b\n  c\"}\n---\n{\"a\": \"#\"}\n# c\n---\n{ \"a\" : 'x' }\n"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if strings.Contains(text, "\x00") || len(text) > 1<<12 {
			return
		}
		if one, joined := readAs(t, Split, text), readAs(t, SplitBatched, text); !reflect.DeepEqual(one, joined) {
			t.Errorf("%q is read as\n%s\ntogether as\n%s", text, strings.Join(one, "\n"), strings.Join(joined, "\n"))
		}
	})
}

// TestManyValues: JSON values that follow each other mean the same in pieces, and stand on the same
// lines.
func TestManyValues(t *testing.T) {
	var text strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&text,
			"{\"apiVersion\": \"v1\", \"kind\": \"A\",\n \"metadata\": {\"name\": \"a%d\", \"annotations\": {\"b\": \"}\\n{\"}}}\n", i)
	}
	for _, end := range []string{"", "{\"kind\": \"B\"", "\n# c\n", "- a: b\n"} {
		one, pieces := readAs(t, Split, text.String()+end), readAs(t, SplitBatched, text.String()+end)
		if !reflect.DeepEqual(one, pieces) || len(one) < 2000 {
			t.Errorf("with %q at the end: %d and %d objects and problems: %.300v, %.300v", end, len(one), len(pieces),
				one[max(0, len(one)-2):], pieces[max(0, len(pieces)-2):])
		}
	}
}
