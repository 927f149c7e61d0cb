package main

import (
	"encoding/json"
	"fmt"
	"io"
)

// object is a JSON object.
type object map[string]any

const types = "type.googleapis.com/envoy."

// dump writes what a proxy that does what the manifests ask for answers, indented as Envoy does it.
func (s shop) dump(to io.Writer) error {
	e := json.NewEncoder(to)
	e.SetIndent("", " ")
	return e.Encode(object{"configs": []any{
		object{"@type": types + "admin.v3.BootstrapConfigDump",
			"bootstrap": object{"node": object{"id": "eg-1", "cluster": "infra/eg"}}},
		s.clusters(), s.listeners(), s.routeConfigs(),
	}})
}

func (s shop) clusters() object {
	var out []any
	for i := range s.routes {
		for r := range s.rules {
			name := s.rule(i, r)
			out = append(out, object{"version_info": "1", "last_updated": "2026-01-01T00:00:00.000Z", "cluster": object{
				"@type": types + "config.cluster.v3.Cluster", "name": name, "type": "EDS", "connect_timeout": "10s",
				"dns_lookup_family": "V4_PREFERRED",
				"eds_cluster_config": object{"eds_config": object{"ads": object{},
					"resource_api_version": "V3"}, "service_name": name},
				"per_connection_buffer_limit_bytes": 32768, "common_lb_config": object{},
				"circuit_breakers": object{"thresholds": []any{object{"max_connections": 100, "max_retries": 1024}}},
				"metadata": resource("HTTPRoute", fmt.Sprintf("team-%d", i%namespaces),
					fmt.Sprintf("shop-%d", i), fmt.Sprintf("v%d", r)),
			}})
		}
	}
	return object{"@type": types + "admin.v3.ClustersConfigDump", "version_info": "1", "dynamic_active_clusters": out}
}

func (s shop) rule(route, rule int) string {
	return fmt.Sprintf("httproute/team-%d/shop-%d/rule/%d", route%namespaces, route, rule)
}

// filter is the one that the translator makes for the users of a policy.
func (s shop) filter(route int) string {
	return fmt.Sprintf("envoy.filters.http.basic_auth/securitypolicy/team-%d/shop-%d", route%namespaces, route)
}

func (s shop) listeners() object {
	filters := []any{object{"name": "envoy.filters.http.cors",
		"typed_config": object{"@type": types + "extensions.filters.http.cors.v3.Cors"}}}
	for i := range s.routes {
		if s.has(i) {
			filters = append(filters, object{"name": s.filter(i), "disabled": true,
				"typed_config": object{"@type": types + "extensions.filters.http.basic_auth.v3.BasicAuth",
					"users": object{"inline_bytes": "W3JlZGFjdGVkXQ=="}}})
		}
	}
	filters = append(filters, object{"name": "envoy.filters.http.router",
		"typed_config": object{"@type": types + "extensions.filters.http.router.v3.Router"}})
	return object{"@type": types + "admin.v3.ListenersConfigDump", "version_info": "1",
		"dynamic_listeners": []any{object{"name": "infra/eg/http", "active_state": object{"version_info": "1",
			"listener": object{
				"@type": types + "config.listener.v3.Listener", "name": "infra/eg/http", "address": object{
					"socket_address": object{"address": "0.0.0.0", "port_value": 10080}},
				"default_filter_chain": object{
					"filters": []any{object{"name": "envoy.filters.network.http_connection_manager",
						"typed_config": object{
							"@type": types +
								"extensions.filters.network.http_connection_manager.v3.HttpConnectionManager",
							"stat_prefix": "http-10080", "rds": object{"route_config_name": "infra/eg/http"},
							"http_filters": filters}}}}}}}}}
}

func (s shop) routeConfigs() object {
	var hosts []any
	for i := range s.routes {
		name := fmt.Sprintf("shop-%d_example_com", i)
		var routes []any
		for r := range s.rules {
			route := object{"name": fmt.Sprintf("%s/match/0/%s", s.rule(i, r), name),
				"match": object{"path_separated_prefix": fmt.Sprintf("/v%d", r)},
				"route": object{"cluster": s.rule(i, r), "timeout": "10s", "idle_timeout": "3600s",
					"upgrade_configs": []any{object{"upgrade_type": "websocket"}}},
				"metadata": resource("HTTPRoute", fmt.Sprintf("team-%d", i%namespaces), fmt.Sprintf("shop-%d", i),
					fmt.Sprintf("v%d", r))}
			if s.has(i) {
				route["typed_per_filter_config"] = object{
					"envoy.filters.http.cors": object{"@type": types + "extensions.filters.http.cors.v3.CorsPolicy",
						"allow_methods": "GET, POST", "allow_credentials": false,
						"allow_origin_string_match": []any{object{"exact": fmt.Sprintf("https://www-%d.example.com",
							i)}}},
					s.filter(i): object{"@type": types + "extensions.filters.http.basic_auth.v3.BasicAuthPerRoute",
						"users": object{"inline_bytes": "W3JlZGFjdGVkXQ=="}},
				}
			}
			routes = append(routes, route)
		}
		hosts = append(hosts, object{"name": "infra/eg/http/" + name,
			"domains": []string{fmt.Sprintf("shop-%d.example.com", i)}, "routes": routes,
			"metadata": resource("Gateway", "infra", "eg", "http")})
	}
	return object{"@type": types + "admin.v3.RoutesConfigDump",
		"dynamic_route_configs": []any{object{"version_info": "1",
			"route_config": object{"@type": types + "config.route.v3.RouteConfiguration", "name": "infra/eg/http",
				"virtual_hosts": hosts}}}}
}

// resource is how the translator notes what something is made of.
func resource(kind, namespace, name, section string) object {
	return object{"filter_metadata": object{"envoy-gateway": object{"resources": []any{object{"kind": kind,
		"namespace": namespace, "name": name, "sectionName": section}}}}}
}
