package dataplane

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Proxy is what one proxy serves with: what it was given and has taken.
type Proxy struct {
	Name     string // where the dump is from: its file, and its place in there
	ID       string // of the node
	Cluster  string // of the node
	Metadata map[string]any

	Listeners []*Listener
	Configs   []*RouteConfig // that a listener names, each once
	Clusters  map[string]map[string]any
	Versions  Versions
	Problems  []model.Problem // updates that were refused or are not in use yet

	HasListeners, HasRoutes, HasClusters bool // the dump has the section
}

// Versions are those of what the proxy runs with, as its control plane names them.
type Versions struct {
	Listeners string `json:"listeners,omitempty"` // of the listeners
	Routes    string `json:"routes,omitempty"`    // of the route configurations
	Clusters  string `json:"clusters,omitempty"`  // of the clusters
}

// Listener is a listener in use.
type Listener struct {
	Name     string
	Port     int
	Managers []*Manager
}

// Manager is an HTTP connection manager of a listener: it has the filters, and names the routes.
type Manager struct {
	Listener      *Listener
	Chain         string // the name of the filter chain
	Filters       []*Filter
	Config        map[string]any
	Routes        *RouteConfig // nil: the dump does not have it
	routesName    string
	filtersByName map[string]*Filter
}

// Filter is one HTTP filter of a manager.
type Filter struct {
	Name     string
	Disabled bool // unless a route says otherwise
	Upstream bool // it runs behind the router
	Config   map[string]any
}

// Filter is the filter of a name; nil if the manager has none.
func (m *Manager) Filter(name string) *Filter { return m.filtersByName[name] }

// RouteConfig is a route configuration.
type RouteConfig struct {
	Name     string
	Config   map[string]any
	Managers []*Manager // that use it
	Hosts    []*VirtualHost
}

// VirtualHost is one of a route configuration.
type VirtualHost struct {
	Name        string
	Domains     []string
	Config      map[string]any
	RouteConfig *RouteConfig
	Routes      []*Route
}

// Route is one route of a virtual host.
type Route struct {
	Name   string
	Config map[string]any
	Host   *VirtualHost
}

// Action is what the route does with a request: route, redirect, direct_response or
// non_forwarding_action, whichever it has.
func (r *Route) Action() string {
	for _, action := range []string{"route", "redirect", "direct_response", "non_forwarding_action", "filter_action"} {
		if Has(r.Config, action) {
			return action
		}
	}
	return ""
}

// FilterMetadata is what an owner noted about a message.
func FilterMetadata(config map[string]any, owner string) map[string]any {
	return Map(Get(config, "metadata", "filter_metadata"), owner)
}

// ServedRoute is a route as one manager serves it.
type ServedRoute struct {
	Proxy   *Proxy
	Manager *Manager
	Route   *Route
}

// FilterUse is how a filter runs on a route.
type FilterUse struct {
	Filter   *Filter
	PerRoute bool           // a route, its virtual host or its route configuration says something about it
	Config   map[string]any // what that says; empty where it only says that the filter runs
	Disabled bool           // it says that the filter does not run
	Level    string         // route, virtualHost or routeConfig: where it is said
}

// FindFilter returns how the filter of a name runs on the route; false: it does not, because it is
// in no chain of the manager or is off.
func (p *ServedRoute) FindFilter(name string) (FilterUse, bool) {
	r := FilterUse{Filter: p.Manager.Filter(name)}
	levels := []struct {
		name   string
		config map[string]any
	}{{"route", p.Route.Config}, {"virtualHost", p.Route.Host.Config}, {"routeConfig", p.Route.Host.RouteConfig.Config}}
	for _, level := range levels {
		v, ok := Map(level.config, "typed_per_filter_config")[name]
		if !ok {
			continue
		}
		r.PerRoute, r.Level = true, level.name
		r.Config, r.Disabled = unwrapFilterConfig(v)
		break
	}
	switch {
	case r.Filter == nil, r.Disabled, r.Filter.Disabled && !r.PerRoute:
		return r, false
	}
	return r, true
}

// unwrapFilterConfig returns what a FilterConfig holds, or the per-route message itself.
func unwrapFilterConfig(v any) (config map[string]any, off bool) {
	m, _ := v.(map[string]any)
	if !strings.HasSuffix(Text(m, "@type"), ".route.v3.FilterConfig") { // filters have messages of that name, too
		return m, IsTrue(m, "disabled")
	}
	return Map(m, "config"), IsTrue(m, "disabled")
}

// FilterNames are the names of the filters that the route, its virtual host and its route
// configuration say something about.
func (p *ServedRoute) FilterNames() []string {
	var out []string
	for _, config := range []map[string]any{p.Route.Config, p.Route.Host.Config, p.Route.Host.RouteConfig.Config} {
		for name := range Map(config, "typed_per_filter_config") {
			out = append(out, name)
		}
	}
	return out
}
