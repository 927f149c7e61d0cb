package envoygateway

import (
	"maps"
	"reflect"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// findClusters are the clusters that the route sends to.
func findClusters(c *audit.Case) []map[string]any {
	if !c.Proxy.HasClusters {
		c.SetUncertain("the dump has no clusters section")
		return nil
	}
	names := []string{dataplane.Text(routeAction(c), "cluster")}
	for _, w := range dataplane.List(routeAction(c), "weighted_clusters", "clusters") {
		names = append(names, dataplane.Text(w, "name"))
	}
	var out []map[string]any
	for _, name := range names {
		if cluster := c.Proxy.Clusters[name]; cluster != nil {
			out = append(out, cluster)
		}
	}
	if len(out) == 0 {
		c.SetUncertain("the dump does not have the cluster of the route")
	}
	return out
}

// readClusters reads one thing of all clusters of the route. If they do not agree, it is not
// judged.
func readClusters(read func(cluster map[string]any) any) func(*audit.Case) any {
	return func(c *audit.Case) any {
		var out any
		for i, cluster := range findClusters(c) {
			v := read(cluster)
			if i > 0 && !reflect.DeepEqual(v, out) {
				c.SetUncertain("the clusters of the route differ")
			}
			out = v
		}
		return out
	}
}

func clusterDuration(field string) func(*audit.Case) any {
	return readClusters(func(cluster map[string]any) any {
		if d, ok := dataplane.Seconds(cluster, field); ok {
			return d.String()
		}
		return nil
	})
}

// copiedField is one field of a setting, with the name that the policy has for it and that of the
// proxy.
type copiedField struct {
	name, field string
	copy        func(to audit.Copier, name string, v any)
}

// wantFields are the fields as the policy has them.
func wantFields(members []copiedField) func(*audit.Case, any) any {
	return ifForwarding(func(_ *audit.Case, v any) any {
		out := audit.Copier{Value: audit.Value{}}
		for _, m := range members {
			m.copy(out, m.name, dataplane.Get(v, m.name))
		}
		return out.Value
	})
}

// foundFields are the fields in the message of the cluster that has them, if there is one; unset
// are the values that the proxy assumes for missing fields.
func foundFields(members []copiedField, unset audit.Value, message func(cluster map[string]any) (v any,
	there bool)) func(*audit.Case) any {
	return readClusters(func(cluster map[string]any) any {
		v, there := message(cluster)
		if !there {
			return nil
		}
		out := audit.Copier{Value: audit.Value{}}
		maps.Copy(out.Value, unset)
		for _, m := range members {
			m.copy(out, m.name, dataplane.Get(v, m.field))
		}
		return out.Value
	})
}

// readFirst is the first entry of a list of the cluster.
func readFirst(path ...string) func(cluster map[string]any) (any, bool) {
	return func(cluster map[string]any) (any, bool) {
		if list := dataplane.List(cluster, path...); len(list) > 0 {
			return list[0], true
		}
		return nil, false
	}
}

// breakerDefaults are the proxy's limits where none is written.
var breakerDefaults = audit.Value{"maxConnections": 1024.0, "maxPendingRequests": 1024.0,
	"maxParallelRequests": 1024.0, "maxParallelRetries": 3.0}

// The settings of clusters that are fields alone.
var (
	breakerFields = []copiedField{{"maxConnections", "max_connections", audit.Copier.Number},
		{"maxPendingRequests", "max_pending_requests", audit.Copier.Number},
		{"maxParallelRequests", "max_requests", audit.Copier.Number}, {"maxParallelRetries", "max_retries",
			audit.Copier.Number}}
	activeCheckFields = []copiedField{{"timeout", "timeout", audit.Copier.Duration},
		{"interval", "interval", audit.Copier.Duration},
		{"unhealthyThreshold", "unhealthy_threshold", audit.Copier.Number}, {"healthyThreshold", "healthy_threshold",
			audit.Copier.Number}}
	passiveCheckFields = []copiedField{{"interval", "interval", audit.Copier.Duration},
		{"baseEjectionTime", "base_ejection_time", audit.Copier.Duration},
		{"consecutive5XxErrors", "consecutive_5xx", audit.Copier.Number}, {"maxEjectionPercent",
			"max_ejection_percent", audit.Copier.Number}}
	keepaliveFields = []copiedField{{"probes", "keepalive_probes", audit.Copier.Number}, {"idleTime", "keepalive_time",
		audit.Copier.Duration}, {"interval", "keepalive_interval", audit.Copier.Duration}}
)

func readOutlierDetection(cluster map[string]any) (any, bool) {
	d := dataplane.Map(cluster, "outlier_detection")
	return d, d != nil
}

// balancerNames are the types, and what the proxy calls them.
var balancerNames = map[string]string{"LeastRequest": "least_request", "RoundRobin": "round_robin", "Random": "random",
	"ConsistentHash": "maglev"}

func wantBalancer(c *audit.Case, v any) any {
	return ifForwarding(func(c *audit.Case, v any) any {
		name, known := balancerNames[dataplane.Text(v, "type")]
		if !known {
			c.SetUncertain("the type of load balancer is not compared")
			return nil
		}
		return name
	})(c, v)
}

func foundBalancer(c *audit.Case) any {
	for _, cluster := range findClusters(c) {
		if dataplane.Has(cluster, "cluster_type") {
			c.SetUncertain("the cluster balances by itself")
		}
	}
	return readClusters(func(cluster map[string]any) any {
		return findInnermost(dataplane.Get(cluster, "load_balancing_policy"))
	})(c)
}

// findInnermost is the policy inside all others that wrap it.
func findInnermost(policy any) any {
	policies := dataplane.List(policy, "policies")
	if len(policies) == 0 {
		return nil
	}
	config := dataplane.Map(policies[0], "typed_extension_config")
	for _, around := range []string{"fallback_policy", "endpoint_picking_policy"} {
		if inner := dataplane.Map(config, "typed_config", around); inner != nil {
			return findInnermost(inner)
		}
	}
	name := dataplane.Text(config, "name")
	return name[strings.LastIndex(name, ".")+1:]
}

func foundProxyProtocol(c *audit.Case) any {
	return readClusters(func(cluster map[string]any) any {
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

// readTCPKeepalive is the message of the cluster, its times as durations: the proxy has seconds as
// numbers.
func readTCPKeepalive(cluster map[string]any) (any, bool) {
	k := dataplane.Map(cluster, "upstream_connection_options", "tcp_keepalive")
	if k == nil {
		return nil, false
	}
	out := map[string]any{"keepalive_probes": dataplane.Get(k, "keepalive_probes")}
	for _, field := range []string{"keepalive_time", "keepalive_interval"} {
		if n, ok := dataplane.Number(k, field); ok {
			out[field] = strconv.Itoa(int(n)) + "s"
		}
	}
	return out, true
}

func foundBufferLimit(c *audit.Case) any {
	return readClusters(func(cluster map[string]any) any {
		if n, ok := dataplane.Number(cluster, "per_connection_buffer_limit_bytes"); ok {
			return n
		}
		return nil
	})(c)
}
