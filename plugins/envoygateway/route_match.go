package envoygateway

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// routeMatch is one match of a rule as the controller tells matches apart.
type routeMatch struct {
	path string
	rest []string // headers with the method, parameters and cookies
}

// key is a text that equal matches have. A rule that takes CONNECT has no path.
func (m routeMatch) key(connect bool) string {
	path := m.path
	if connect {
		path = "CONNECT"
	}
	return path + "\x01" + strings.Join(slices.Sorted(slices.Values(m.rest)), "\x01")
}

// ruleMatches are the matches of a rule.
type ruleMatches struct {
	node    topology.NodeID
	matches []routeMatch
}

// listMatchKeys lists the matches of the rules of a route. A rule with an expression that does not
// compile is dropped.
func listMatchKeys(g *topology.Graph, route topology.NodeID) []ruleMatches {
	n := g.Node(route)
	var out []ruleMatches
	for _, section := range g.Sections(n.Ref) {
		for _, id := range g.Lookup(n.Ref.WithSection(section)) {
			rule := n.Object.Body.At("spec", "rules", strconv.Itoa(g.Node(id).Index))
			if matches, ok := readMatches(rule, n.Ref.Kind == "GRPCRoute"); ok {
				out = append(out, ruleMatches{id, addCookies(g, n.Ref.Namespace, rule, matches)})
			}
		}
	}
	return out
}

// addCookies adds to matches those of the filter of the vendor's own kind that a rule names.
func addCookies(g *topology.Graph, namespace string, rule model.Body, matches []routeMatch) []routeMatch {
	for _, f := range rule.Field("filters").Items {
		o := g.Object(model.Ref{Group: policyGroup, Kind: f.Text("extensionRef", "kind"), Namespace: namespace,
			Name: f.Text("extensionRef", "name")})
		if o == nil || o.Ref.GroupKind() != filterKind || o.Body.At("spec", "matches").Len() == 0 {
			continue
		}
		var out []routeMatch
		for _, m := range matches {
			for _, own := range o.Body.At("spec", "matches").Items {
				with := routeMatch{path: m.path, rest: slices.Clone(m.rest)}
				with.readList("c", own.Field("cookies"))
				out = append(out, with)
			}
		}
		return out
	}
	return matches
}

// readMatches reads the matches of a rule; one without any takes every request.
func readMatches(rule model.Body, grpc bool) ([]routeMatch, bool) {
	cors := hasEntry(rule.Field("filters"), func(f model.Body) bool { return f.Text("type") == "CORS" })
	list := rule.Field("matches")
	if list.Len() == 0 {
		return []routeMatch{{path: "p/"}}, true
	}
	var out []routeMatch
	for _, match := range list.Items {
		m, ok := routeMatch{path: "p/"}, true
		if grpc {
			m.readMethod(match.Field("method"))
		} else {
			m.readPath(match.Field("path"))
		}
		ok = isCompiled(m.path) && m.readList("h", match.Field("headers")) && m.readList("q", match.Field("queryParams"))
		if !ok {
			return nil, false
		}
		plain := m
		if method := match.Field("method"); !grpc && method.IsText() {
			plain.rest = append(slices.Clone(m.rest), "h:method\x00e"+method.Text())
		}
		out = append(out, plain)
		// the controller answers preflight requests of its own accord
		if method := match.Text("method"); cors && !grpc && method != "" && method != "OPTIONS" {
			m.rest = append(slices.Clone(m.rest), "h:method\x00eOPTIONS", "horigin\x00r.*", "haccess-control-request-method\x00r.*")
			out = append(out, m)
		}
	}
	return out, true
}

// readPath reads the path of a match: of a prefix one slash at the end does not count.
func (m *routeMatch) readPath(path model.Body) {
	value := path.Text("value")
	switch path.Text("type") {
	case "Exact":
		m.path = "e" + value
	case "RegularExpression":
		m.path = "r" + value
	default:
		if value != "/" && value != "" {
			m.path = "p" + strings.TrimSuffix(value, "/")
		}
	}
}

