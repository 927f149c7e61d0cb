package request

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	yamlform "github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// describedProfiles are those of the vendors that come with the program, which this package may not
// import.
func describedProfiles(t testing.TB) []routing.Profile {
	t.Helper()
	files, err := filepath.Glob("../../plugins/*/kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var sources []yamlform.Source
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		vendor := map[string]any{}
		if err := yaml.NewDecoder(bytes.NewReader(text)).Decode(&vendor); err != nil {
			t.Fatal(err)
		}
		for key := range vendor {
			if !slices.Contains([]string{"apiVersion", "kind", "name", "controllers", "routing"}, key) {
				delete(vendor, key)
			}
		}
		if text, err = yaml.Marshal(vendor); err != nil {
			t.Fatal(err)
		}
		sources = append(sources, yamlform.Source{Name: file, Text: text})
	}
	c, err := descriptor.NewCatalog(sources, nil, nil, descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	var out []routing.Profile
	for _, p := range c.RoutingProfiles() {
		out = append(out, p.Profile)
	}
	if len(out) < 10 {
		t.Fatalf("only %d profiles in %v", len(out), files)
	}
	return append(out, routing.Standard())
}

// profile draws a profile that no vendor has.
func (d dice) profile() routing.Profile {
	p := routing.Standard()
	p.Name = "drawn"
	p.Hosts = one(d, routing.FallThrough, routing.FallThrough, routing.Shadow, routing.Shadow, routing.Join,
		routing.ByScore, routing.ByRoute)
	p.Hostname = one(d, routing.Configured, routing.Effective)
	p.Listeners.Share = one(d, routing.ShareNothing, routing.SharePlain, routing.SharePlain, routing.SharePort,
		routing.ShareGateway, routing.ShareClass)
	if p.Listeners.Share != routing.ShareNothing { // there is nothing that a hostname could be taken to
		p.Listeners.Drop = one(d, routing.DropNone, routing.DropEqual, routing.DropCovered)
		p.Listeners.InObject, p.Listeners.Secure, p.Listeners.Named = d.chance(30), d.chance(50), d.chance(30)
	}
	p.SNI = one(d, routing.SNI421, routing.SNI404, routing.SNIHost, routing.SNIUnknown)
	if p.Listeners.Share == routing.ShareGateway || p.Listeners.Share == routing.ShareClass {
		p.SNI = one(d, routing.SNIHost, routing.SNIUnknown) // whose listeners a server name leads to is not said
	}
	p.PrefixLength = one(d, routing.AsWritten, routing.Trimmed)
	p.GRPCAny, p.GRPCBare = one(d, routing.GRPCRoot, routing.GRPCLast), one(d, routing.GRPCRoot, routing.GRPCLast)
	p.GRPCPath = routing.GRPCPath{Expressions: d.chance(20), CallAsHeader: d.chance(30),
		Prefix: one(d, "", "/SERVICE", "/SERVICE/"), AnyService: one(d, "[^/]+", ".+"), AnyCall: one(d, "[^/]+", ".+")}
	p.GRPCPath.CallAsHeader = p.GRPCPath.CallAsHeader && !p.GRPCPath.Expressions
	p.Regex = routing.Regex{Rank: one(d, routing.RankUnknown, routing.RankBeforePrefix, routing.RankAfterPrefix,
		routing.RankByLength, routing.RankAsRoot), Longer: d.chance(60),
		Tied:       one(d, routing.TiedBoth, routing.TiedStart, routing.TiedNowhere, routing.TiedUnknown),
		HeaderTied: one(d, routing.TiedBoth, routing.TiedStart, routing.TiedNowhere, routing.TiedUnknown),
		Dialect:    one(d, routing.RE2, routing.Go, routing.PCRE, routing.Rust)}
	p.Prefix = one(d, routing.ByElement, routing.ByElement, routing.ByCharacters, routing.OwnExact, routing.Typeless,
		routing.PatternExact)
	p.Order = d.order(&p)
	// The best path is chosen first only where the order begins with paths that it can tell apart.
	p.Commit = p.Hosts == routing.Shadow && slices.Contains(p.Order, routing.PathText) &&
		!slices.Contains(p.Order, routing.LongestHost) && p.Order[0] == routing.PathType &&
		p.Regex.Rank != routing.RankUnknown && p.Regex.Tied != routing.TiedUnknown
	if p.Hosts == routing.ByScore || p.Commit {
		p.GRPCPath.CallAsHeader, p.GRPCPath.Expressions = false, p.Hosts == routing.ByScore
	}
	if p.Kinds = one(d, routing.KindsSeparate, routing.KindsTogether); p.Regex.Rank == routing.RankUnknown {
		p.Kinds = routing.KindsSeparate
	}
	if d.chance(30) {
		p.Ignored = []routing.Ignored{one(d, routing.IgnoredMethod, routing.IgnoredQuery, routing.IgnoredQueryType)}
	}
	p.Headers = one(d, routing.FirstValue, routing.LastValue, routing.AnyValue, routing.SplitValues,
		routing.UnknownValues)
	p.Query = one(d, routing.FirstValue, routing.LastValue, routing.AnyValue, routing.UnknownValues)
	p.RawQuery = d.chance(30)
	p.SameMatch = one(d, routing.SameFirst, routing.SameFirst, routing.SameJoinBackends, routing.SameUnknown)
	if !sortsHosts(&p) {
		p.SameMatch = routing.SameFirst
	}
	p.RedirectGuard = d.chance(30)
	if grouped := p; d.chance(60) {
		if grouped.HostGroups = routing.GroupsUnsorted; makesSense(&grouped) {
			p = grouped
		}
	}
	p.RefusesSharedHosts = d.chance(20)
	return p
}

// order draws the criteria of a profile, which come in the groups that they make sense in.
func (d dice) order(p *routing.Profile) []routing.Criterion {
	if p.Hosts == routing.ByScore {
		return []routing.Criterion{routing.Score}
	}
	var out []routing.Criterion
	add := func(c ...routing.Criterion) { out = append(out, c...) }
	if d.chance(10) {
		add(routing.Headers)
	}
	switch n := d.IntN(5); {
	case p.Hosts == routing.Join: // the hostname is no criterion
	case n < 2:
		add(routing.ExactHost, routing.HostLength)
	case n == 2:
		add(routing.ExactHost, routing.Labels, routing.HostLength)
	case n == 3:
		add(routing.WildcardHostLast)
	}
	switch {
	case p.Prefix == routing.Typeless:
		p.Regex.Rank = routing.RankAsRoot
		add(routing.PathLength)
	case d.chance(10):
		p.Regex.Rank = routing.RankByLength
		add(routing.MatchedLength)
	case d.chance(30):
		add(routing.PathType, routing.PathLength, routing.PathText)
	default:
		add(routing.PathType, routing.PathLength)
	}
	if d.chance(15) {
		add(routing.LongestHost)
	}
	switch d.IntN(3) {
	case 0:
		add(routing.HeadersAndMethod, routing.ExactHeaders, routing.Query, routing.ExactQuery)
	case 1:
		add(routing.Method, routing.Headers, routing.Query)
	default:
		add(routing.Headers, routing.Query, routing.Method)
	}
	if d.chance(20) {
		add(routing.Kind)
	}
	switch d.IntN(6) {
	case 0:
		add(routing.Age, routing.Namespace, routing.Name, routing.Rule)
	case 1:
		add(routing.Rule)
	case 2:
	case 3:
		add(routing.Name, routing.Rule)
	default:
		add(routing.Age, routing.Name, routing.Rule)
	}
	return out
}

// drawnWeight is an annotation with a number that puts routes first.
const drawnWeight = "example.org/weight"

var profileHostnames = []string{"*.com", "*.b.com", "*.b.com", "a.b.com", "a.b.com", "*.a.b.com", "z.b.com"}

// profileInput draws Gateways with many listeners and routes that meet at them.
func (d dice) profileInput() []doc {
	taken := map[string]bool{}
	listeners := func(prefix string, most int) []any {
		var out []any
		for i := range 1 + d.IntN(most) {
			port := one(d, int64(80), int64(80), int64(80), int64(8080), int64(443), int64(443), int64(443))
			l := doc{"name": fmt.Sprintf("%s%d", prefix, i), "port": port, "protocol": "HTTP",
				"allowedRoutes": doc{"namespaces": doc{"from": "All"}}}
			if port == 443 {
				l["protocol"] = "HTTPS"
			}
			if d.chance(65) {
				l["hostname"] = one(d, profileHostnames...)
			}
			if key := fmt.Sprint(prefix == "m", port, l["hostname"]); !taken[key] {
				taken[key] = true
				out = append(out, l)
			}
		}
		return out
	}
	gateway := func(name, class string, listeners []any) doc {
		return doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway",
			"metadata": doc{"namespace": "infra", "name": name}, "spec": doc{"gatewayClassName": class,
				"allowedListeners": doc{"namespaces": doc{"from": "All"}}, "listeners": listeners}}
	}
	out := []doc{gateway("gw", "c", listeners("l", 4))}
	parents := []doc{{"name": "gw", "namespace": "infra"}}
	if d.chance(30) {
		if list := listeners("s", 2); list != nil {
			out = append(out, doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "ListenerSet",
				"metadata": doc{"namespace": "infra", "name": "set"},
				"spec":     doc{"parentRef": doc{"name": "gw"}, "listeners": list}})
			parents = append(parents, doc{"name": "set", "namespace": "infra", "kind": "ListenerSet"})
		}
	}
	if d.chance(35) {
		out = append(out, gateway("gw2", one(d, "c", "c", "e"), listeners("m", 3)))
		parents = append(parents, doc{"name": "gw2", "namespace": "infra"})
	}
	times := one(d, "none", "all", "all", "some")
	kinds := one(d, []string{"HTTPRoute"}, []string{"HTTPRoute", "HTTPRoute", "GRPCRoute"}, []string{"GRPCRoute"})
	names := map[string]bool{}
	for range 2 + d.IntN(8) {
		if r := d.profileRoute(one(d, kinds...), times, parents); !names[nameOf(r)] {
			names[nameOf(r)] = true
			out = append(out, r)
		}
	}
	d.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func nameOf(d doc) string {
	return text(d, "kind") + " " + text(d, "metadata", "namespace") + "/" + text(d, "metadata", "name")
}

