package dataplane

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// ErrNoDump is the error for a text that is JSON but no dump.
var ErrNoDump = errors.New("this is no config_dump: it has no `configs`")

// ReadDump reads a dump: what the admin port of a proxy answers, or what a program wrapped around
// several of them, and packed with gzip or not. Every proxy is called by the name, and by its keys
// where there are several.
func ReadDump(name string, data []byte) ([]*Proxy, error) {
	data, err := unpackText(data)
	if err != nil {
		return nil, err
	}
	if err := checkExtent(data); err != nil {
		return nil, err
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("this is no JSON: %w", err)
	}
	out := findDumps(name, doc, 0)
	if len(out) == 0 {
		return nil, ErrNoDump
	}
	return out, nil
}

// maxDumpDepth is how many maps may be around a dump: {xds: {namespace: {pod: dump}}}.
const maxDumpDepth = 3

func findDumps(name string, v any, depth int) []*Proxy {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if sections, ok := m["configs"].([]any); ok {
		return []*Proxy{readSections(name, sections)}
	}
	if depth == maxDumpDepth {
		return nil
	}
	var out []*Proxy
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, findDumps(strings.TrimSuffix(name+" "+key, " "), m[key], depth+1)...)
	}
	return out
}

// dumpReader reads the sections of one dump.
type dumpReader struct {
	*Proxy
	configsByName map[string]*RouteConfig
	configNames   []string
}

func readSections(name string, sections []any) *Proxy {
	r := &dumpReader{Proxy: &Proxy{Name: name, Clusters: map[string]map[string]any{}},
		configsByName: map[string]*RouteConfig{}}
	for _, s := range sections {
		switch TypeOf(s) {
		case "BootstrapConfigDump":
			r.ID, r.Cluster, r.Metadata = Text(s, "bootstrap", "node", "id"), Text(s, "bootstrap", "node",
				"cluster"), Map(s, "bootstrap", "node", "metadata")
		case "ListenersConfigDump":
			r.HasListeners, r.Versions.Listeners = true, Text(s, "version_info")
			r.readListeners(s)
		case "RoutesConfigDump":
			r.HasRoutes = true
			r.readRoutes(s)
		case "ClustersConfigDump":
			r.HasClusters, r.Versions.Clusters = true, Text(s, "version_info")
			r.readClusters(s)
		}
	}
	r.linkManagers()
	return r.Proxy
}

func (r *dumpReader) readListeners(section any) {
	for _, key := range []string{"static_listeners", "dynamic_listeners"} {
		for _, l := range List(section, key) {
			name, inUse := Text(l, "name"), Map(l, "listener")
			if key == "dynamic_listeners" {
				inUse = Map(l, "active_state", "listener")
				r.addRejected("listener", name, inUse != nil, Get(l, "error_state"))
				if inUse == nil && Has(l, "warming_state") {
					r.addWarming("listener", name)
				}
			}
			if inUse != nil {
				r.Listeners = append(r.Listeners, r.readListener(inUse))
			}
		}
	}
}

func (r *dumpReader) readListener(config map[string]any) *Listener {
	l := &Listener{Name: Text(config, "name")}
	if port, ok := Number(config, "address", "socket_address", "port_value"); ok {
		l.Port = int(port)
	}
	chains := List(config, "filter_chains")
	if d := Map(config, "default_filter_chain"); d != nil {
		chains = append(slices.Clip(chains), d)
	}
	for _, chain := range chains {
		for _, f := range List(chain, "filters") {
			config := Map(f, "typed_config")
			if TypeOf(config) == "HttpConnectionManager" {
				l.Managers = append(l.Managers, r.readManager(l, Text(chain, "name"), config))
			}
		}
	}
	return l
}

func (r *dumpReader) readManager(l *Listener, chain string, config map[string]any) *Manager {
	m := &Manager{Listener: l, Chain: chain, Config: config, routesName: Text(config, "rds", "route_config_name"),
		filtersByName: map[string]*Filter{}}
	for _, f := range List(config, "http_filters") {
		m.addFilter(f, false)
		if c := Map(f, "typed_config"); TypeOf(c) == "Router" {
			for _, up := range List(c, "upstream_http_filters") {
				m.addFilter(up, true)
			}
		}
	}
	if inline := Map(config, "route_config"); inline != nil {
		m.Routes = newRouteConfig(inline)
		m.Routes.Managers = append(m.Routes.Managers, m)
		r.Configs = append(r.Configs, m.Routes)
	}
	return m
}

func (m *Manager) addFilter(v any, upstream bool) {
	f := &Filter{Name: Text(v, "name"), Disabled: IsTrue(v, "disabled"), Upstream: upstream,
		Config: unwrapMatcher(Map(v, "typed_config"))}
	m.Filters = append(m.Filters, f)
	if m.filtersByName[f.Name] == nil {
		m.filtersByName[f.Name] = f
	}
}

// unwrapMatcher returns the filter that one decides about which runs under conditions.
func unwrapMatcher(config map[string]any) map[string]any {
	if TypeOf(config) != "ExtensionWithMatcher" {
		return config
	}
	if inner := findExecutedFilter(Get(config, "xds_matcher")); inner != nil {
		return inner
	}
	return config
}

// findExecutedFilter returns the first filter that a matcher has run.
func findExecutedFilter(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		if TypeOf(v) == "ExecuteFilterAction" {
			return Map(v, "typed_config", "typed_config")
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if found := findExecutedFilter(v[key]); found != nil {
				return found
			}
		}
	case []any:
		for _, x := range v {
			if found := findExecutedFilter(x); found != nil {
				return found
			}
		}
	}
	return nil
}