// validServiceName is what the controller has for the name of any service.
const validServiceName = `(?i)\.?[a-z_][a-z_0-9]*(\.[a-z_][a-z_0-9]*)*`

// validMethodName is what the controller has for the name of any method.
const validMethodName = `[A-Za-z_][A-Za-z_0-9]*`

// readMethod reads the method of a match of a GRPCRoute, which is a path.
func (m *routeMatch) readMethod(method model.Body) {
	service, name := method.Text("service"), method.Text("method")
	expression := method.Text("type") == "RegularExpression"
	switch {
	case service == "" && name == "":
	case expression && service == "":
		m.path = "r/" + validServiceName + "/" + name
	case expression && name == "":
		m.path = "r/" + service + "/" + validMethodName
	case expression:
		m.path = "r/" + service + "/" + name
	case service == "":
		m.rest = append(m.rest, "h:path\x00s/"+name)
	case name == "":
		m.path = "p/" + service
	default:
		m.path = "e/" + service + "/" + name
	}
}

// readList reads headers or parameters; not ok if an expression does not compile.
func (m *routeMatch) readList(sort string, list model.Body) bool {
	for _, entry := range list.Items {
		name, value := entry.Text("name"), "e"+entry.Text("value")
		if sort == "h" {
			name = strings.ToLower(name)
		}
		if entry.Text("type") == "RegularExpression" {
			value = "r" + entry.Text("value")
		}
		if !isCompiled(value) {
			return false
		}
		m.rest = append(m.rest, sort+name+"\x00"+value)
	}
	return true
}

// isCompiled reports whether a value is no expression, or one that compiles.
func isCompiled(value string) bool {
	if !strings.HasPrefix(value, "r") {
		return true
	}
	_, err := regexp.Compile(value[1:])
	return err == nil
}

// ruleAt is a rule as one listener serves it.
type ruleAt struct{ listener, rule topology.NodeID }

// findConnectRules finds the rules that take CONNECT, as a BackendTrafficPolicy in force there says.
func findConnectRules(r *resolve.Resolution) map[ruleAt]bool {
	k := r.Kind(model.GroupKind{Group: policyGroup, Kind: "BackendTrafficPolicy"})
	if k == nil || !slices.ContainsFunc(r.Snapshot.OfKind(k.GroupKind), namesConnect) {
		return nil
	}
	out := map[ruleAt]bool{}
	for _, id := range r.Graph.Order(topology.Traffic) {
		if r.Graph.Node(id).Role != topology.Rule {
			continue
		}
		for _, s := range k.Contexts(id) {
			v := k.Verdict(s)
			if v.Void != "" || !slices.ContainsFunc(v.Result.Rules, isConnect) {
				continue
			}
			for _, path := range k.Paths(id, s) {
				for _, at := range path {
					if r.Graph.Node(at).Role == topology.Listener {
						out[ruleAt{at, id}] = true
					}
				}
			}
		}
	}
	return out
}

// namesConnect reports whether a policy speaks of CONNECT.
func namesConnect(o *model.Object) bool {
	return hasEntry(o.Body.At("spec", "httpUpgrade"),
		func(e model.Body) bool { return strings.EqualFold(e.Text("type"), "CONNECT") })
}

// hasEntry reports whether an entry of a list is what is looked for.
func hasEntry(list model.Body, is func(model.Body) bool) bool {
	for _, e := range list.Items {
		if is(e) {
			return true
		}
	}
	return false
}

// isConnect reports whether a rule in force is the upgrade to CONNECT.
func isConnect(rule merge.Rule) bool {
	return len(rule.Path) > 1 && rule.Path[0].Name == "httpUpgrade" && strings.EqualFold(rule.Path[1].Name, "CONNECT")
}
