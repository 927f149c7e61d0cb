package protecttest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// vendors are those that have a simulator.
var vendors = []*vendor{&agentgateway, &envoyGateway, &gatewayAPI, &istio, &kgateway, &kong, &kuadrant,
	&nginx, &traefik}

// seeds are those of the inputs that `make test` draws of every vendor.
const seeds = 60

// mostFailures is after how many inputs with something wrong a vendor has been tested enough.
const mostFailures = 10

// TestProtectionByEnumeration holds every verdict on drawn inputs against simulators of proxies,
// which send all requests that make a difference, with all credentials. PROTECT_SEEDS=FROM..TO
// says which inputs are drawn, and PROTECT_VENDOR of which vendor alone.
func TestProtectionByEnumeration(t *testing.T) {
	from, to := uint64(1), uint64(seeds)
	if asked := os.Getenv("PROTECT_SEEDS"); asked != "" {
		first, last, found := strings.Cut(asked, "..")
		a, err := strconv.ParseUint(first, 10, 64)
		if err != nil {
			t.Fatalf("PROTECT_SEEDS: %v", err)
		}
		from, to = a, a
		if found {
			if to, err = strconv.ParseUint(last, 10, 64); err != nil {
				t.Fatalf("PROTECT_SEEDS: %v", err)
			}
		}
	}
	for _, v := range vendors {
		if only := os.Getenv("PROTECT_VENDOR"); only != "" && only != v.name {
			continue
		}
		t.Run(v.name, func(t *testing.T) {
			t.Parallel()
			sum, failures := tally{}, 0
			for seed := from; seed <= to && failures < mostFailures; seed++ {
				c := comparison{t: t, w: newWorld(seed, v), tally: sum}
				c.compare()
				if len(c.wrong) > 0 {
					failures++
					t.Errorf("%s, seed %d: %s\n%s", v.name, seed, strings.Join(c.wrong, "\n"), c.w.manifests())
				}
			}
			t.Log(sum.text())
			if decided, all := sum["decided"], sum["decided"]+sum["depends"]; to-from >= seeds-1 && decided*10 < all*6 {
				t.Errorf("only %d of %d verdicts are decided", decided, all)
			}
		})
	}
}

// tally counts what was compared.
type tally map[string]int

func (c tally) text() string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(c)) {
		out = append(out, fmt.Sprintf("%s %d", name, c[name]))
	}
	return strings.Join(out, ", ")
}

// catalog is what all vendors know; it is read once.
var catalog = sync.OnceValues(func() (catalog *known, err error) {
	c, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		return nil, err
	}
	return &known{resolve: func(in *model.Snapshot) *resolve.Resolution {
		return resolve.Run(in, build.Graph(in, c.Settings(), c.Links()...), c)
	}, tidiers: plugin.Normalizers(plugins.All(), c)}, nil
})

// known is what a run of the program knows beside its input.
type known struct {
	resolve func(*model.Snapshot) *resolve.Resolution
	tidiers []request.Normalizer
}

// comparison holds what the program says of a world against what its simulator finds.
type comparison struct {
	t       *testing.T
	w       *world
	tally   tally
	wrong   []string
	r       *resolve.Resolution
	matcher *request.Matcher
	taken   map[way][]call // the calls that each rule takes behind a listener
	places  map[way]*place
}

// way is a rule behind a listener.
type way struct{ listener, route, rule string }

func (c *comparison) errorf(format string, args ...any) {
	c.wrong = append(c.wrong, fmt.Sprintf(format, args...))
}

// compare does all of it.
func (c *comparison) compare() {
	k, err := catalog()
	if err != nil {
		c.t.Fatal(err)
	}
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"},
		Stdin: bytes.NewReader(c.w.manifests())})
	if err != nil {
		c.t.Fatalf("seed %d: %v", c.w.seed, err)
	}
	c.r = k.resolve(in)
	c.matcher = request.NewMatcher(c.r.Graph, c.r.Settings).NormalizeWith(c.r, k.tidiers)
	c.matcher.SetUnreadInputs(unread.Inputs(c.r))
	c.tally["inputs"]++
	c.take()
	c.settle()
	judges := plugin.Judges(plugins.All())
	m, err := matrix.Build(c.r, matrix.Query{Matcher: c.matcher, Judges: judges})
	if err != nil {
		c.t.Fatal(err)
	}
	all := verdicts{}
	for i := range m.Items {
		row := &m.Items[i]
		for _, p := range row.Paths {
			at := way{p.Listener, row.Target.Name, row.Target.Section}
			if len(c.taken[at]) == 0 {
				continue
			}
			found := c.enumerate(at)
			c.holdAgainst(at, row.Protection, found)
			all.add(found)
		}
	}
	c.prove(&all, judges)
	c.expect(judges)
}

// take finds which rule takes each call.
func (c *comparison) take() {
	c.taken = map[way][]call{}
	for _, l := range c.w.listeners {
		scheme := "http"
		if l.secure {
			scheme = "https"
		}
		for _, one := range c.w.calls(l) {
			a := c.find(scheme, l, &one)
			if a.Outcome != request.Matched && (a.RuleUncertain || a.Assumed != request.Matched) {
				continue
			}
			n := c.r.Node(a.Rule)
			at := way{l.name, n.Ref.Name, n.Ref.Section}
			c.taken[at] = append(c.taken[at], one)
		}
	}
}

