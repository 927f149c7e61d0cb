package behavior

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"mvdan.cc/sh/v3/shell"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

var behaviorSeeds = flag.Int("behavior-seeds", 20, "how many inputs are drawn")

func behaviorOf(t *testing.T, before, after view.Input) *BehaviorDiff {
	t.Helper()
	out, err := Compare(before, after, Query{})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBehaviorOfRefactorings: what is renamed, reordered, split or moved without effect changes
// nothing for any request.
func TestBehaviorOfRefactorings(t *testing.T) {
	done := map[string]int{}
	for seed := range uint64(*behaviorSeeds) {
		d := viewtest.Generator{Rand: rand.New(rand.NewPCG(seed, 4))}
		docs := viewtest.Copy(d.Input())
		before := viewtest.Resolve(t, docs)
		for _, r := range refactorings {
			next := viewtest.Copy(docs)
			if next = r.apply(d, next); next == nil {
				continue
			}
			done[r.name]++
			out := behaviorOf(t, before, viewtest.Resolve(t, next))
			if out.HasChanges() || len(out.Undecided) > 0 || out.Classes == 0 {
				t.Fatalf("seed %d: %s: %s\n%+v\n%+v", seed, r.name, out.Headline(), out.Items, out.Undecided)
			}
		}
	}
	for _, r := range refactorings {
		if done[r.name] < *behaviorSeeds/5 {
			t.Errorf("%s was done only %d times", r.name, done[r.name])
		}
	}
}

type edit struct {
	name  string
	apply func(viewtest.Generator, []viewtest.Doc) []viewtest.Doc // nil: there is nothing to change so
}

var refactorings = []edit{
	{"rename", func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
		for _, o := range docs {
			if o["kind"] == "HTTPRoute" || o["kind"] == "Cache" {
				o["metadata"].(viewtest.Doc)["name"] = "q" + viewtest.Metadata(o, "name")
			}
			for _, rule := range viewtest.SpecList(o, "rules") {
				rule.(viewtest.Doc)["name"] = "q-" + rule.(viewtest.Doc)["name"].(string)
			}
			for _, ref := range viewtest.SpecList(o, "targetRefs") {
				ref := ref.(viewtest.Doc)
				if ref["kind"] != "HTTPRoute" {
					continue
				}
				ref["name"] = "q" + ref["name"].(string)
				if section, is := ref["sectionName"].(string); is {
					ref["sectionName"] = "q-" + section
				}
			}
		}
		return docs
	}},
	{"reorder", func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
		d.Shuffle(len(docs), func(i, j int) { docs[i], docs[j] = docs[j], docs[i] })
		for _, o := range docs {
			for _, field := range []string{"rules", "listeners", "parentRefs"} {
				l := viewtest.SpecList(o, field)
				d.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
			}
			for _, rule := range viewtest.SpecList(o, "rules") {
				for _, field := range []string{"matches", "backendRefs"} {
					l, _ := rule.(viewtest.Doc)[field].([]any)
					d.Shuffle(len(l), func(i, j int) { l[i], l[j] = l[j], l[i] })
				}
			}
		}
		return docs
	}},
	{"split a route", func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
		for _, o := range docs {
			rules := viewtest.SpecList(o, "rules")
			if o["kind"] != "HTTPRoute" || len(rules) < 2 {
				continue
			}
			half := viewtest.Copy([]viewtest.Doc{o})[0]
			half["metadata"].(viewtest.Doc)["name"] = viewtest.Metadata(o, "name") + "-b"
			o["spec"].(viewtest.Doc)["rules"], half["spec"].(viewtest.Doc)["rules"] = rules[:1], viewtest.SpecList(
				half, "rules")[1:]
			docs = append(docs, half)
			for _, p := range viewtest.OfKinds(docs, "Cache") {
				twin := twinOf(p, o, half)
				switch section, _ := targetOf(p)["sectionName"].(string); {
				case twin == nil:
				case section == "":
					docs = append(docs, twin)
				case section != rules[0].(viewtest.Doc)["name"]:
					targetOf(p)["name"] = viewtest.Metadata(half, "name")
				}
			}
			return docs
		}
		return nil
	}},
	{"move a match to a rule that does the same", func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
		for _, o := range docs {
			for i, rule := range viewtest.SpecList(o, "rules") {
				matches, _ := rule.(viewtest.Doc)["matches"].([]any)
				if o["kind"] != "HTTPRoute" || len(matches) < 2 {
					continue
				}
				twin := viewtest.Copy([]viewtest.Doc{rule.(viewtest.Doc)})[0]
				rule.(viewtest.Doc)["matches"], twin["matches"], twin["name"] = matches[:1], twin["matches"].([]any)[1:], "moved"
				o["spec"].(viewtest.Doc)["rules"] = slices.Insert(viewtest.SpecList(o, "rules"), i+1, any(twin))
				for _, p := range viewtest.OfKinds(docs, "Cache") {
					if copy := twinOf(p, o, o); copy != nil &&
						targetOf(p)["sectionName"] == rule.(viewtest.Doc)["name"] {
						targetOf(copy)["sectionName"] = "moved"
						docs = append(docs, copy)
					}
				}
				return docs
			}
		}
		return nil
	}},
	{"write weights otherwise", func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
		for _, o := range docs {
			for _, rule := range viewtest.SpecList(o, "rules") {
				for _, b := range rule.(viewtest.Doc)["backendRefs"].([]any) {
					b.(viewtest.Doc)["weight"] = b.(viewtest.Doc)["weight"].(float64) * 7
				}
			}
		}
		return docs
	}},
}

