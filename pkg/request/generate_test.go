package request

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// dice draws inputs and requests from small alphabets, so that they meet often and differ in
// little.
type dice struct{ *rand.Rand }

func newDice(seed uint64) dice { return dice{rand.New(rand.NewPCG(seed, 713))} }

// one draws one of several.
func one[T any](d dice, of ...T) T { return of[d.IntN(len(of))] }

// chance is true so many times out of a hundred.
func (d dice) chance(percent int) bool { return d.IntN(100) < percent }

const drawnGateway = "infra/gw"

var (
	drawnHostnames = []string{"b.com", "a.b.com", "a.b.com", "z.b.com", "c.a.b.com", "*.com", "*.b.com",
		"*.b.com", "*.a.b.com"}
	drawnHosts = []string{"b.com", "a.b.com", "a.b.com", "a.b.com", "z.b.com", "c.a.b.com", "d.c.a.b.com",
		"y.x.com", "other.org", "10.0.0.9"}
	drawnPaths   = []string{"/", "/", "/a", "/a/", "/a/b", "/a/b/", "/ab", "/A", "/a/b/c"}
	drawnAsks    = []string{"/", "/a", "/a/", "/a/b", "/a/b/", "/ab", "/A", "/a/b/c", "/a/b/c/d", "/abc", "/a//b"}
	drawnRegexes = []string{"/a.*", "/[ab]+", "/a|/ab", "/a/b/?", ".*b.*", "/(?i)a"}
	// The joined names sort in another order than namespaces and names do one after the other:
	// team-b/z comes before team/a.
	drawnNamespaces = []string{"team", "team-b", "team-b2", "infra"}
	drawnNames      = []string{"a", "a-b", "b", "z", "a.b", "a0"}
	drawnTimes      = []string{"2024-01-01T00:00:00Z", "2024-01-01T00:00:00Z", "2024-02-01T00:00:00Z",
		"2024-03-01T00:00:00Z"}
	drawnFields = []string{"x", "X", "y", "Y", "x-Z", "X-z"}
)

// input draws a Gateway with its routes, in any order.
func (d dice) input() []doc {
	sort := one(d, "HTTP", "HTTP", "HTTP", "GRPC", "TLS", "mixed", "mixed", "L4")
	out := []doc{d.gateway(sort)}
	for _, n := range drawnNamespaces {
		out = append(out, doc{"apiVersion": "v1", "kind": "Namespace", "metadata": doc{"name": n,
			"labels": doc{"team": n[:min(5, len(n))]}}})
	}
	times := one(d, "none", "all", "all", "some")
	taken := map[string]bool{}
	for range 1 + d.IntN(10) {
		if r := d.route(sort, times); !taken[text(r, "kind")+text(r, "metadata", "namespace")+"/"+
			text(r, "metadata", "name")] {
			taken[text(r, "kind")+text(r, "metadata", "namespace")+"/"+text(r, "metadata", "name")] = true
			out = append(out, r)
		}
	}
	d.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out
}

func (d dice) gateway(sort string) doc {
	var listeners []any
	port := one(d, int64(80), int64(443))
	for i := range 1 + d.IntN(3) {
		if d.chance(10) {
			port = one(d, int64(80), int64(443))
		}
		l := doc{"name": fmt.Sprintf("l%d", i), "port": port}
		switch sort {
		case "L4":
			l["protocol"], l["port"] = one(d, "TCP", "UDP", "TCP", "UDP", "TLS"), int64(80+i)
		case "TLS":
			l["protocol"] = one(d, "TLS", "TLS", "HTTPS")
		case "mixed":
			l["protocol"] = one(d, "HTTPS", "HTTPS", "HTTPS", "TLS", "HTTP")
		default:
			l["protocol"] = one(d, "HTTP", "HTTP", "HTTP", "HTTPS")
			if i > 0 && d.chance(90) {
				l["protocol"] = listeners[0].(doc)["protocol"]
			}
		}
		if d.chance(60) {
			l["hostname"] = one(d, drawnHostnames...)
		}
		allowed := doc{"namespaces": doc{"from": "All"}}
		if d.chance(20) {
			allowed["namespaces"] = one(d, doc{"from": "Same"},
				doc{"from": "Selector", "selector": doc{"matchLabels": doc{"team": "team-"}}},
				doc{"from": "Selector", "selector": doc{"matchLabels": doc{"kubernetes.io/metadata.name": "team"}}})
		}
		if d.chance(10) {
			allowed["kinds"] = []any{doc{"kind": one(d, "HTTPRoute", "GRPCRoute", "TLSRoute")}}
		}
		if d.chance(95) {
			l["allowedRoutes"] = allowed
		}
		listeners = append(listeners, l)
	}
	return doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "Gateway", "metadata": doc{"namespace": "infra",
		"name": "gw"},
		"spec": doc{"gatewayClassName": "c", "listeners": listeners}}
}

