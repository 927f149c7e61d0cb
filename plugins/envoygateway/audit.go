package envoygateway

import (
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// proxyMapping is what the vendor knows of its proxies.
func proxyMapping() *audit.Mapping {
	return &audit.Mapping{Vendor: "envoygateway", AdminPort: 19000, PodLabels: proxyLabels,
		Gateways: findGatewaysOfProxy, Identify: identifyRoute, IsOwn: isOwnListener, Fields: auditFields(),
		IsReplaced: isReplaced, FilterNames: listFilters(),
		PatchingKinds: []model.GroupKind{{Group: policyGroup, Kind: "EnvoyPatchPolicy"}}}
}

// metadataKey is where the translator notes what a resource is made of.
const metadataKey = "envoy-gateway"

// findGatewaysOfProxy reads the node (proxy_args.go:BuildProxyArgs), or the names of routes where
// the dump has no node.
func findGatewaysOfProxy(p *dataplane.Proxy) []string {
	if strings.Count(p.Cluster, "/") == 1 {
		return []string{p.Cluster}
	}
	if p.Cluster != "" {
		return nil
	}
	for _, rc := range p.Configs {
		for _, h := range rc.Hosts {
			if dataplane.FilterMetadata(h.Config, metadataKey) == nil {
				continue
			}
			if parts := strings.Split(rc.Name, "/"); len(parts) >= 3 {
				return []string{parts[0] + "/" + parts[1]}
			}
		}
	}
	return nil
}

// proxyLabels are those of the pods (infrastructure/kubernetes/proxy).
func proxyLabels(gateway model.Ref) string {
	return "gateway.envoyproxy.io/owning-gateway-namespace=" + gateway.Namespace +
		",gateway.envoyproxy.io/owning-gateway-name=" + gateway.Name
}

func isOwnListener(listener, _ string) bool {
	return strings.HasPrefix(listener, "envoy-gateway-proxy-")
}

// identifyRoute reads the name of a route (route.go:irRouteName):
// httproute/NAMESPACE/NAME/rule/I/match/J/HOST.
func identifyRoute(rs *audit.Routes, p *dataplane.ServedRoute) audit.Identity {
	parts := strings.SplitN(p.Route.Name, "/", 8)
	if len(parts) < 7 || parts[3] != "rule" || parts[5] != "match" {
		return audit.Identity{}
	}
	route, ok := rs.FindRoute(strings.Join(parts[:3], "/"))
	index, err := strconv.Atoi(parts[4])
	if !ok || err != nil {
		return audit.Identity{}
	}
	rule, ok := rs.FindRule(route, index)
	return audit.Identity{Known: ok, Rule: rule, Listener: findListener(rs, p.Route.Host)}
}

// findListener reads the name of a virtual host (translator.go:virtualHostName):
// NAMESPACE/GATEWAY/LISTENER/HOST, with the ListenerSet's namespace and name behind the Gateway's
// if the listener is one of a set; or the metadata, where the name is the host alone.
func findListener(rs *audit.Routes, h *dataplane.VirtualHost) topology.NodeID {
	parts := strings.Split(h.Name, "/")
	switch len(parts) {
	case 4:
		return rs.FindListener(parts[0]+"/"+parts[1], parts[2])
	case 6:
		return rs.FindListener(parts[2]+"/"+parts[3], parts[4])
	}
	resources := dataplane.List(dataplane.FilterMetadata(h.Config, metadataKey), "resources")
	if len(resources) == 0 {
		return topology.None
	}
	found := topology.None
	for _, id := range rs.Listeners() {
		if rs.Graph.Node(id).Ref.Section == dataplane.Text(resources[0], "sectionName") {
			if found != topology.None {
				return topology.None // one of a set has the same name
			}
			found = id
		}
	}
	return found
}

// isReplaced reports whether the translator answers a rule with 500 because it could not translate
// it.
func isReplaced(c *audit.Case) bool {
	status, _ := dataplane.Number(c.ServedRoute.Route.Config, "direct_response", "status")
	return status == 500 && !c.HasFilter("ExtensionRef")
}

const filterPrefix = "envoy.filters.http."

// listFilters are those that the translator makes.
func listFilters() []string {
	var out []string
	for _, name := range []string{"router", "health_check", "grpc_web", "grpc_stats", "header_mutation", "geoip",
		"credential_injector", "stateful_session",
		"dynamic_forward_proxy", "rbac", "cors", "local_ratelimit", "ratelimit", "fault", "csrf", "jwt_authn",
		"oauth2", "ext_authz", "basic_auth", "api_key_auth",
		"buffer", "compressor", "custom_response", "bandwidth_limit", "ext_proc", "wasm", "lua", "dynamic_modules",
		"admission_control", "tls_inspector", "upstream_codec"} {
		out = append(out, filterPrefix+name)
	}
	return out
}

// findOwners are the policies (NAMESPACE/NAME) whose filters of a sort run on the route, each once,
// in the order of their names, and how many they are: FILTER/KIND/NAMESPACE/NAME.
func findOwners(c *audit.Case, filter, kind string) (owners []string, count int) {
	set := map[string]bool{}
	prefix := filterPrefix + filter + "/" + kind + "/"
	for _, name := range c.FilterNames() {
		rest, ok := strings.CutPrefix(name, prefix)
		if !ok {
			continue
		}
		if _, on := c.FindFilter(name); !on {
			continue
		}
		parts := strings.SplitN(rest, "/", 3)
		if len(parts) >= 2 {
			set[parts[0]+"/"+parts[1]] = true
			count++
		}
	}
	return audit.SortedKeys(set), count
}

// filterForeign are the owners that are not among the policies of the rule.
func filterForeign(c *audit.Case, owners []string) []string {
	var out []string
	for _, o := range owners {
		if !c.HasPolicy(o) {
			out = append(out, o)
		}
	}
	return out
}
