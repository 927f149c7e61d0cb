package dataplane_test

import (
	"bytes"
	"compress/gzip"
	"errors"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

const hcm = `{"@type": "type.googleapis.com/envoy.extensions.filters.network.http_connection_manager.v3.HttpConnectionManager", "rds": {"route_config_name": "rc"}, "http_filters": [
	{"name": "always"}, {"name": "asleep", "disabled": true}, {"name": "other", "disabled": true},
	{"name": "matched", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.common.matching.v3.ExtensionWithMatcher", "xds_matcher": {"matcher_list": {"matchers": [{"on_match": {"action": {"typed_config":
		{"@type": "type.googleapis.com/envoy.extensions.filters.http.composite.v3.ExecuteFilterAction", "typed_config": {"name": "inner", "typed_config": {"@type": "type.googleapis.com/x.Inner", "value": "yes"}}}}}}]}}}},
	{"name": "router", "typed_config": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router", "upstream_http_filters": [{"name": "upstream"}]}}]}`

func dump(routes, listener string) string {
	return `{"configs": [
	{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "version_info": "3", "dynamic_listeners": [{"name": "l", ` + listener + `}]},
	{"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs": [{"version_info": "4", "route_config": {"name": "rc",
		"typed_per_filter_config": {"always": {"at": "config"}},
		"virtual_hosts": [{"name": "vh", "domains": ["*"], "typed_per_filter_config": {"asleep": {"at": "host"}}, "routes": [` + routes + `]}]}},
		{"route_config": {"name": "nobody names it", "virtual_hosts": [{"name": "x", "routes": [{"name": "x"}]}]}}]}]}`
}

const active = `"active_state": {"listener": {"name": "l", "address": {"socket_address": {"port_value": 80}}, "filter_chains": [{"name": "c", "filters": [{"typed_config": ` + hcm + `}]}]}}`

func read(t *testing.T, text string) *dataplane.Proxy {
	t.Helper()
	all, err := dataplane.ReadDump("dump", []byte(text))
	if err != nil || len(all) != 1 {
		t.Fatalf("%d proxies, error %v", len(all), err)
	}
	return all[0]
}

// TestRunning: the per-route configuration of the nearest level counts as a whole, and decides
// whether a filter runs.
func TestRunning(t *testing.T) {
	filterConfig := `{"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", `
	for name, c := range map[string]struct {
		routes, filter string
		runs           bool
		level          string
	}{
		"a filter of the chain":           {`{"name": "r"}`, "always", true, "routeConfig"},
		"switched off in the chain":       {`{"name": "r"}`, "other", false, ""},
		"switched on by the virtual host": {`{"name": "r"}`, "asleep", true, "virtualHost"},
		"switched off by the route again": {`{"name": "r", "typed_per_filter_config": {"asleep": ` +
			filterConfig + `"disabled": true}}}`, "asleep", false, "route"},
		"an empty configuration switches on": {`{"name": "r", "typed_per_filter_config": {"other": ` +
			filterConfig + `"config": {}}}}`, "other", true, "route"},
		"in JSON's names": {`{"name": "r", "typedPerFilterConfig": {"other": {}}}`,
			"other", true, "route"},
		"a message that says itself that it is off": {`{"name": "r", "typed_per_filter_config": {"always": {"disabled": true}}}`, "always", false, "route"},
		"configured, but in no chain": {`{"name": "r", "typed_per_filter_config": {"ghost": {}}}`,
			"ghost", false, "route"},
		"behind the router":                           {`{"name": "r"}`, "upstream", true, ""},
		"one that runs under conditions is looked at": {`{"name": "r"}`, "matched", true, ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := read(t, dump(c.routes, active))
			if len(p.Configs) != 1 || len(p.Configs[0].Managers) != 1 {
				t.Fatalf("route configurations in use: %d", len(p.Configs))
			}
			place := dataplane.ServedRoute{Proxy: p, Manager: p.Configs[0].Managers[0],
				Route: p.Configs[0].Hosts[0].Routes[0]}
			r, runs := place.FindFilter(c.filter)
			if runs != c.runs || r.Level != c.level {
				t.Errorf("it runs: %t, as the %s says", runs, r.Level)
			}
			if c.filter == "matched" && dataplane.Text(r.Filter.Config, "value") != "yes" {
				t.Errorf("the inner filter is %v", r.Filter.Config)
			}
		})
	}
}