func targetOf(p viewtest.Doc) viewtest.Doc {
	return viewtest.SpecList(p, "targetRefs")[0].(viewtest.Doc)
}

// twinOf is a copy of a policy of a route for another route; nil if it is none of the route's.
func twinOf(p, of, to viewtest.Doc) viewtest.Doc {
	if targetOf(p)["kind"] != "HTTPRoute" || targetOf(p)["name"] != viewtest.Metadata(of, "name") ||
		viewtest.Metadata(p, "namespace") != viewtest.Metadata(of, "namespace") {
		return nil
	}
	out := viewtest.Copy([]viewtest.Doc{p})[0]
	out["metadata"].(viewtest.Doc)["name"] = viewtest.Metadata(p, "name") + "-b"
	targetOf(out)["name"] = viewtest.Metadata(to, "name")
	return out
}

// TestBehaviorOfMutations: every change that the comparison tells is one by the answers to its
// request alone; where it tells none, requests that are drawn get the same.
func TestBehaviorOfMutations(t *testing.T) {
	done, told := map[string]int{}, map[string]int{}
	for seed := range uint64(*behaviorSeeds) {
		d := viewtest.Generator{Rand: rand.New(rand.NewPCG(seed, 5))}
		docs := viewtest.Copy(d.Input())
		before := viewtest.Resolve(t, docs)
		for _, m := range mutations {
			next := m.apply(d, viewtest.Copy(docs))
			if next == nil {
				continue
			}
			done[m.name]++
			after := viewtest.Resolve(t, next)
			out := behaviorOf(t, before, after)
			if len(out.Undecided) > 0 {
				t.Fatalf("seed %d: %s: %+v", seed, m.name, out.Undecided)
			}
			if out.HasChanges() {
				told[m.name]++
			}
			for i := range out.Items {
				confirm(t, fmt.Sprintf("seed %d: %s", seed, m.name), before, after, &out.Items[i])
			}
			unchanged(t, d, fmt.Sprintf("seed %d: %s", seed, m.name), before, after, out)
		}
	}
	for _, m := range mutations {
		if done[m.name] < *behaviorSeeds/8 || told[m.name] == 0 {
			t.Errorf("%s was done %d times, and seen %d times", m.name, done[m.name], told[m.name])
		}
	}
	t.Log(done, told)
}

// confirm asks both sides about the request of a change.
func confirm(t *testing.T, name string, before, after view.Input, c *BehaviorChange) {
	t.Helper()
	var got [2]string
	for i, in := range []view.Input{before, after} {
		told := []*BehaviorSide{&c.Before, &c.After}[i]
		at := c.Before.Gateway
		if at == "" {
			at = c.After.Gateway
		}
		a := asks(t, in, c.Command, at)
		if a == nil { // no listener of the Gateway is left
			got[i] = "nothing"
			continue
		}
		if string(a.Outcome) != told.Outcome || a.Status != told.Status {
			t.Fatalf("%s: %s is told to be %s %d, and is %s %d", name, c.Command, told.Outcome, told.Status,
				a.Outcome, a.Status)
		}
		got[i] = facts(in.Resolution, a)
	}
	if got[0] == got[1] {
		t.Fatalf("%s: %s gets the same on both sides: %s\n%+v", name, c.Command, got[0], c)
	}
}