func (d dice) route(sort, times string) doc {
	kind := "HTTPRoute"
	switch {
	case sort == "GRPC":
		kind = one(d, "GRPCRoute", "GRPCRoute", "GRPCRoute", "HTTPRoute")
	case sort == "TLS":
		kind = one(d, "TLSRoute", "TLSRoute", "TLSRoute", "HTTPRoute")
	case sort == "mixed":
		kind = one(d, "HTTPRoute", "HTTPRoute", "TLSRoute", "GRPCRoute")
	case sort == "L4":
		kind = one(d, "TCPRoute", "UDPRoute")
	}
	metadata := doc{"namespace": one(d, drawnNamespaces...), "name": one(d, drawnNames...)}
	if times == "all" || times == "some" && d.chance(60) {
		metadata["creationTimestamp"] = one(d, drawnTimes...)
	}
	spec := doc{}
	var parents []any
	for range 1 + d.IntN(6)/5 {
		p := doc{"name": "gw", "namespace": "infra"}
		if d.chance(15) {
			p["sectionName"] = fmt.Sprintf("l%d", d.IntN(3))
		}
		if d.chance(10) {
			p["port"] = one(d, int64(80), int64(443))
		}
		parents = append(parents, p)
	}
	spec["parentRefs"] = parents
	if kind == "TLSRoute" || d.chance(75) && sort != "L4" {
		var hostnames []any
		for range 1 + d.IntN(3) {
			hostnames = append(hostnames, one(d, drawnHostnames...))
		}
		spec["hostnames"] = hostnames
	}
	var rules []any
	for range 1 + d.IntN(3) {
		rules = append(rules, d.rule(kind))
		if kind != "HTTPRoute" && kind != "GRPCRoute" {
			break
		}
	}
	if kind != "HTTPRoute" || d.chance(95) {
		spec["rules"] = rules
	}
	return doc{"apiVersion": "gateway.networking.k8s.io/v1", "kind": kind, "metadata": metadata, "spec": spec}
}

func (d dice) rule(kind string) doc {
	rule := doc{}
	var matches []any
	for range d.IntN(4) {
		switch kind {
		case "HTTPRoute":
			matches = append(matches, d.match())
		case "GRPCRoute":
			matches = append(matches, d.call())
		}
	}
	if matches != nil {
		rule["matches"] = matches
	}
	return rule
}

func (d dice) match() doc {
	m := doc{}
	switch n := d.IntN(20); {
	case n < 4: // the default
	case n < 7:
		m["path"] = doc{"type": "Exact", "value": one(d, drawnPaths...)}
	case n < 9:
		m["path"] = doc{"type": "RegularExpression", "value": one(d, drawnRegexes...)}
	case n < 10:
		m["path"] = doc{"value": one(d, drawnPaths...)}
	default:
		m["path"] = doc{"type": "PathPrefix", "value": one(d, drawnPaths...)}
	}
	if d.chance(35) {
		m["method"] = one(d, "GET", "GET", "POST")
	}
	if d.chance(25) {
		m["headers"] = d.fields()
	}
	if d.chance(20) {
		m["queryParams"] = d.fields()
	}
	return m
}

func (d dice) call() doc {
	m := doc{}
	if d.chance(80) {
		method := doc{}
		if d.chance(10) {
			method["type"] = "RegularExpression"
		}
		if d.chance(75) {
			method["service"] = one(d, "s", "s.T", "s.Two", "s.*")
		}
		if d.chance(60) || len(method) == 0 {
			method["method"] = one(d, "G", "Get", "Getter", "G.*")
		}
		m["method"] = method
	}
	if d.chance(35) {
		m["headers"] = d.fields()
	}
	return m
}

// fields are matches of headers or of query parameters.
func (d dice) fields() []any {
	var out []any
	for range 1 + d.IntN(4)/2 {
		f := doc{"name": one(d, drawnFields...), "value": one(d, "1", "1", "1", "1", "2", "A")}
		if d.chance(10) {
			f["type"], f["value"] = "RegularExpression", one(d, "1", "[12]", "a?1", ".*")
		}
		out = append(out, f)
	}
	return out
}

