package request

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// ruleOf is a rule with a name, a type and a value of its path, and more of its match.
func ruleOf(name, kind, value, more string) string {
	return "{name: " + name + ", matches: [{path: {type: " + kind + ", value: '" + value + "'}" + more +
		"}], backendRefs: [{name: s, port: 80}]}"
}

// TestShadowedByOrder: the rules that get no request because of the order of a data plane.
func TestShadowedByOrder(t *testing.T) {
	const method, header, query = ", method: GET", ", headers: [{name: x, value: a}]", ", queryParams: [{name: q, value: a}]"
	before := func(p *routing.Profile) { p.Regex.Rank, p.Regex.Longer = routing.RankBeforePrefix, true }
	own := func(p *routing.Profile) {
		before(p)
		p.Regex.Tied, p.Prefix, p.Commit = routing.TiedStart, routing.OwnExact, true
	}
	after := func(p *routing.Profile) { p.Regex.Rank, p.Regex.Longer = routing.RankAfterPrefix, true }
	ignoring := func(p *routing.Profile) {
		after(p)
		p.Ignored = []routing.Ignored{routing.IgnoredMethod, routing.IgnoredQuery}
		p.Order = []routing.Criterion{routing.Headers, routing.PathType, routing.PathLength, routing.Age, routing.Name,
			routing.Rule}
	}
	scored := func(p *routing.Profile) {
		p.Order, p.SameMatch, p.Hosts = []routing.Criterion{routing.Score}, routing.SameUnknown, routing.ByScore
		p.Regex.Rank, p.Regex.Tied = routing.RankByLength, routing.TiedNowhere
	}
	regex := func(name, value, more string) string { return ruleOf(name, "RegularExpression", value, more) }
	path := func(name, value, more string) string { return ruleOf(name, "PathPrefix", value, more) }
	exactly := func(name, value string) string { return ruleOf(name, "Exact", value, "") }
	for _, c := range []struct {
		name   string
		how    func(*routing.Profile)
		routes [][]string // the rules of each route
		want   string     // the names of rules, and what is said of them
	}{
		{"a prefix below an expression", own, [][]string{{path("p", "/a/b", ""), regex("e", "/a/.*", "")}},
			"p: only requests to /a/b itself reach it: httproute/infra/r0/e takes all below"},
		{"of another route", own, [][]string{{path("p", "/a/b", "")}, {regex("e", "/a/", "")}},
			"p: only requests to /a/b itself reach it: httproute/infra/r1/e takes all below"},
		{"a prefix with a slash at its end", own, [][]string{{path("p", "/a/b/", ""), regex("e", "/a/", "")}},
			"p: no request reaches it: httproute/infra/r0/e is for all of its paths"},
		{"the prefix has a condition", own, [][]string{{path("p", "/a/b", header), regex("e", "/a/", "")}},
			"p: only requests to /a/b itself reach it"},
		{"the expression has a condition", own, [][]string{{path("p", "/a/b", ""), regex("e", "/a/", method)}}, ""},
		{"the expression is elsewhere", own, [][]string{{path("p", "/a", ""), regex("e", "/b/", "")}}, ""},
		{"the expression ends", own, [][]string{{path("p", "/a", ""), regex("e", "/a/x$", "")}}, ""},
		{"tied to both ends", before, [][]string{{path("p", "/a/b", ""), regex("e", "/a/.*", "")}},
			"p: no request reaches it: httproute/infra/r0/e is for all of its paths"},
		{"not the prefix itself", before, [][]string{{path("p", "/a", ""), regex("e", "/a/.*", "")}}, ""},
		{"one more character", before, [][]string{{path("p", "/a/b", ""), regex("e", "/(.+)", "")}},
			"p: no request reaches it"},
		{"the root and one more character", before, [][]string{{path("p", "/", ""), regex("e", "/.+", "")}}, ""},
		{"not all that begins so", before, [][]string{{path("p", "/a/b", ""), regex("e", "/a/[a-z]+", "")}}, ""},
		{"a longer expression below", before, [][]string{{regex("p", "/a/b[0-9]", ""), regex("e", "/a/.*[0-9]*.*", "")}},
			"p: no request reaches it"},
		{"exact paths come first", before, [][]string{{exactly("p", "/a/b"), regex("e", "/a/.*", "")}}, ""},
		{"an expression beside everything", after, [][]string{{regex("e", "/a[0-9]", ""), path("all", "/", "")}},
			"e: no request reaches it: httproute/infra/r0/all is for all of its paths"},
		{"behind conditions of its own", after, [][]string{{regex("e", "/a[0-9]", header), path("all", "/", "")}},
			"e: no request reaches it"},
		{"below a prefix", after, [][]string{{regex("e", "/api/v[0-9]", ""), path("api", "/api", "")}},
			"e: no request reaches it: httproute/infra/r0/api is for all of its paths"},
		{"beside a prefix", after, [][]string{{regex("e", "/apis?/v", ""), path("api", "/api", "")}}, ""},
		{"everything with a condition", after, [][]string{{regex("e", "/a[0-9]", ""), path("all", "/", method)}}, ""},
		{"rank not known", func(*routing.Profile) {}, [][]string{{regex("e", "/.*", ""), path("all", "/", "")}}, ""},
		{"methods are not looked at", ignoring, [][]string{{path("get", "/a", method), path("other", "/a", ", method: POST")}},
			"other: no request reaches it: httproute/infra/r0/get has the same matches but for methods and query " +
				"parameters, which Example does not look at, and comes first"},
		{"of two routes", ignoring, [][]string{{path("get", "/a", method)}, {path("q", "/a", query)}},
			"q: the younger of it and httproute/infra/r0/get gets no request: they have the same matches but for methods"},
		{"but headers are", ignoring, [][]string{{path("get", "/a", header), path("other", "/a", method)}}, ""},
		{"by age", before, [][]string{{path("a", "/a", "")}, {path("b", "/a", "")}},
			"b: the younger of it and httproute/infra/r0/a gets no request"},
		{"nothing by age", scored, [][]string{{path("a", "/a", "")}, {path("b", "/a", "")}}, ""},
		{"by the place of the rule", scored, [][]string{{path("a", "/a", ""), path("b", "/a", "")}},
			"b: no request reaches it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			text := plainGateway
			for i, rules := range c.routes {
				text += routeOf("HTTPRoute", "r"+string(rune('0'+i)), "hostnames: [h.example.com]\nrules: ["+
					strings.Join(rules, ", ")+"]")
			}
			p := routing.Standard()
			p.Name = "Example"
			c.how(&p)
			var got []string
			for _, found := range Lint(newWorld(t, text, nil).graph, model.NewSettings(nil), profilesOf(&p)) {
				if found.Code == model.RuleShadowed {
					got = append(got, found.Ref.Section+": "+found.Message)
				}
			}
			if c.want == "" && got != nil || c.want != "" && (len(got) != 1 || !strings.HasPrefix(got[0], c.want)) {
				t.Errorf("\n got %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestShadowedUnsorted: where groups of hostnames have no order, only what has one hostname counts.
func TestShadowedUnsorted(t *testing.T) {
	for hosts, want := range map[string]int{"[h.example.com]": 1, "['*.example.com']": 0} {
		p := routing.Standard()
		p.Regex.Rank, p.HostGroups, p.Hostname = routing.RankAfterPrefix, routing.GroupsUnsorted, routing.Effective
		text := strings.Replace(plainGateway, "{name: http,", "{name: http, hostname: h.example.com,", 1)
		text += routeOf("HTTPRoute", "a", "hostnames: [h.example.com]\nrules: ["+ruleOf("e", "RegularExpression", "/a.", "")+
			"]") + routeOf("HTTPRoute", "b", "hostnames: "+hosts+"\nrules: ["+ruleOf("all", "PathPrefix", "/", "")+"]")
		found := Lint(newWorld(t, strings.Replace(text, "  - {name: https,", "  - {name: https, hostname: x.example.org,", 1),
			nil).graph, model.NewSettings(nil), profilesOf(&p))
		found = slices.DeleteFunc(found, func(p model.Problem) bool { return p.Code != model.RuleShadowed })
		if len(found) != want {
			t.Errorf("%s: %v, want %d", hosts, found, want)
		}
	}
}
