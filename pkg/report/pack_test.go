package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// unpack reads a pack as the front end does.
func unpack(t testing.TB, text []byte) any {
	t.Helper()
	var in struct {
		V    int
		S    []string
		K    [][]int
		N    [][]any
		Root int
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&in); err != nil {
		t.Fatalf("not JSON: %v", err)
	}
	if in.V != packVersion {
		t.Fatalf("version %d", in.V)
	}
	var made []any
	value := func(r int) any {
		if r < 0 {
			return in.S[-r-1]
		}
		return made[r] // panics where a node refers to one that comes later
	}
	number := func(v any) int {
		n, err := v.(json.Number).Int64()
		if err != nil {
			t.Fatal(err)
		}
		return int(n)
	}
	for _, node := range in.N {
		switch number(node[0]) {
		case objectNode:
			out := map[string]any{}
			keys := in.K[number(node[1])]
			if len(keys) != len(node)-2 {
				t.Fatalf("%d keys, %d values", len(keys), len(node)-2)
			}
			for i, k := range keys {
				out[in.S[k]] = value(number(node[i+2]))
			}
			made = append(made, out)
		case listNode:
			out := []any{}
			for _, r := range node[1:] {
				out = append(out, value(number(r)))
			}
			made = append(made, out)
		default:
			if text, ok := node[1].(string); ok {
				node[1] = json.Number(text)
			}
			made = append(made, node[1])
		}
	}
	return value(in.Root)
}

func packed(t testing.TB, v any) []byte {
	t.Helper()
	p := newPacker()
	root, err := p.packValue(v)
	if err != nil {
		t.Fatal(err)
	}
	text, err := p.encodeDocument(root)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// plain is v as JSON and back.
func plain(t testing.TB, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&out); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestPackOfRandomValues(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 1))
		v := randomValue(r, 6)
		text := packed(t, v)
		if got, want := unpack(t, text), plain(t, v); !reflect.DeepEqual(got, want) {
			t.Fatalf("seed %d:\n%v\nwant\n%v", seed, got, want)
		}
		if !bytes.Equal(text, packed(t, v)) {
			t.Fatalf("seed %d: packed in two ways", seed)
		}
		mustBeInert(t, text)
	}
}

func randomValue(r *rand.Rand, depth int) any {
	texts := []string{"", "a", "b", "limits.cap", "</script><script>alert(1)</script>", "<!--", "&lt;", "\u2028\u2029",
		"\x00\x1b[31m\x7f", "\u202e\U000e0041", "ä日\U0001f600",
		"\"\\\n\r\t\b\f/", "<", "null", "\xff\xfe", "__proto__", "-1"}
	n := 9
	if depth == 0 {
		n = 7
	}
	switch r.IntN(n) {
	case 0:
		return nil
	case 1:
		return r.IntN(2) == 0
	case 2:
		return r.IntN(5)
	case 3:
		return []any{int64(1<<53 - 1), int64(1 << 53), int64(-1 << 63), uint64(1<<64 - 1), 1e300, -0.5,
			123456789012345}[r.IntN(7)]
	case 4, 5, 6:
		return texts[r.IntN(len(texts))]
	case 7:
		out := []any{}
		for range r.IntN(5) {
			out = append(out, randomValue(r, depth-1))
		}
		return out
	}
	out := map[string]any{}
	for range r.IntN(5) {
		out[strings.ToValidUTF8(texts[r.IntN(len(texts))], "?")] = randomValue(r, depth-1)
	}
	return out
}

// mustBeInert fails if a text means something to a reader of HTML or to somebody's terminal.
func mustBeInert(t testing.TB, text []byte) {
	t.Helper()
	for _, c := range string(text) {
		if strings.ContainsRune("<>&\u2028\u2029\u202e\x7f\U000e0041", c) || c < ' ' {
			t.Fatalf("%q stands in the pack as it is", c)
		}
	}
}

func TestPackSharesWhatIsEqual(t *testing.T) {
	item := func(i int) any {
		return map[string]any{"target": fmt.Sprint("rule-", i),
			"spec": map[string]any{"limits": []any{"a", "b", map[string]any{"cap": strings.Repeat("x", 500)}}}}
	}
	var items []any
	for i := range 1000 {
		items = append(items, item(i))
	}
	text := packed(t, items)
	if len(text) > 50_000 {
		t.Errorf("%d bytes for 1000 items that differ in a word", len(text))
	}
	if n := bytes.Count(text, []byte("xxxxx")); n > 100 {
		t.Errorf("the long text is there %d times", n/100)
	}
}

// TestEqualStringsAreOne: the same string may come with other escapes.
func TestEqualStringsAreOne(t *testing.T) {
	p := newPacker()
	var refs []valueRef
	for _, text := range []string{`"a<b>&\u2028é"`, `"\u0061\u003cb\u003e\u0026\u2028\u00e9"`, `"a\u003Cb>&` +
		"\u2028" + `é"`} {
		r, err := p.packValue(json.RawMessage(text))
		if err != nil {
			t.Fatal(err)
		}
		refs = append(refs, r)
	}
	if refs[0] != refs[1] || refs[1] != refs[2] {
		t.Errorf("one string is %v", refs)
	}
}

func TestPackRefusesWhatIsNoJSON(t *testing.T) {
	for _, text := range []string{"", "{", `{"a"}`, `{"a":1`, `[1`, `[1 2]`, `"a`, "nul", `{"a":}`, `{a:1}`, `["\`,
		`{"a":1 "b":2}`} {
		if _, err := newPacker().packValue(json.RawMessage(text)); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

func FuzzPack(f *testing.F) {
	for _, seed := range []string{`{"a":[1,2,{"b":null}],"c":"</script>"}`, `[[],{},"",0,-1.5e9,true]`,
		`"\ud800"`, `"\u2028"`} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		var v any
		d := json.NewDecoder(strings.NewReader(text))
		d.UseNumber()
		if d.Decode(&v) != nil {
			return
		}
		out := packed(t, v)
		mustBeInert(t, out)
		if got, want := unpack(t, out), plain(t, v); !reflect.DeepEqual(got, want) {
			t.Errorf("%v, want %v", got, want)
		}
	})
}
