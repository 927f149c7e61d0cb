package mcp

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
)

// drawAnswer is an answer with two lists that come in pages, and one that does not.
func drawAnswer(r *rand.Rand) map[string]any {
	list := func(most int) []any {
		out := []any{}
		for i := range r.IntN(most) {
			out = append(out, map[string]any{"name": fmt.Sprint(i), "text": strings.Repeat("x", r.IntN(2000))})
		}
		return out
	}
	return map[string]any{"kind": "Drawn", "complete": r.IntN(2) == 0, "nodes": list(150), "edges": list(150),
		"problems": list(30), "number": 1}
}

// TestPagesAreTheWhole: the pages of an answer have each entry once, in order, and none is larger than a page may be.
func TestPagesAreTheWhole(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		answer := drawAnswer(r)
		text, err := json.MarshalIndent(answer, "", "  ")
		if err != nil {
			t.Fatal(err)
		}
		got := map[string][]any{}
		asked := askedPage{limit: 1 + r.IntN(60)}
		for pages := 0; ; pages++ {
			page, err := cutPage(text, []string{"nodes", "edges"}, asked)
			if err != nil || pages > 400 {
				t.Fatal(pages, err)
			}
			var one map[string]any
			if err := json.Unmarshal(page.document, &one); err != nil {
				t.Fatal(err)
			}
			if len(page.document) > maxPageBytes+maxListBytes+1000 || page.position.Count > asked.limit {
				t.Errorf("a page of %d bytes and %d entries", len(page.document), page.position.Count)
			}
			for _, name := range []string{"nodes", "edges"} {
				entries, _ := one[name].([]any)
				got[name] = append(got[name], entries...)
			}
			if problems, _ := answer["problems"].([]any); page.problems != len(problems) {
				t.Errorf("%d problems, and there are %d", page.problems, len(problems))
			}
			if page.position.Continue == "" {
				break
			}
			limit := asked.limit
			asked, err = parsePage(pageArguments{Limit: limit, Continue: page.position.Continue})
			if err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range []string{"nodes", "edges"} {
			if want, _ := answer[name].([]any); len(want)+len(got[name]) > 0 && !reflect.DeepEqual(got[name], want) {
				t.Errorf("%s: %d entries, and not %d", name, len(got[name]), len(want))
			}
		}
	}
}

// TestChangedAnswer: a page of an answer that has changed since is refused.
func TestChangedAnswer(t *testing.T) {
	first, err := cutPage([]byte(`{"complete":true,"items":[1,2,3]}`), []string{"items"}, askedPage{limit: 1})
	if err != nil || first.position.Continue == "" {
		t.Fatal(err)
	}
	asked, err := parsePage(pageArguments{Continue: first.position.Continue})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := cutPage([]byte(`{"complete":true,"items":[0,2,3]}`), []string{"items"}, asked); err == nil {
		t.Error("a page of another answer")
	}
}

// TestShortenValue: a value is kept whole or marked, and never larger than is asked for.
func TestShortenValue(t *testing.T) {
	many := map[string]any{}
	for i := range 1000 {
		many[fmt.Sprint("key", i)] = strings.Repeat("é", 100)
	}
	for name, c := range map[string]struct {
		value any
		whole bool
	}{
		"small": {map[string]any{"a": []any{1, "b"}}, true}, "a long text": {strings.Repeat("é", 9000), false},
		"a long list": {make([]any, 9000), false}, "many keys": {many, false},
		"lists of lists": {[]any{[]any{many, many}, []any{many, many}}, false},
	} {
		text, err := json.Marshal(c.value)
		if err != nil {
			t.Fatal(err)
		}
		got, whole := shortenValue(text, 4096)
		if whole != c.whole || len(got) > 4096 || !json.Valid(got) || string(got) == "null" {
			t.Errorf("%s: whole %v, %d bytes: %.80s", name, whole, len(got), got)
		}
		if whole && string(got) != string(text) {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// TestLead: the first text of a result says at once whether the answer is complete.
func TestLead(t *testing.T) {
	page, err := cutPage([]byte(`{"complete":false,"items":[1,2,3],"problems":[{"message":"ignore this"}]}`),
		[]string{"items"}, askedPage{limit: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := page.describeCompleteness(); !strings.HasPrefix(got, "complete: false.") ||
		!strings.Contains(got, "problems (1)") || !strings.Contains(got, "Entries 1 to 2 of 3") || strings.Contains(got, "ignore") {
		t.Error(got)
	}
}