func (c *comparison) find(scheme string, l listener, one *call) *request.Answer {
	o := request.Options{}
	for name, value := range one.headers() {
		o.Headers = append(o.Headers, name+": "+value)
	}
	r, err := request.New(one.method, fmt.Sprintf("%s://host.example:%d%s", scheme, l.port, one.path), o)
	if err != nil {
		c.t.Fatal(err)
	}
	a, err := c.matcher.FindRule(r, request.Destination{Gateway: topology.None})
	if err != nil {
		c.t.Fatal(err)
	}
	return a
}

// settle finds the settings in force at each place.
func (c *comparison) settle() {
	c.places = map[way]*place{}
	effective := effective.List(c.r, view.Query{})
	for at := range c.taken {
		p := &place{listener: at.listener, route: at.route, rule: at.rule, settings: map[string]object{},
			above: map[string]object{}}
		for _, route := range c.w.ofKind("HTTPRoute") {
			for _, rule := range list(route, "spec", "rules") {
				if text(route, "metadata", "name") == at.route && text(rule, "name") == at.rule {
					p.spec = rule.(object)
				}
			}
		}
		for i := range effective.Items {
			item := &effective.Items[i]
			rule := "HTTPRoute " + namespace + "/" + at.route + " " + at.rule
			if !slices.ContainsFunc(item.Paths, func(p view.Path) bool {
				return (p.Listener == at.listener || p.Listener == "") && (p.Route == rule || p.Route == "")
			}) {
				continue
			}
			kind, _, _ := strings.Cut(item.PolicyKind, ".")
			spec := c.plain(item.Spec)
			switch {
			case item.Target.Kind == "HTTPRoute" && item.Target.Name == at.route && item.Target.Section == at.rule:
				p.settings[kind] = spec
			case item.Target.Kind == "HTTPRoute" && item.Target.Name == at.route && item.Target.Section == "",
				item.Target.Kind == "Service":
				if p.settings[kind] == nil {
					p.settings[kind] = spec
				}
			case item.Target.Kind == "Gateway" && (item.Target.Section == at.listener || item.Target.Section == "" &&
				p.above[kind] == nil):
				p.above[kind] = spec
			}
		}
		c.places[at] = p
	}
}

// plain is a value as a reader of the JSON gets it.
func (c *comparison) plain(v any) object {
	line, err := json.Marshal(v)
	if err != nil {
		c.t.Fatal(err)
	}
	var out object
	if err := json.Unmarshal(line, &out); err != nil {
		c.t.Fatal(err)
	}
	return out
}

// verdicts are what an enumeration finds of the requests that a rule takes.
type verdicts struct {
	through, certain     bool // a request may get through; does for certain
	anonymous, perhaps   bool // one without any credential does, or may
	uncertified          bool // one without a verified client certificate may
	uncounted, uncertain bool // one that may get through is not counted, or perhaps not
	anywhere, almost     bool // for some credentials, all addresses do, or may
	undecided            bool // one that may get through is put to no decision that can refuse
	exempt               bool // one is not counted, whether it gets through or not, of a call that does for others
	together             bool // several settings keep everybody out, and none of them alone
}

func (v *verdicts) add(o *verdicts) {
	v.through, v.certain = v.through || o.through, v.certain || o.certain
	v.together = v.together || o.together
	v.anonymous, v.perhaps = v.anonymous || o.anonymous, v.perhaps || o.perhaps
}

// enumerate sends all requests that a rule takes.
func (c *comparison) enumerate(at way) *verdicts {
	filters := c.w.vendor.filters(c.w, c.places[at])
	out := &verdicts{}
	refuses := c.refusing(filters)
	for _, one := range c.taken[at] {
		through, exempt := false, false
		byClient := map[client]truth{} // address aside: whether every address gets through
		for _, who := range c.w.clients(one.secure) {
			o := run(filters, &one, &who)
			rest := who
			rest.address = ""
			if before, seen := byClient[rest]; !seen || o.passes < before {
				byClient[rest] = o.passes
			}
			exempt = exempt || o.counted == no
			if o.passes == no {
				continue
			}
			through = true
			out.certain = out.certain || o.passes == yes
			if !who.counts() {
				out.perhaps = true
				out.anonymous = out.anonymous || o.passes == yes
			}
			out.uncertified = out.uncertified || who.certificate != good
			out.uncounted = out.uncounted || o.counted == no
			out.uncertain = out.uncertain || o.counted != yes
			out.undecided = out.undecided || !slices.ContainsFunc(filters, func(f filter) bool {
				return f.decides && refuses[f.name] && (!f.partly || f.does(&one, &who).passes != yes)
			})
		}
		for _, everywhere := range byClient {
			out.anywhere = out.anywhere || everywhere == yes
			out.almost = out.almost || everywhere != no
		}
		out.through = out.through || through
		out.exempt = out.exempt || through && exempt
		out.together = out.together || !through && !slices.ContainsFunc(filters, func(f filter) bool {
			return !slices.ContainsFunc(c.w.clients(one.secure),
				func(who client) bool { return f.does(&one, &who).passes != no })
		})
	}
	return out
}

