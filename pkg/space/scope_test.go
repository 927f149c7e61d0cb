package space

import (
	"math/rand/v2"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

func (d dice) scope() Scope {
	s := Scope{Destination: AnyDestination()}
	if d.chance(50) {
		s.Hosts = []string{one(d, "a.b.com", "*.b.com", "other.org", "*.com", "*.a.b.com")}
	}
	for range d.IntN(3) {
		s.Paths = append(s.Paths, one(d, "/a", "/a/**", "/**", "/*/b", "/a*", "/a/b/**", "/s/**", "/t.S/m", "/ab"))
	}
	if d.chance(40) {
		s.Methods = []string{one(d, "GET", "DELETE"), "POST"}
	}
	if d.chance(40) {
		s.Headers = []Header{{Name: "x", Value: one(d, textValues...)}}
	} else if d.chance(40) {
		s.Headers = []Header{{Name: "y", Absent: true}}
	}
	return s
}

// asksFor is the plain reading of a scope.
func (s *Scope) asksFor(r *request.Request) bool {
	host := func(h string) bool {
		rest, wild := strings.CutPrefix(h, "*")
		return h == r.Host || wild && strings.HasSuffix(r.Host, rest)
	}
	under := func(p string) bool {
		if base, below := strings.CutSuffix(p, "/**"); below {
			return r.Path == base || strings.HasPrefix(r.Path, base+"/")
		}
		matches, _ := path.Match(p, r.Path)
		return matches
	}
	for _, h := range s.Headers {
		at := slices.IndexFunc(r.Headers, func(f request.Field) bool { return strings.EqualFold(f.Name, h.Name) })
		if h.Absent != (at < 0) || at >= 0 && r.Headers[at].Value != h.Value {
			return false
		}
	}
	return (s.Hosts == nil || slices.ContainsFunc(s.Hosts, host)) && (s.Paths == nil ||
		slices.ContainsFunc(s.Paths, under)) &&
		(s.Methods == nil || slices.Contains(s.Methods, r.Method))
}

// TestScope draws inputs and scopes: the classes have all requests that are asked about, and no
// others.
func TestScope(t *testing.T) {
	within, without := 0, 0
	for seed := range uint64(*seeds) {
		d := dice{rand.New(rand.NewPCG(seed, 26))}
		settings := d.settings()
		m := request.Competition{Matcher: request.NewMatcher(build.Graph(snapshot(d.input()), settings), settings)}
		s := d.scope()
		var all []*Class
		if err := Walk(m.Matcher, s, func(c *Class) bool { all = append(all, c); return true }); err != nil {
			t.Fatal(err)
		}
		for _, c := range all {
			if c.Unknown == "" && !s.asksFor(&c.Request) {
				t.Fatalf("seed %d: %s of class %s is not asked about: %+v", seed, c.Request.Text, c.Text(), s)
			}
		}
		for _, e := range m.Entries(AnyDestination()) {
			calls := len(m.Competitors(e, AnyDestination(), "b.com", request.GRPC)) > 0
			for range 12 {
				r := d.ask(e)
				if r.Protocol == request.GRPC && (!calls || r.Host != "b.com") {
					continue // HTTPRoutes may decide
				}
				in := slices.DeleteFunc(slices.Clone(all), func(c *Class) bool {
					return c.Entry != e ||
						!c.Contains(&r)
				})
				if !s.asksFor(&r) {
					without++
					if len(in) > 0 && in[0].Unknown == "" {
						t.Fatalf("seed %d: %s is in class %s: %+v", seed, r.Path, in[0].Text(), s)
					}
					continue
				}
				within++
				answer, err := m.FindRule(r, request.Destination{Gateway: e.Gateway})
				if err != nil {
					t.Fatal(err)
				}
				if len(in) == 0 || in[0].Unknown == "" && !same(answer, in[0].Answer) {
					t.Fatalf("seed %d: %s in %d classes: %+v", seed, answer.Request.Text, len(in), s)
				}
			}
		}
	}
	if t.Logf("%d requests asked about, %d not", within, without); within < *seeds || without < *seeds {
		t.Error("the draw misses what it is for")
	}
}
