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
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// proxyMapping is what the vendor knows of its proxies.
func proxyMapping() *audit.Mapping {
	return &audit.Mapping{Vendor: "kgateway", AdminPort: 19000,
		PodLabels: func(gateway model.Ref) string {
			return "gateway.networking.k8s.io/gateway-name=" +
				gateway.Name
		}, Gateways: findGatewaysOfProxy, Identify: identifyRoute, IsOwn: func(string, string) bool { return false },
		Fields: auditFields(), IsReplaced: isReplacedByError,
		FilterNames: []string{filterPrefix + "router", filterPrefix + "cors", filterPrefix + "csrf",
			filterPrefix + "buffer", filterPrefix + "rbac", filterPrefix + "fault", filterPrefix + "api_key_auth",
			filterPrefix + "basic_auth", filterPrefix + "compressor", filterPrefix + "decompressor", filterPrefix +
				"oauth2", headerMutation, "dynamic_modules/", "ext_auth/", "ext_proc/", "jwt/", "ratelimit/",
			"global_disable/", "ext_auth_enabled", "jwt_enabled", "oauth2_enabled", "api_key_auth_enabled",
			"basic_auth_enabled"},
		UnjudgedFilters: []string{"envoy.", "dev."}}
}

const (
	filterPrefix   = "envoy.filters.http."
	headerMutation = "envoy.extensions.filters.http.header_mutation"
)

// rolePrefix is what the control plane tells the node (xds/utils.go).
const rolePrefix = "kgateway-kube-gateway-api~"

func findGatewaysOfProxy(p *dataplane.Proxy) []string {
	rest, ok := strings.CutPrefix(dataplane.Text(p.Metadata, "role"), rolePrefix)
	parts := strings.Split(rest, "~")
	if !ok || len(parts) < 2 {
		return nil
	}
	return []string{parts[0] + "/" + parts[1]}
}

var (
	routePosition = regexp.MustCompile(`-route-\d+-`)
	routeIndices  = regexp.MustCompile(`^-(\d+)-(\d+)(?:-(.+))?-matcher-(\d+)$`)
)

// identifyRoute reads the name of a route (query/route.go:UniqueRouteName):
// …-route-N-KIND-NAME-NAMESPACE-I-J[-RULE]-matcher-J. All parts may have dashes, so it is
// compared with the routes that there are.
func identifyRoute(rs *audit.Routes, p *dataplane.ServedRoute) audit.Identity {
	name := strings.TrimPrefix(p.Route.Name, p.Route.Host.Name)
	at := routePosition.FindStringIndex(name)
	if at == nil {
		return audit.Identity{}
	}
	rest := name[at[1]:]
	for end := len(rest); end > 0; end = strings.LastIndexByte(rest[:end], '-') {
		routes := rs.FindByDashedName(rest[:end])
		if len(routes) == 0 {
			continue
		}
		m := routeIndices.FindStringSubmatch(rest[end:])
		if m == nil {
			continue
		}
		id := audit.Identity{}
		for _, route := range routes {
			rule, ok := findRule(rs, route, m, p)
			if ok && len(rs.ServingListeners(rule)) == 0 {
				continue
			}
			id.PossibleRoutes = append(id.PossibleRoutes, route)
			id.Known, id.Rule = ok, rule
		}
		if len(id.PossibleRoutes) > 1 || len(id.PossibleRoutes) == 1 && !id.Known {
			return audit.Identity{Doubtful: true, PossibleRoutes: id.PossibleRoutes}
		}
		if id.Known {
			id.Listener = findListener(rs, id.Rule, p.Route.Host)
		}
		return id
	}
	return audit.Identity{}
}

// findRule is the rule by its name, else by its position. Where a route is delegated to, rules and
// matches that the rule above does not lead to are left out and the others counted anew: there the
// path decides, and if that does not either, the rule is not known.
func findRule(rs *audit.Routes, route model.Ref, m []string, p *dataplane.ServedRoute) (id topology.NodeID,
	known bool) {
	if m[3] != "" {
		if id, ok := rs.FindNamedRule(route, m[3]); ok {
			return id, true
		}
	}
	index, err := strconv.Atoi(m[1])
	if err != nil {
		return topology.None, false
	}
	served := func(id topology.NodeID) bool { return len(rs.ServingListeners(id)) > 0 }
	at, ok := rs.FindRule(route, index)
	if ok && served(at) && (len(rs.Graph.Instances(at)) == 0 || matchesPath(rs, at, p)) {
		return at, true
	}
	var fits []topology.NodeID
	all := true
	for i := 0; ; i++ {
		other, exists := rs.FindRule(route, i)
		if !exists {
			break
		}
		all = all && served(other)
		if served(other) && matchesPath(rs, other, p) {
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

// matchesPath reports whether a rule matches the path of a route.
func matchesPath(rs *audit.Routes, rule topology.NodeID, p *dataplane.ServedRoute) bool {
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
	matches := dataplane.List(rs.RuleContent(rule), "matches")
	if len(matches) == 0 {
		return path == "/"
	}
	return slices.ContainsFunc(matches, func(m any) bool {
		value := dataplane.Text(m, "path", "value")
		return value == path || value == "" && path == "/" || value != "/" && strings.TrimSuffix(value, "/") == path
	})
}

// findListener is the listener of a virtual host: on a port without TLS the one whose hostname is
// the most exact for its domain, else the one that the route configuration is called by.
func findListener(rs *audit.Routes, rule topology.NodeID, h *dataplane.VirtualHost) topology.NodeID {
	serving := rs.ServingListeners(rule)
	port, shared := strings.CutPrefix(h.RouteConfig.Name, "listener~")
	if !shared {
		return findListenerByName(rs, serving, h.RouteConfig.Name)
	}
	domain := "*"
	if len(h.Domains) > 0 {
		domain = h.Domains[0]
	}
	best, score, tied := topology.None, -1, false
	for _, id := range serving {
		facts := rs.Graph.Listener(id)
		if strconv.Itoa(int(facts.Port)) != port || facts.Hostname != "" && domain != "*" &&
			!gatewayapi.CoversHostname(facts.Hostname, domain) {
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

func findListenerByName(rs *audit.Routes, serving []topology.NodeID, name string) topology.NodeID {
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

// isReplacedByError reports whether the control plane did not take the configuration of a route.
func isReplacedByError(c *audit.Case) bool {
	d := dataplane.Map(c.ServedRoute.Route.Config, "direct_response")
	status, _ := dataplane.Number(d, "status")
	return status == 500 && strings.Contains(dataplane.Text(d, "body", "inline_string"), "invalid route configuration")
}
