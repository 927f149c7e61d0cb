package envoygateway

import (
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// clusters are those that the route sends to.
func clusters(c *audit.Case) []map[string]any {
	if !c.Proxy.HasClusters {
		c.Doubt("the dump has no clusters section")
		return nil
	}
	names := []string{dataplane.Text(action(c), "cluster")}
	for _, w := range dataplane.List(action(c), "weighted_clusters", "clusters") {
		names = append(names, dataplane.Text(w, "name"))
	}
	var out []map[string]any
	for _, name := range names {
		if cluster := c.Proxy.Clusters[name]; cluster != nil {
			out = append(out, cluster)
		}
	}
	if len(out) == 0 {
		c.Doubt("the dump does not have the cluster of the route")
	}
	return out
}

// ofClusters reads one thing of all clusters of the route. If they do not agree, it is not judged.
func ofClusters(read func(cluster map[string]any) any) func(*audit.Case) any {
	return func(c *audit.Case) any {
		var out any
		for i, cluster := range clusters(c) {
			v := read(cluster)
			if i > 0 && !reflect.DeepEqual(v, out) {
				c.Doubt("the clusters of the route differ")
			}
			out = v
		}
		return out
	}
}

func clusterDuration(field string) func(*audit.Case) any {
	return ofClusters(func(cluster map[string]any) any {
		if d, ok := dataplane.Seconds(cluster, field); ok {
			return d.String()
		}
		return nil
	})
}

// breakerDefaults are the proxy's limits where none is written.
var breakerDefaults = audit.Value{"maxConnections": 1024.0, "maxPendingRequests": 1024.0, "maxParallelRequests": 1024.0, "maxParallelRetries": 3.0}

// breakers are the limits, as the policy and the proxy call them.
var breakers = map[string]string{"maxConnections": "max_connections", "maxPendingRequests": "max_pending_requests", "maxParallelRequests": "max_requests", "maxParallelRetries": "max_retries"}

func wantBreaker(c *audit.Case, v any) any {
	return forwarding(func(_ *audit.Case, v any) any {
		out := audit.Copier{Value: audit.Value{}}
		for name := range breakers {
			out.Number(name, dataplane.Get(v, name))
		}
		return out.Value
	})(c, v)
}

func foundBreaker(c *audit.Case) any {
	return ofClusters(func(cluster map[string]any) any {
		thresholds := dataplane.List(cluster, "circuit_breakers", "thresholds")
		if len(thresholds) == 0 {
			return nil
		}
		out := audit.Copier{Value: maps.Clone(breakerDefaults)}
		for name, field := range breakers {
			out.Number(name, dataplane.Get(thresholds[0], field))
		}
		return out.Value
	})(c)
}

func wantActive(c *audit.Case, v any) any {
	return forwarding(func(_ *audit.Case, v any) any {
		out := audit.Copier{Value: audit.Value{}}
		out.Duration("timeout", dataplane.Get(v, "timeout"))
		out.Duration("interval", dataplane.Get(v, "interval"))
		out.Number("unhealthyThreshold", dataplane.Get(v, "unhealthyThreshold"))
		out.Number("healthyThreshold", dataplane.Get(v, "healthyThreshold"))
		return out.Value
	})(c, v)
}

func foundActive(c *audit.Case) any {
	return ofClusters(func(cluster map[string]any) any {
		checks := dataplane.List(cluster, "health_checks")
		if len(checks) == 0 {
			return nil
		}
		out := audit.Copier{Value: audit.Value{}}
		out.Duration("timeout", dataplane.Get(checks[0], "timeout"))
		out.Duration("interval", dataplane.Get(checks[0], "interval"))
		out.Number("unhealthyThreshold", dataplane.Get(checks[0], "unhealthy_threshold"))
		out.Number("healthyThreshold", dataplane.Get(checks[0], "healthy_threshold"))
		return out.Value
	})(c)
}

func wantPassive(c *audit.Case, v any) any {
	return forwarding(func(_ *audit.Case, v any) any {
		out := audit.Copier{Value: audit.Value{}}
		out.Duration("interval", dataplane.Get(v, "interval"))
		out.Duration("baseEjectionTime", dataplane.Get(v, "baseEjectionTime"))
		out.Number("consecutive5XxErrors", dataplane.Get(v, "consecutive5XxErrors"))
		out.Number("maxEjectionPercent", dataplane.Get(v, "maxEjectionPercent"))
		return out.Value
	})(c, v)
}

func foundPassive(c *audit.Case) any {
	return ofClusters(func(cluster map[string]any) any {
		d := dataplane.Map(cluster, "outlier_detection")
		if d == nil {
			return nil
		}
		out := audit.Copier{Value: audit.Value{}}
		out.Duration("interval", dataplane.Get(d, "interval"))
		out.Duration("baseEjectionTime", dataplane.Get(d, "base_ejection_time"))
		out.Number("consecutive5XxErrors", dataplane.Get(d, "consecutive_5xx"))
		out.Number("maxEjectionPercent", dataplane.Get(d, "max_ejection_percent"))
		return out.Value
	})(c)
}

// balancers are the types, and what the proxy calls them.
var balancers = map[string]string{"LeastRequest": "least_request", "RoundRobin": "round_robin", "Random": "random", "ConsistentHash": "maglev"}

func wantBalancer(c *audit.Case, v any) any {
	return forwarding(func(c *audit.Case, v any) any {
		name, known := balancers[dataplane.Text(v, "type")]
		if !known {
			c.Doubt("the type of load balancer is not compared")
			return nil
		}
		return name
	})(c, v)
}

func foundBalancer(c *audit.Case) any {
	for _, cluster := range clusters(c) {
		if dataplane.Has(cluster, "cluster_type") {
			c.Doubt("the cluster balances by itself")
		}
	}
	return ofClusters(func(cluster map[string]any) any { return innermost(dataplane.Get(cluster, "load_balancing_policy")) })(c)
}

// innermost is the policy that others stand around.
func innermost(policy any) any {
	policies := dataplane.List(policy, "policies")
	if len(policies) == 0 {
		return nil
	}
	config := dataplane.Map(policies[0], "typed_extension_config")
	for _, around := range []string{"fallback_policy", "endpoint_picking_policy"} {
		if inner := dataplane.Map(config, "typed_config", around); inner != nil {
			return innermost(inner)
		}
	}
	name := dataplane.Text(config, "name")
	return name[strings.LastIndex(name, ".")+1:]
}

func foundProxyProtocol(c *audit.Case) any {
	return ofClusters(func(cluster map[string]any) any {
		sockets := []any{dataplane.Get(cluster, "transport_socket")}
		for _, m := range dataplane.List(cluster, "transport_socket_matches") {
			sockets = append(sockets, dataplane.Get(m, "transport_socket"))
		}
		for _, s := range sockets {
			if dataplane.TypeOf(dataplane.Get(s, "typed_config")) == "ProxyProtocolUpstreamTransport" {
				return true
			}
		}
		return nil
	})(c)
}

func wantKeepalive(c *audit.Case, v any) any {
	return forwarding(func(_ *audit.Case, v any) any {
		out := audit.Copier{Value: audit.Value{}}
		out.Number("probes", dataplane.Get(v, "probes"))
		out.Duration("idleTime", dataplane.Get(v, "idleTime"))
		out.Duration("interval", dataplane.Get(v, "interval"))
		return out.Value
	})(c, v)
}

func foundKeepalive(c *audit.Case) any {
	return ofClusters(func(cluster map[string]any) any {
		k := dataplane.Map(cluster, "upstream_connection_options", "tcp_keepalive")
		if k == nil {
			return nil
		}
		out := audit.Copier{Value: audit.Value{}}
		out.Number("probes", dataplane.Get(k, "keepalive_probes"))
		for name, field := range map[string]string{"idleTime": "keepalive_time", "interval": "keepalive_interval"} {
			if n, ok := dataplane.Number(k, field); ok {
				out.Duration(name, strconv.Itoa(int(n))+"s")
			}
		}
		return out.Value
	})(c)
}

func foundBufferLimit(c *audit.Case) any {
	return ofClusters(func(cluster map[string]any) any {
		if n, ok := dataplane.Number(cluster, "per_connection_buffer_limit_bytes"); ok {
			return n
		}
		return nil
	})(c)
}