func (d dice) profileRoute(kind, times string, parents []doc) doc {
	metadata := doc{"namespace": one(d, drawnNamespaces...), "name": one(d, drawnNames...)}
	if times == "all" || times == "some" && d.chance(60) {
		metadata["creationTimestamp"] = one(d, drawnTimes...)
	}
	if d.chance(10) {
		metadata["annotations"] = doc{drawnWeight: one(d, "1", "2")}
	}
	var refs []any
	for range 1 + d.IntN(5)/3 {
		ref := cloneValue(one(d, parents...)).(doc)
		if d.chance(20) {
			prefix := map[string]string{"gw": "l", "set": "s", "gw2": "m"}[text(ref, "name")]
			ref["sectionName"] = fmt.Sprintf("%s%d", prefix, d.IntN(3))
		}
		if d.chance(10) {
			ref["port"] = one(d, int64(80), int64(8080), int64(443))
		}
		refs = append(refs, ref)
	}
	spec := doc{"parentRefs": refs}
	if d.chance(60) {
		hostnames := []any{one(d, profileHostnames...)}
		if other := one(d, profileHostnames...); d.chance(30) && other != hostnames[0] {
			hostnames = append(hostnames, other)
		}
		spec["hostnames"] = hostnames
	}
	var rules []any
	for range 1 + d.IntN(3) {
		rule := doc{}
		var matches []any
		for range d.IntN(4) {
			if kind == "HTTPRoute" {
				matches = append(matches, d.profileMatch())
			} else {
				matches = append(matches, d.profileCall())
			}
		}
		if matches != nil {
			rule["matches"] = matches
		}
		if kind == "HTTPRoute" && d.chance(10) {
			rule["filters"] = []any{doc{"type": "RequestRedirect",
				"requestRedirect": doc{"scheme": one(d, "http", "https"), "hostname": "elsewhere.org"}}}
		}
		rules = append(rules, rule)
	}
	spec["rules"] = rules
	return doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
}

