package effective

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// RouteSettings is what a route rule says itself about requests, or a listener about its own, beside
// the policies in force on it.
type RouteSettings struct {
	Target model.Ref      `json:"target"` // the rule, or the listener
	Rules  []RouteSetting `json:"rules"`  // in the order of the route

	paths      []view.Path
	ofListener bool
}

// RouteSetting is a filter, a timeout or the like in a route rule, or a filter of a listener.
type RouteSetting struct {
	// timeouts.request, filters.URLRewrite; of several filters of one type filters.RequestMirror[0]; of a
	// listener, whose filters run in their order, filters.requests[0].ExternalAuth
	Name   string       `json:"name"`
	Value  any          `json:"value"`  // as it is written
	Origin model.Origin `json:"origin"` // where it is written
}

// CollectRouteSettings returns the route settings of the rules among nodes that traffic comes to, in
// the order of the nodes, then those of the listeners among nodes and on the paths to these rules. through
// are nodes that the traffic in question passes; none: it may be any.
func CollectRouteSettings(a *collect.Collector, nodes []topology.NodeID, through ...topology.NodeID) []RouteSettings {
	paths := collect.NewTrafficPaths(a.Resolution)
	var out []RouteSettings
	at := map[model.Ref]int{}
	ways := map[model.Ref][]resolve.Path{}
	var listeners []topology.NodeID
	passes := func(way resolve.Path) bool {
		return !slices.ContainsFunc(through, func(t topology.NodeID) bool {
			return t != topology.None && !slices.Contains(way, t)
		})
	}
	for _, id := range nodes {
		n := a.Resolution.Node(id)
		gk := n.Ref.GroupKind()
		if n.Role == topology.Listener {
			listeners = append(listeners, id)
		}
		if n.Role != topology.Rule || n.Object == nil || n.Delegates || a.Query.Kinds != nil &&
			!slices.Contains(a.Query.Kinds, gk) || !a.HasTraffic(id) {
			continue
		}
		all := slices.DeleteFunc(slices.Clone(paths.To(id)), func(way resolve.Path) bool { return !passes(way) })
		for _, way := range all {
			listeners = append(listeners, way...)
		}
		if !gatewayapi.IsHTTPRoute(gk) {
			continue
		}
		if _, known := at[n.Ref]; !known {
			settings := readRouteSettings(n)
			if len(settings) == 0 {
				continue
			}
			at[n.Ref] = len(out)
			out = append(out, RouteSettings{Target: n.Ref, Rules: settings})
		}
		ways[n.Ref] = append(ways[n.Ref], all...)
	}
	for i := range out {
		out[i].paths = a.ConvertPaths(ways[out[i].Target])
	}
	return append(out, readListenerSettings(a, listeners)...)
}

// readListenerSettings reads the filters of listeners, each once, by their names.
func readListenerSettings(a *collect.Collector, listeners []topology.NodeID) []RouteSettings {
	var out []RouteSettings
	slices.Sort(listeners)
	for _, id := range slices.Compact(listeners) {
		n := a.Resolution.Node(id)
		filters := n.ListenerFilters()
		if len(filters) == 0 || a.Query.Kinds != nil && !slices.Contains(a.Query.Kinds, n.Ref.GroupKind()) {
			continue
		}
		w := routeSettingReader{object: n.Object}
		for i, f := range filters {
			if f.IsObject() {
				w.add("filters.requests["+strconv.Itoa(i)+"]."+f.Text("type"), filterArgument(f),
					append(n.ListenerFilterPath(), strconv.Itoa(i)))
			}
		}
		out = append(out, RouteSettings{Target: n.Ref, Rules: w.out, ofListener: true})
	}
	return out
}

// readRouteSettings reads what a route rule says itself.
func readRouteSettings(n *topology.Node) []RouteSetting {
	at := []string{"spec", "rules", strconv.Itoa(n.Index)}
	rule := n.Object.Body.At(at...)
	w := routeSettingReader{object: n.Object}
	w.addFilters(rule, "filters", at)
	for _, field := range []string{"timeouts", "retry", "sessionPersistence"} {
		for key, value := range rule.Field(field).Fields {
			w.add(field+"."+key, value, append(slices.Clone(at), field, key))
		}
	}
	for i, to := range rule.Field("backendRefs").Items {
		w.addFilters(to, "backendRefs["+to.Text("name")+"].filters", append(slices.Clone(at), "backendRefs",
			strconv.Itoa(i)))
	}
	return w.out
}

// routeSettingReader lists the settings of a rule.
type routeSettingReader struct {
	object *model.Object
	out    []RouteSetting
}

func (w *routeSettingReader) add(name string, value model.Body, at []string) {
	if !value.IsNull() {
		w.out = append(w.out, RouteSetting{Name: name, Value: value, Origin: w.object.OriginOf(at...)})
	}
}

// addFilters adds the filters of a rule or of a backend by their types.
func (w *routeSettingReader) addFilters(of model.Body, name string, at []string) {
	count := map[string]int{}
	for _, f := range of.Field("filters").Items {
		count[f.Text("type")]++
	}
	nth := map[string]int{}
	for i, f := range of.Field("filters").Items {
		if !f.IsObject() {
			continue
		}
		kind := f.Text("type")
		called := name + "." + kind
		if count[kind] > 1 {
			called += "[" + strconv.Itoa(nth[kind]) + "]"
		}
		nth[kind]++
		w.add(called, filterArgument(f), append(slices.Clone(at), "filters", strconv.Itoa(i)))
	}
}

// filterArgument returns the one field of a filter beside its type, or the filter as a whole.
func filterArgument(f model.Body) model.Body {
	out, fields := f, 0
	for key, value := range f.Fields {
		if key != "type" {
			out, fields = value, fields+1
		}
	}
	if fields != 1 {
		return f
	}
	return out
}

// toEffectivePolicy returns the settings of a rule in the shape of what is in force of a policy
// kind, for people. The kind is that of the route.
func (s *RouteSettings) toEffectivePolicy() view.EffectivePolicy {
	object := s.Target.WithoutSection()
	level, why := string(topology.Rule), explain.SetInRoute
	if s.ofListener {
		level, why = string(topology.Listener), explain.SetInListener
	}
	out := view.EffectivePolicy{PolicyKind: object.GroupKind().String(), Target: s.Target, Paths: s.paths,
		Policies: []view.PolicyUse{{Policy: &object, Target: &s.Target, Level: level}}}
	for i := range s.Rules {
		r := &s.Rules[i]
		out.Rules = append(out.Rules, view.Rule{Name: r.Name, Value: r.Value, Why: why,
			Sources: []view.Source{{Policy: &object, Target: &s.Target, Level: level,
				Origin: &r.Origin}}})
	}
	return out
}

// listShownItems returns the items for people, those of routes included.
func (l *EffectivePolicyList) listShownItems(o view.TableOptions) []*view.EffectivePolicy {
	items := make([]*view.EffectivePolicy, 0, len(l.Items)+len(l.Routes))
	for i := range l.Items {
		if item := &l.Items[i]; o.Wide || item.PolicyKind != ingressKind.String() {
			items = append(items, item)
		} else if set := withoutDefaults(item); len(set.Rules) > 0 {
			items = append(items, set)
		}
	}
	for i := range l.Routes {
		item := l.Routes[i].toEffectivePolicy()
		items = append(items, &item)
	}
	return items
}