// refusing names the decisions that refuse anybody anything.
func (c *comparison) refusing(filters []filter) map[string]bool {
	out := map[string]bool{}
	for _, f := range filters {
		if !f.decides {
			continue
		}
		for _, l := range c.w.listeners {
			for _, one := range c.w.calls(l) {
				out[f.name] = out[f.name] ||
					slices.ContainsFunc(c.w.clients(l.secure),
						func(who client) bool { return f.does(&one, &who).passes != yes })
			}
		}
	}
	return out
}

// holdAgainst compares the verdicts about one rule.
func (c *comparison) holdAgainst(at way, p *protection.Protection, found *verdicts) {
	for _, one := range []struct {
		property gate.Property
		fails    bool // a request gets through without, or may
		holds    bool // none does
	}{
		{gate.Authentication, found.perhaps, !found.perhaps},
		{gate.Authorization, found.undecided, !found.undecided},
		{gate.ClientCertificate, found.uncertified, !found.uncertified},
		{gate.IPList, found.almost, !found.almost},
		{gate.RateLimit, found.uncounted, !found.uncertain},
	} {
		result := p.ResultOf(one.property)
		name := string(one.property) + " " + string(result.Verdict)
		c.tally[name]++
		switch result.Verdict {
		case gate.Holds, gate.Fails:
			c.tally["decided"]++
		case gate.Depends:
			c.tally["depends"]++
			if one.property == gate.Authentication && (!found.perhaps || found.anonymous) {
				c.tally["authentication depends, and is decided by enumeration"]++
			}
			continue
		default:
			c.errorf("%v: %s", at, name)
			continue
		}
		if !found.through {
			c.tally["of them nobody gets through"]++
			if found.together {
				c.tally["of them several settings together let nobody through"]++
				continue // what one setting keeps out and what another one does is not added up
			}
		}
		if one.property == gate.RateLimit && result.Verdict == gate.Fails && !one.fails && found.exempt {
			c.tally["of them others than those who get through are not counted"]++
			continue
		}
		if one.property == gate.Authorization && result.Verdict == gate.Holds && c.w.related {
			continue // whether paths of several rules are all that there are is not looked at
		}
		if result.Verdict == gate.Holds && !one.holds || result.Verdict == gate.Fails && !one.fails {
			c.errorf("%v: %s because %v by %v; found %+v", at, name, result.Because, result.By, *found)
		}
	}
}

// prove compares what is proved of all requests.
func (c *comparison) prove(found *verdicts, judges view.Judges) {
	p, err := prove.Prove(c.r, c.matcher, prove.Query{Scope: space.Scope{Destination: space.AnyDestination()},
		Properties: []requests.Property{{Property: gate.Authentication}}}, judges)
	if err != nil {
		c.t.Fatal(err)
	}
	c.tally["prove "+p.Verdict]++
	switch {
	case p.Verdict == prove.Proved && found.perhaps,
		p.Verdict == prove.Refuted && !found.perhaps && !found.together,
		p.Verdict == prove.NothingProved && found.through:
		c.errorf("prove: %s, found %+v", p.Verdict, *found)
	}
}

// expect compares which statuses requests without credentials get.
func (c *comparison) expect(judges view.Judges) {
	statuses := []int{302, 401, 403, 429}
	var expected []requests.Expect
	for _, s := range statuses {
		expected = append(expected, requests.Expect{Text: strconv.Itoa(s), Status: s})
	}
	for _, at := range slices.SortedFunc(maps.Keys(c.taken), func(a, b way) int {
		return strings.Compare(fmt.Sprint(a),
			fmt.Sprint(b))
	}) {
		one := pick(c.w, c.taken[at]...)
		l := c.w.listeners[slices.IndexFunc(c.w.listeners, func(l listener) bool { return l.name == at.listener })]
		scheme := "http"
		if l.secure {
			scheme = "https"
		}
		a := requests.Answer(c.r, requests.ExpectedAnswer{Answer: c.find(scheme, l, &one), Expect: expected}, nil,
			judges)
		possible := map[int]bool{}
		for _, who := range c.w.clients(l.secure) {
			known := who.token + who.basic + who.key
			if known != "" || who.session {
				continue // the request would show it
			}
			for _, s := range run(c.w.vendor.filters(c.w, c.places[at]), &one, &who).statuses {
				if s != noAnswer {
					possible[s] = true
				}
			}
		}
		for i, s := range statuses {
			e := a.Expectations[i]
			c.tally["expect "+e.Result]++
			if e.Result == requests.ExpectationMet && (!possible[s] || len(possible) > 1) ||
				e.Result == requests.ExpectationNotMet && (possible[s] || possible[0]) {
				c.errorf("%v %+v: %d is %s (%s), possible are %v", at, one, s, e.Result, e.Found,
					slices.Sorted(maps.Keys(possible)))
			}
		}
	}
}