func (d dice) profileMatch() doc {
	m := doc{}
	switch n := d.IntN(20); {
	case n < 3: // the default
	case n < 7:
		m["path"] = doc{"type": "Exact", "value": one(d, "/", "/a", "/a", "/a/b", "/a/", "/a*", "/a/?", "/s/G", "/s.T/Get")}
	case n < 11:
		m["path"] = doc{"type": "RegularExpression", "value": one(d, "/a.*", "/[ab]+", "/a|/ab", "/a/b/?", ".*b.*",
			"/(?i)a", "/s.*", "/.*")}
	default:
		m["path"] = doc{"type": "PathPrefix", "value": one(d, "/", "/", "/a", "/a", "/a/b", "/a/", "/ab", "/A", "/s",
			"/s.T/")}
	}
	if d.chance(30) {
		m["method"] = one(d, "GET", "GET", "POST")
	}
	if d.chance(25) {
		m["headers"] = d.conditions("x", "y", "X-z")
	}
	if d.chance(20) {
		m["queryParams"] = d.conditions("x", "X", "y")
	}
	return m
}

func (d dice) profileCall() doc {
	m := doc{}
	if d.chance(80) {
		method := doc{}
		services, calls := []string{"s", "s.T", "s.Two"}, []string{"G", "Get", "Getter"}
		if d.chance(25) {
			method["type"] = "RegularExpression"
			services, calls = []string{"s", "s.*", "[^.]+", `s\.T`}, []string{"G", "G.*", "Get(ter)?"}
		}
		if d.chance(70) {
			method["service"] = one(d, services...)
		}
		if d.chance(60) || method["service"] == nil {
			method["method"] = one(d, calls...)
		}
		m["method"] = method
	}
	if d.chance(30) {
		m["headers"] = d.conditions("x", "y", "X-z")
	}
	return m
}