// asks answers a curl command at a Gateway.
func asks(t *testing.T, in view.Input, command, gateway string) *request.Answer {
	t.Helper()
	words, err := shell.Fields(command, nil)
	if err != nil {
		t.Fatal(err)
	}
	method, o := "GET", request.Options{}
	for i := 1; i < len(words)-1; i++ {
		switch words[i] {
		case "-X":
			method = words[i+1]
		case "-H":
			o.Headers = append(o.Headers, words[i+1])
		}
	}
	r, err := request.New(method, words[len(words)-1], o)
	if err != nil {
		t.Fatal(command, err)
	}
	return askAt(t, in, r, gateway)
}

func askAt(t *testing.T, in view.Input, r request.Request, gateway string) *request.Answer {
	t.Helper()
	for _, e := range (request.Competition{Matcher: in.Matcher}).Entries(request.Destination{Gateway: topology.None}) {
		if in.Resolution.Node(e.Gateway).Ref.FullName() == gateway {
			a, err := in.Matcher.Find(r, request.Destination{Gateway: e.Gateway})
			if err != nil {
				t.Fatal(err)
			}
			return a
		}
	}
	return nil
}

// unchanged draws requests: those that get something else are in a class of a change.
func unchanged(t *testing.T, d viewtest.Generator, name string, before, after view.Input, out *BehaviorDiff) {
	t.Helper()
	for range 12 {
		url := "http://" + viewtest.Pick(d, "a.b.com", "x.b.com", "z.com", "b.com") + viewtest.Pick(d, "/", "/a",
			"/a/b", "/a/x", "/c", "/d") + viewtest.Pick(d, "", "?q=1", "?q=2")
		o := request.Options{}
		if d.Chance(40) {
			o.Headers = []string{"x: " + viewtest.Pick(d, "1", "2", "3")}
		}
		r, err := request.New(viewtest.Pick(d, "GET", "POST", "PUT"), url, o)
		if err != nil {
			t.Fatal(err)
		}
		gateway := viewtest.Pick(d, "infra/gw0", "infra/gw1")
		a, b := askAt(t, before, r, gateway), askAt(t, after, r, gateway)
		if (a == nil) != (b == nil) || a != nil && facts(before.Resolution, a) != facts(after.Resolution, b) {
			if !out.HasChanges() {
				t.Fatalf("%s: %s at %s is not the same on both sides, and nothing is told", name, r.Text, gateway)
			}
		}
	}
}

// TestReadAccessLog: the forms of lines, and what is none.
func TestReadAccessLog(t *testing.T) {
	for line, want := range map[string]string{
		`[2024-01-01T00:00:00.000Z] "GET /a?b=1 HTTP/1.1" 200 - 0 10 1 1 "-" "curl \"8\"" "id" "shop.example.com" "10.0.0.1:80"`:                                     "GET shop.example.com /a?b=1",
		`[2024-01-01T00:00:00.000Z] "POST /a HTTP/2" 200 - via_upstream - "-" 0 10 1 1 "-" "ua" "id" "shop.example.com:8080" "10.0.0.1:80" outbound|80||a - 1 2 - d`: "POST shop.example.com:8080 /a",
		`[2024-01-01T00:00:00.000Z] "GET /a HTTP/1.1" 200`:                                            "GET  /a",
		`{"method":"GET","path":"/new","x-envoy-original-path":"/a",":authority":"Shop.example.com"}`: "GET shop.example.com /a",
		`{"method":"GET","path":"/a","authority":"-"}`:                                                "GET  /a",
		`1.2.3.4 - bob [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 23 "http://x" "ua"`:         "GET  /a",
		`shop.example.com:80 1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET /a HTTP/1.0" 200 23`:       "GET shop.example.com:80 /a",
		`1.2.3.4 - - [10/Oct/2000:13:55:36 -0700] "GET http://shop.example.com/a HTTP/1.1" 200 23`:    "GET shop.example.com /a",
		`{"level":"info"}`: "", `{"broken`: "", `words`: "", `x "GET" y`: "",
		`1.2.3.4 - - [t] "\x16\x03\x01" 400 1`: "", `a b "GET /a HTTP/1.1"`: "",
	} {
		l, err := ReadAccessLog(strings.NewReader("\n" + line + "\n\n" + line))
		if err != nil || l.lines != 2 {
			t.Fatal(err, l.lines)
		}
		got := ""
		if len(l.requests) > 0 {
			got = l.requests[0].method + " " + l.requests[0].host + " " + l.requests[0].target
		}
		if got != want || (l.unread == 2) != (want == "") {
			t.Errorf("%s\n got %q, %d of 2 lines not read\nwant %q", line, got, l.unread, want)
		}
	}
}