// TestStates: only what is in use serves, and what is not is a problem.
func TestStates(t *testing.T) {
	p := read(t, dump(`{"name": "r"}`, strings.Replace(active, "active_state", "warming_state", 1)))
	if len(p.Listeners) != 0 || len(p.Configs) != 0 || len(p.Problems) != 1 || p.Problems[0].Code != dataplane.Warming {
		t.Errorf("a warming listener serves: %v, %v", p.Listeners, p.Problems)
	}
	p = read(t,
		dump(`{"name": "r"}`,
			active+
				`, "error_state": {"version_info": "5", "details": "the listener's 'key: hunter2' isn't \"hunter2\" in {\"key\": \"hunter2\"} `+strings.Repeat("hunter2", 20)+`"}`))
	if len(p.Listeners) != 1 || len(p.Problems) != 1 || p.Problems[0].Code != dataplane.Rejected ||
		!strings.Contains(p.Problems[0].Message, "(version 5): the listener's … isn't … in …") {
		t.Errorf("a refused update: %v, %v", p.Listeners, p.Problems)
	}
	if strings.Contains(p.Problems[0].Message, "hunter2") {
		t.Errorf("what the proxy quotes is told: %s", p.Problems[0].Message)
	}
	if p.Versions != (dataplane.Versions{Listeners: "3", Routes: "4"}) {
		t.Errorf("versions %v", p.Versions)
	}
}

// TestNothingBefore: a proxy that refused the first it got goes on with nothing, and of routes that
// it refused it says nothing but that they are not there.
func TestNothingBefore(t *testing.T) {
	p := read(t, dump(`{"name": "r"}`, `"error_state": {"details": "no"}`))
	if len(p.Listeners) != 0 || len(p.Problems) != 1 || p.Problems[0].Code != dataplane.Rejected ||
		p.Problems[0].Message != "dump refused listener l and has none of that name: no" {
		t.Errorf("a refused listener: %v, %v", p.Listeners, p.Problems)
	}
	p = read(t, dump(`{"name": "r"}`, strings.Replace(active, `"route_config_name": "rc"`, `"route_config_name": "other"`, 1)))
	if len(p.Configs) != 0 || len(p.Problems) != 1 || p.Problems[0].Code != dataplane.Warming ||
		!strings.HasPrefix(p.Problems[0].Message, "dump has no route configuration other, which listener l names") {
		t.Errorf("a listener without routes: %v, %v", p.Configs, p.Problems)
	}
}

// TestRead: dumps come packed, wrapped and broken.
func TestRead(t *testing.T) {
	one := dump(`{"name": "r"}`, active)
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write([]byte(one)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	read(t, packed.String())
	many, err := dataplane.ReadDump("all", []byte(`{"ns": {"pod-b": `+one+`, "pod-a": `+one+`}}`))
	if err != nil || len(many) != 2 || many[0].Name != "all ns pod-a" {
		t.Errorf("wrapped: %v, error %v", many, err)
	}
	for _, text := range []string{`{}`, `[]`, `{"a": {"b": {"c": {"d": ` + one + `}}}}`} {
		if _, err := dataplane.ReadDump("x", []byte(text)); !errors.Is(err, dataplane.ErrNoDump) {
			t.Errorf("%.20s: error %v", text, err)
		}
	}
	for _, text := range []string{`nonsense`, packed.String()[:packed.Len()/2]} {
		if _, err := dataplane.ReadDump("x", []byte(text)); err == nil {
			t.Errorf("%.10q is read", text)
		}
	}
	for _, text := range []string{`{"configs": [null, 1, {"@type": 7}, {"@type": "x.ListenersConfigDump", "dynamic_listeners": [1, {"active_state": []}]}, {"@type": "x.RoutesConfigDump", "static_route_configs": {"a": 1}}]}`} {
		read(t, text) // of other types than expected: not there
	}
}