// conditions are matches of one or two of several headers or query parameters.
func (d dice) conditions(names ...string) []any {
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	var out []any
	for _, name := range names[:1+d.IntN(4)/3] {
		f := doc{"name": name, "value": one(d, "1", "1", "1", "2", "A", "1,2")}
		if d.chance(20) {
			f["type"], f["value"] = "RegularExpression", one(d, "1", "[12]", "a?1", ".*", "1|12")
		}
		out = append(out, f)
	}
	return out
}

// profileAsk draws a request to the first Gateway of an input.
func (d dice) profileAsk(input []doc) ask {
	hosts := []string{"a.b.com", "z.b.com", "x.com", "other.org"}
	var listeners []any
	for _, m := range input {
		if text(m, "metadata", "name") != "gw2" {
			listeners = append(listeners, entries(m, "spec", "listeners")...)
		}
		for _, h := range entries(m, "spec", "hostnames") {
			hosts = append(hosts, strings.Replace(h.(string), "*", one(d, "a", "z", "c.a"), 1))
		}
	}
	a := ask{method: one(d, "GET", "GET", "POST"), named: true}
	listener := one(d, listeners...)
	scheme, host := strings.ToLower(text(listener, "protocol")), one(d, hosts...)
	if h := text(listener, "hostname"); h != "" && d.chance(60) {
		host = strings.Replace(h, "*", one(d, "a", "z", "c.a"), 1)
	}
	if scheme == "https" && d.chance(35) {
		a.SNI = one(d, hosts...)
	}
	for range d.IntN(4) {
		a.Headers = append(a.Headers, one(d, "x", "X", "y", "x-z")+": "+one(d, "1", "1", "2", "A", "1,2", "12"))
	}
	query := ""
	for i := range d.IntN(4) {
		query += string("?&"[min(i, 1)]) + one(d, "x", "x", "X", "y", "%78") + "=" + one(d, "1", "1", "2", "A", "%31", "12")
	}
	if d.chance(35) && slices.ContainsFunc(input, func(m doc) bool { return text(m, "kind") == "GRPCRoute" }) {
		a.GRPC = one(d, "s", "s.T", "s.Two") + "/" + one(d, "G", "Get", "Getter")
	}
	a.url = fmt.Sprintf("%s://%s:%d%s%s", scheme, host, number(listener, "port"), one(d, "/", "/a", "/a", "/a/", "/a/b", "/a/b/",
		"/ab", "/A", "/a/b/c", "/a/x", "/abc", "/s/G", "/s.T/Get", "/s.Two/x", "/s"), query)
	return a
}

// routed asks the package, where the data plane of all Gateways has a profile.
func routed(t testing.TB, input []doc, p *routing.Profile) (*topology.Graph, *Matcher) {
	t.Helper()
	g := build.Graph(snapshot(input), model.Settings{})
	return g, NewMatcher(g, model.Settings{}).RouteWith(Profiles{All: []*routing.Profile{p},
		AtGateway: func(*topology.Graph, topology.NodeID) *routing.Profile { return p },
		InMesh:    func(*topology.Graph, model.Ref) *routing.Profile { return p }})
}

// profileVerdict is what the package and the reference say of one request.
type profileVerdict struct {
	found   string   // by the package
	certain bool     // likewise
	may     []string // by the reference: what may become of the request
	anyOf   bool     // where groups are not ordered: whether ages count is asked once, not for each group
	open    bool     // it is not said what the listeners of other Gateways are for a server name
}

