package kgateway

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// proxies is what the vendor knows of its proxies.
func proxies() *audit.Mapping {
	return &audit.Mapping{Vendor: "kgateway", Port: 19000,
		Labels: func(gateway model.Ref) string { return "gateway.networking.k8s.io/gateway-name=" + gateway.Name }, Gateways: gatewaysOf, Identify: identify, Own: func(string, string) bool { return false }, Fields: auditFields(), Replaced: replacedByError,
		Filters: []string{filterPrefix + "router", filterPrefix + "cors", filterPrefix + "csrf", filterPrefix + "buffer", filterPrefix + "rbac", filterPrefix + "fault", filterPrefix + "api_key_auth",
			filterPrefix + "basic_auth", filterPrefix + "compressor", filterPrefix + "decompressor", filterPrefix + "oauth2", headerMutation, "dynamic_modules/", "ext_auth/", "ext_proc/", "jwt/", "ratelimit/",
			"global_disable/", "ext_auth_enabled", "jwt_enabled", "oauth2_enabled", "api_key_auth_enabled", "basic_auth_enabled"},
		Unjudged: []string{"envoy.", "dev."}}
}

const (
	filterPrefix   = "envoy.filters.http."
	headerMutation = "envoy.extensions.filters.http.header_mutation"
)

// role is what the control plane tells the node (xds/utils.go).
const role = "kgateway-kube-gateway-api~"

func gatewaysOf(p *dataplane.Proxy) []string {
	rest, ok := strings.CutPrefix(dataplane.Text(p.Metadata, "role"), role)
	parts := strings.Split(rest, "~")
	if !ok || len(parts) < 2 {
		return nil
	}
	return []string{parts[0] + "/" + parts[1]}
}

var (
	position = regexp.MustCompile(`-route-\d+-`)
	indices  = regexp.MustCompile(`^-(\d+)-(\d+)(?:-(.+))?-matcher-(\d+)$`)
)

// identify reads the name of a route (query/route.go:UniqueRouteName): …-route-N-KIND-NAME-NAMESPACE-I-J[-RULE]-matcher-J. All parts may
// have dashes, so it is held against the routes that there are.
func identify(rs *audit.Routes, p *dataplane.Place) audit.Identity {
	name := strings.TrimPrefix(p.Route.Name, p.Route.Host.Name)
	at := position.FindStringIndex(name)
	if at == nil {
		return audit.Identity{}
	}
	rest := name[at[1]:]
	for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], '-') {
		routes := rs.Dashed(rest[:end])
		if len(routes) == 0 {
			continue
		}
		m := indices.FindStringSubmatch(rest[end:])
		if m == nil {
			continue
		}
		id := audit.Identity{}
		for _, route := range routes {
			rule, ok := ruleAt(rs, route, m, p)
			if ok && len(rs.Serving(rule)) == 0 {
				continue
			}
			id.Maybe = append(id.Maybe, route)
			id.Known, id.Rule = ok, rule
		}
		if len(id.Maybe) > 1 || len(id.Maybe) == 1 && !id.Known {
			return audit.Identity{Doubtful: true, Maybe: id.Maybe}
		}
		if id.Known {
			id.Listener = listenerOf(rs, id.Rule, p.Route.Host)
		}
		return id
	}
	return audit.Identity{}
}

// ruleAt is the rule by its name, else by its position. Where a route is delegated to, rules and matches that the rule above does not lead to
// are left out and the others counted anew: there the path decides, and if that does not either, the rule is not known.
func ruleAt(rs *audit.Routes, route model.Ref, m []string, p *dataplane.Place) (id topology.NodeID, known bool) {
	if m[3] != "" {
		if id, ok := rs.Named(route, m[3]); ok {
			return id, true
		}
	}
	index, err := strconv.Atoi(m[1])
	if err != nil {
		return topology.None, false
	}
	served := func(id topology.NodeID) bool { return len(rs.Serving(id)) > 0 }
	at, ok := rs.Rule(route, index)
	if ok && served(at) && (len(rs.Graph.Instances(at)) == 0 || hasPath(rs, at, p)) {
		return at, true
	}
	var fits []topology.NodeID
	all := true
	for i := 0; ; i++ {
		other, exists := rs.Rule(route, i)
		if !exists {
			break
		}
		all = all && served(other)
		if served(other) && hasPath(rs, other, p) {
			fits = append(fits, other)
		}
	}
	switch {
	case len(fits) == 1:
		return fits[0], true
	case ok && all:
		return at, true // none was left out
	}
	return topology.None, false
}

// hasPath tells whether a rule matches the path of a route.
func hasPath(rs *audit.Routes, rule topology.NodeID, p *dataplane.Place) bool {
	match := dataplane.Map(p.Route.Config, "match")
	var path string
	for _, field := range []string{"path_separated_prefix", "prefix", "path"} {
		if path = dataplane.Text(match, field); path != "" {
			break
		}
	}
	if path == "" {
		path = dataplane.Text(match, "safe_regex", "regex")
	}
	matches := dataplane.List(rs.Content(rule), "matches")
	if len(matches) == 0 {
		return path == "/"
	}
	return slices.ContainsFunc(matches, func(m any) bool {
		value := dataplane.Text(m, "path", "value")
		return value == path || value == "" && path == "/" || value != "/" && strings.TrimSuffix(value, "/") == path
	})
}

// listenerOf is the listener of a virtual host: on a port without TLS the one whose hostname is the most exact for its domain, else the one
// that the route configuration is called by.
func listenerOf(rs *audit.Routes, rule topology.NodeID, h *dataplane.VirtualHost) topology.NodeID {
	serving := rs.Serving(rule)
	port, shared := strings.CutPrefix(h.Of.Name, "listener~")
	if !shared {
		return byName(rs, serving, h.Of.Name)
	}
	domain := "*"
	if len(h.Domains) > 0 {
		domain = h.Domains[0]
	}
	best, score, tied := topology.None, -1, false
	for _, id := range serving {
		facts := rs.Graph.Listener(id)
		if strconv.Itoa(int(facts.Port)) != port || facts.Hostname != "" && domain != "*" && !topology.Covers(facts.Hostname, domain) {
			continue
		}
		n := len(facts.Hostname) * 2
		if n > 0 && !strings.HasPrefix(facts.Hostname, "*") {
			n++
		}
		switch {
		case n > score:
			best, score, tied = id, n, false
		case n == score:
			tied = true
		}
	}
	if tied {
		return topology.None
	}
	return best
}

func byName(rs *audit.Routes, serving []topology.NodeID, name string) topology.NodeID {
	parts := strings.Split(name, "/")
	found := topology.None
	for _, id := range serving {
		n := rs.Graph.Node(id)
		if n.Ref.Section != parts[len(parts)-1] || len(parts) == 3 && n.Ref.FullName() != parts[0]+"/"+parts[1] {
			continue
		}
		if found != topology.None {
			return topology.None
		}
		found = id
	}
	return found
}

// replacedByError tells that the control plane did not take the configuration of a route.
func replacedByError(c *audit.Case) bool {
	d := dataplane.Map(c.Place.Route.Config, "direct_response")
	status, _ := dataplane.Number(d, "status")
	return status == 500 && strings.Contains(dataplane.Text(d, "body", "inline_string"), "invalid route configuration")
}
