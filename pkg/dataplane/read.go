package dataplane

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// MostBytes is how large a dump may be, unpacked.
const MostBytes = 1 << 30

// ErrNoDump is what reading comes to where a text is JSON but no dump.
var ErrNoDump = errors.New("this is no config_dump: it has no `configs`")

// Read reads a dump: what the admin port of a proxy answers, or what a program wrapped around several of them, and packed with gzip or not.
// Every proxy is called by the name, and by its keys where there are several.
func Read(name string, data []byte) ([]*Proxy, error) {
	data, err := plain(data)
	if err != nil {
		return nil, err
	}
	var doc any
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("this is no JSON: %w", err)
	}
	out := dumps(name, doc, 0)
	if len(out) == 0 {
		return nil, ErrNoDump
	}
	return out, nil
}

func plain(data []byte) ([]byte, error) {
	if !bytes.HasPrefix(data, []byte{0x1f, 0x8b}) {
		return bytes.TrimPrefix(data, []byte("\ufeff")), nil
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	out, err := io.ReadAll(io.LimitReader(r, MostBytes+1))
	if err != nil {
		return nil, fmt.Errorf("unpacking: %w", err)
	}
	if len(out) > MostBytes {
		return nil, errors.New("unpacked it is larger than 1 GiB")
	}
	return out, nil
}

// deepest is how many maps may be around a dump: {xds: {namespace: {pod: dump}}}.
const deepest = 3

func dumps(name string, v any, depth int) []*Proxy {
	m, ok := v.(map[string]any)
	if !ok {
		return nil
	}
	if sections, ok := m["configs"].([]any); ok {
		return []*Proxy{read(name, sections)}
	}
	if depth == deepest {
		return nil
	}
	var out []*Proxy
	for _, key := range slices.Sorted(maps.Keys(m)) {
		out = append(out, dumps(strings.TrimSuffix(name+" "+key, " "), m[key], depth+1)...)
	}
	return out
}

// reader reads the sections of one dump.
type reader struct {
	*Proxy
	configs map[string]*RouteConfig
	order   []string
}

func read(name string, sections []any) *Proxy {
	r := &reader{Proxy: &Proxy{Name: name, Clusters: map[string]map[string]any{}}, configs: map[string]*RouteConfig{}}
	for _, s := range sections {
		switch TypeOf(s) {
		case "BootstrapConfigDump":
			r.ID, r.Cluster, r.Metadata = Text(s, "bootstrap", "node", "id"), Text(s, "bootstrap", "node", "cluster"), Map(s, "bootstrap", "node", "metadata")
		case "ListenersConfigDump":
			r.HasListeners, r.Versions.Listeners = true, Text(s, "version_info")
			r.listeners(s)
		case "RoutesConfigDump":
			r.HasRoutes = true
			r.routes(s)
		case "ClustersConfigDump":
			r.HasClusters, r.Versions.Clusters = true, Text(s, "version_info")
			r.clusters(s)
		}
	}
	r.tie()
	return r.Proxy
}

func (r *reader) listeners(section any) {
	for _, key := range []string{"static_listeners", "dynamic_listeners"} {
		for _, l := range List(section, key) {
			name, inUse := Text(l, "name"), Map(l, "listener")
			if key == "dynamic_listeners" {
				inUse = Map(l, "active_state", "listener")
				r.refused("listener", name, Get(l, "error_state"))
				if inUse == nil && Has(l, "warming_state") {
					r.warming("listener", name)
				}
			}
			if inUse != nil {
				r.Listeners = append(r.Listeners, r.listener(inUse))
			}
		}
	}
}

func (r *reader) listener(config map[string]any) *Listener {
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
				l.Managers = append(l.Managers, r.manager(l, Text(chain, "name"), config))
			}
		}
	}
	return l
}

func (r *reader) manager(l *Listener, chain string, config map[string]any) *Manager {
	m := &Manager{Listener: l, Chain: chain, Config: config, named: Text(config, "rds", "route_config_name"), byName: map[string]*Filter{}}
	for _, f := range List(config, "http_filters") {
		m.add(f, false)
		if c := Map(f, "typed_config"); TypeOf(c) == "Router" {
			for _, up := range List(c, "upstream_http_filters") {
				m.add(up, true)
			}
		}
	}
	if inline := Map(config, "route_config"); inline != nil {
		m.Routes = routeConfig(inline)
		m.Routes.Managers = append(m.Routes.Managers, m)
		r.Configs = append(r.Configs, m.Routes)
	}
	return m
}

func (m *Manager) add(v any, upstream bool) {
	f := &Filter{Name: Text(v, "name"), Disabled: True(v, "disabled"), Upstream: upstream, Config: through(Map(v, "typed_config"))}
	m.Filters = append(m.Filters, f)
	if m.byName[f.Name] == nil {
		m.byName[f.Name] = f
	}
}

// through is the filter that one decides about which runs under conditions.
func through(config map[string]any) map[string]any {
	if TypeOf(config) != "ExtensionWithMatcher" {
		return config
	}
	if inner := executed(Get(config, "xds_matcher")); inner != nil {
		return inner
	}
	return config
}

// executed is the first filter that a matcher has run.
func executed(v any) map[string]any {
	switch v := v.(type) {
	case map[string]any:
		if TypeOf(v) == "ExecuteFilterAction" {
			return Map(v, "typed_config", "typed_config")
		}
		for _, key := range slices.Sorted(maps.Keys(v)) {
			if found := executed(v[key]); found != nil {
				return found
			}
		}
	case []any:
		for _, x := range v {
			if found := executed(x); found != nil {
				return found
			}
		}
	}
	return nil
}