func (v profileVerdict) agrees() bool {
	if v.open {
		return true
	}
	may := slices.DeleteFunc(slices.Clone(v.may), func(answer string) bool { return answer == refOrPlain })
	if len(may) == 1 && !isOpen(may[0]) {
		return v.found == may[0] && (v.certain || len(v.may) > 1)
	}
	return !v.certain && (v.anyOf || slices.Contains(may, v.found) || slices.ContainsFunc(may, isOpen))
}

func askBoth(t testing.TB, g *topology.Graph, m *Matcher, input []doc, p routing.Profile, a ask) profileVerdict {
	t.Helper()
	answer := answerOf(t, m, g, a)
	got := verdictIn(g, answer)
	v := profileVerdict{found: got.kind, certain: !answer.RuleUncertain}
	if got.winner != "" {
		v.found = got.winner
	}
	r := &answer.Request
	v.may = referByProfile(input, drawnGateway, r, p, fellBack(answer))
	v.anyOf = p.HostGroups == routing.GroupsUnsorted && len(v.may) > 1
	v.open = p.Listeners.Share == routing.ShareClass && p.SNI == routing.SNIUnknown && r.Secure && r.SNI != r.Host
	return v
}

// TestMatcherAgreesByProfile draws inputs, profiles and requests, and holds which rule takes the
// request, and whether that is certain, against the reference.
func TestMatcherAgreesByProfile(t *testing.T) {
	described := describedProfiles(t)
	seen := map[string]int{}
	pairs := *pairs / 2
	for done, seed := 0, *firstSeed; done < pairs; seed++ {
		d := newDice(seed)
		input := d.profileInput()
		p := d.profile()
		if d.chance(60) {
			p = one(d, described...)
		}
		p.RefusesSharedHosts = false // the matcher does not know it yet
		if p.WeightAnnotation != "" {
			p.WeightAnnotation = drawnWeight
		}
		g, m := routed(t, input, &p)
		for range min(asksEach, pairs-done) {
			a := d.profileAsk(input)
			v := askBoth(t, g, m, input, p, a)
			done++
			switch {
			case len(v.may) > 1:
				seen["uncertain"]++
			case strings.Contains(v.may[0], "rule-"):
				seen["match"]++
			default:
				seen[v.may[0]]++
			}
			if !v.agrees() {
				reproduceProfile(t, seed, input, p, a)
			}
		}
	}
	t.Logf("%d pairs agree: %v", pairs, seen)
	for _, kind := range []string{"match", refNone, refMisdirected, "uncertain"} {
		if seen[kind] < pairs/200 {
			t.Errorf("only %d of %d are %s: the draw misses what it is for", seen[kind], pairs, kind)
		}
	}
}

// reproduceProfile says on which input the reference disagrees, made as small as it gets.
func reproduceProfile(t *testing.T, seed uint64, input []doc, p routing.Profile, a ask) {
	t.Helper()
	disagree := func(in []doc, p routing.Profile, a ask) bool {
		if conflicts(in) {
			return false
		}
		g, m := routed(t, in, &p)
		return gatewayIn(g) != topology.None && !askBoth(t, g, m, in, p, a).agrees()
	}
	for shrunk := true; shrunk; {
		shrunk = false
		for _, plain := range plainer(p) {
			if disagree(input, plain, a) {
				p, shrunk = plain, true
				break
			}
		}
	}
	input = minimal(input, func(in []doc) bool { return disagree(in, p, a) })
	for i := 0; i < len(a.Headers); i++ {
		less := a
		if less.Headers = slices.Delete(slices.Clone(a.Headers), i, i+1); disagree(input, p, less) {
			a = less
			i--
		}
	}
	g, m := routed(t, input, &p)
	v := askBoth(t, g, m, input, p, a)
	t.Errorf("seed %d, %s: %s\n%s\n  package:   %s (certain: %v)\n  reference: %s\n%s", seed, p.Name, differing(p), a, v.found,
		v.certain, strings.Join(v.may, " or "), written(input))
	t.FailNow()
}

// conflicts reports whether an input has listeners that cannot be told apart.
func conflicts(input []doc) bool {
	seen := map[string]bool{}
	for _, l := range profileListeners(input) {
		key := fmt.Sprint(l.gateway, l.port, l.hostname)
		if seen[key] || l.conflicted {
			return true
		}
		seen[key] = true
	}
	return false
}