// ask is a request as it is typed.
type ask struct {
	method, url string
	Options
	named bool // the Gateway is named
}

func (a ask) String() string {
	s := "request " + a.method + " " + a.url
	for _, h := range a.Headers {
		s += " -H '" + h + "'"
	}
	for _, f := range [][2]string{{"sni", a.SNI}, {"grpc", a.GRPC}, {"protocol", a.Protocol}} {
		if f[1] != "" {
			s += " --" + f[0] + " " + f[1]
		}
	}
	if a.named {
		s += " --gateway " + drawnGateway
	}
	return s
}

// ask draws a request to the Gateway of the input.
func (d dice) ask(input []doc) ask {
	gateway := input[slices.IndexFunc(input, func(m doc) bool { return text(m, "kind") == "Gateway" })]
	listener := one(d, entries(gateway, "spec", "listeners")...).(doc)
	host := func() string {
		if d.chance(60) { // for a hostname that is there
			var there []string
			for _, m := range input {
				for _, h := range entries(m, "spec", "hostnames") {
					there = append(there, h.(string))
				}
				for _, l := range entries(m, "spec", "listeners") {
					if h := text(l, "hostname"); h != "" {
						there = append(there, h)
					}
				}
			}
			if len(there) > 0 {
				return strings.Replace(one(d, there...), "*", one(d, "a", "z", "c.a"), 1)
			}
		}
		return one(d, drawnHosts...)
	}
	a := ask{method: one(d, "GET", "GET", "POST"), named: d.chance(60)}
	scheme, name := "http", host()
	switch text(listener, "protocol") {
	case "HTTPS", "TLS":
		scheme = "https"
		if d.chance(35) {
			a.SNI = host()
		}
	}
	if d.chance(4) {
		scheme = "https"
	}
	port := number(listener, "port")
	if d.chance(4) {
		port = 80
	}
	if d.chance(20) {
		a.Headers = append(a.Headers, "host: "+strings.ToUpper(host())+one(d, "", ":8080"))
	}
	for range d.IntN(5) {
		a.Headers = append(a.Headers, one(d, drawnFields...)+": "+one(d, "1", "1", "1", "2", "A"))
	}
	query := ""
	for i := range d.IntN(5) {
		query += string("?&"[min(i, 1)]) + one(d, drawnFields...) + "=" + one(d, "1", "1", "1", "2", "A")
	}
	kinds := map[string]bool{}
	for _, m := range input {
		kinds[text(m, "kind")] = true
	}
	switch protocol := text(listener, "protocol"); {
	case protocol == "TCP", protocol == "UDP":
		a.Protocol = protocol
	case protocol == "TLS" && d.chance(60), scheme == "https" && a.SNI == "" && d.chance(3):
		a.Protocol = "TLS"
	case kinds["GRPCRoute"] && d.chance(70), d.chance(2):
		a.GRPC = one(d, "s", "s.T", "s.Two") + "/" + one(d, "G", "Get", "Getter")
	}
	a.url = fmt.Sprintf("%s://%s:%d%s%s", scheme, name, port, one(d, drawnAsks...), query)
	return a
}

// settings draws the switches, for the package and for the reference.
func (d dice) settings() (model.Settings, refSettings) {
	ref := refSettings{isolation: d.chance(70), intersection: d.chance(30), stripped: d.chance(30),
		methodHeader: d.chance(25),
		ageless:      d.chance(15), loose: d.chance(20), regexRank: one(d, "afterExact", "afterPrefix", "byLength")}
	return ref.values(), ref
}

// values are the same switches by their names.
func (s refSettings) values() model.Settings {
	pick := func(b bool, yes, no string) string {
		if b {
			return yes
		}
		return no
	}
	return model.NewSettings(map[string]any{
		gatewayapi.ListenerIsolation: s.isolation, gatewayapi.HostnamePrecedence: pick(s.intersection,
			"intersection", "original"),
		gatewayapi.PrefixLength: pick(s.stripped, "stripped", "literal"), gatewayapi.MethodRank: pick(s.methodHeader,
			"header", "own"),
		gatewayapi.RouteAgeSource: pick(s.ageless, "none", "creationTimestamp"), gatewayapi.RegexAnchored: !s.loose,
		gatewayapi.RegexRank: s.regexRank,
	})
}

// snapshot is the input as a reader of manifests hands it over.
func snapshot(input []doc) *model.Snapshot {
	var objects []*model.Object
	for i, d := range input {
		group, version, found := strings.Cut(text(d, "apiVersion"), "/")
		if !found {
			group, version = "", group
		}
		o := &model.Object{Version: version, Body: model.Pack(d, nil), Origin: model.Origin{File: "in.yaml",
			Line: i + 1}, Labels: map[string]string{},
			Ref: model.Ref{Group: group, Kind: text(d, "kind"), Namespace: text(d, "metadata", "namespace"),
				Name: text(d, "metadata", "name")}}
		labels, _ := walk(d, "metadata", "labels").(doc)
		for key := range labels {
			o.Labels[key] = text(labels, key)
		}
		o.Created, _ = time.Parse(time.RFC3339, text(d, "metadata", "creationTimestamp"))
		objects = append(objects, o)
	}
	return model.NewSnapshot(objects, nil)
}

// manifests reads YAML documents.
func manifests(t testing.TB, text string) []doc {
	t.Helper()
	var out []doc
	dec := yaml.NewDecoder(strings.NewReader(text))
	for {
		var d doc
		if err := dec.Decode(&d); err != nil {
			if err.Error() != "EOF" {
				t.Fatal(err)
			}
			return out
		}
		if d != nil {
			out = append(out, plain(d).(doc))
		}
	}
}

// plain turns what the YAML decoder makes of numbers and times into what manifests hold.
func plain(v any) any {
	switch v := v.(type) {
	case int:
		return int64(v)
	case time.Time:
		return v.UTC().Format(time.RFC3339)
	case []any:
		for i := range v {
			v[i] = plain(v[i])
		}
	case doc:
		for key := range v {
			v[key] = plain(v[key])
		}
	}
	return v
}

// written is the input as YAML.
func written(input []doc) string {
	var s strings.Builder
	e := yaml.NewEncoder(&s)
	e.SetIndent(2)
	for _, d := range input {
		if err := e.Encode(d); err != nil {
			return err.Error()
		}
	}
	return s.String()
}

// clone copies an input.
func clone(input []doc) []doc {
	var out []doc
	for _, d := range input {
		out = append(out, cloneValue(d).(doc))
	}
	return out
}

func cloneValue(v any) any {
	switch v := v.(type) {
	case doc:
		out := doc{}
		for key := range v {
			out[key] = cloneValue(v[key])
		}
		return out
	case []any:
		out := []any{}
		for _, e := range v {
			out = append(out, cloneValue(e))
		}
		return out
	}
	return v
}

// minimal takes away of an input whatever can go while it stays bad.
func minimal(input []doc, bad func([]doc) bool) []doc {
	for shrunk := true; shrunk; {
		shrunk = false
		for i := 0; i < len(input); i++ {
			if less := slices.Delete(slices.Clone(input), i, i+1); bad(less) {
				input, shrunk = less, true
				i--
			}
		}
		for n := 0; ; n++ {
			less := clone(input)
			count := n
			if !dropNth(less, &count) {
				break
			}
			if bad(less) {
				input, shrunk = less, true
				n--
			}
		}
	}
	return input
}

// dropNth takes the nth field of a spec, or entry of a list in one, out of an input. It reports
// whether there is one.
func dropNth(input []doc, n *int) bool {
	for _, d := range input {
		for _, part := range []string{"spec", "metadata"} {
			if v, ok := d[part].(doc); ok && dropIn(v, n) {
				return true
			}
		}
	}
	return false
}

func dropIn(v doc, n *int) bool {
	keys := make([]string, 0, len(v))
	for key := range v {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !slices.Contains([]string{"name", "namespace", "protocol", "port", "spec", "namespaces", "from", "value",
			"type"}, key) {
			if *n == 0 {
				delete(v, key)
				return true
			}
			*n--
		}
		switch inner := v[key].(type) {
		case doc:
			if dropIn(inner, n) {
				return true
			}
		case []any:
			for i, e := range inner {
				if len(inner) > 1 || key == "hostnames" {
					if *n == 0 {
						v[key] = slices.Delete(slices.Clone(inner), i, i+1)
						return true
					}
					*n--
				}
				if e, ok := e.(doc); ok && dropIn(e, n) {
					return true
				}
			}
		}
	}
	return false
}
