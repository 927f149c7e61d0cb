package audit

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// absent reports the rules on listeners of this proxy's Gateways for which it has no route.
func (s *single) absent(found []*foundRule) {
	type port struct {
		rule topology.NodeID
		port int32
	}
	at, anywhere := map[port]bool{}, map[topology.NodeID]bool{}
	exact := map[topology.NodeID]map[topology.NodeID]bool{}
	for _, f := range found {
		if f.listener == topology.None {
			anywhere[f.rule] = true
			continue
		}
		at[port{f.rule, s.graph.Listener(f.listener).Port}] = true
		if exact[f.rule] == nil {
			exact[f.rule] = map[topology.NodeID]bool{}
		}
		exact[f.rule][f.listener] = true
	}
	for _, route := range s.routes.All() {
		for _, id := range s.routes.rulesOf(route) {
			n := s.graph.Node(id)
			if !topology.IsHTTPRoute(route.GroupKind()) || s.handsOver(id) {
				continue
			}
			serving := s.serving(id)
			if len(serving) == 0 {
				continue
			}
			s.rules = append(s.rules, n.Ref)
			if anywhere[id] {
				continue
			}
			var missed []view.Path
			for _, l := range serving {
				if !at[port{id, s.graph.Listener(l).Port}] {
					missed = append(missed, s.path(l))
				}
			}
			if len(missed) > 0 {
				s.missing(n, missed)
			}
		}
	}
}

// handsOver tells whether a rule sends to other routes: proxies have routes for theirs instead.
func (s *single) handsOver(rule topology.NodeID) bool {
	for _, id := range s.graph.Lookup(s.graph.Node(rule).Ref) {
		if s.graph.Node(id).Transit {
			return true
		}
	}
	return slices.ContainsFunc(s.graph.Backends(rule), func(b topology.BackendRef) bool {
		return topology.IsHTTPRoute(b.Ref.GroupKind())
	})
}

// serving are the listeners that serve a rule beyond doubt.
func (s *single) serving(rule topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, l := range s.routes.Serving(rule) {
		if facts := s.graph.Listener(l); facts.Valid && !facts.Doubtful && facts.Bare == "" {
			out = append(out, l)
		}
	}
	return out
}

func (s *single) missing(n *topology.Node, paths []view.Path) {
	item := Item{Verdict: RouteMissing, Target: &n.Ref, Paths: paths, Setting: "route", Compared: ByPresence, Message: "the proxy has no route for the rule"}
	if why, ok := s.doubtful[n.Ref.WithoutSection()]; ok {
		item.Verdict, item.Message = Unjudged, why
	}
	if s.maybe[n.Ref.WithoutSection()] {
		item.Verdict, item.Message = Unjudged, "the proxy has a route that may be of this rule, or of another one"
	}
	s.add(item)
}

// strangers reports filters that nothing explains.
func (s *single) strangers() {
	for _, l := range s.proxy.Listeners {
		if s.mapping.Own(l.Name, "") {
			continue
		}
		seen := map[string]bool{}
		for _, m := range l.Managers {
			for _, f := range m.Filters {
				if seen[f.Name] || beginsWith(f.Name, s.mapping.Filters) {
					continue
				}
				seen[f.Name] = true
				s.filter(l, m, f)
			}
		}
	}
}

func (s *single) filter(l *dataplane.Listener, m *dataplane.Manager, f *dataplane.Filter) {
	item := Item{Verdict: Unexplained, Setting: f.Name, XDS: &XDS{Listener: l.Name, Filter: f.Name}, Message: "the proxy runs a filter that nothing explains"}
	if f.Disabled {
		if !named(m, f.Name) {
			return // it never runs
		}
	}
	if beginsWith(f.Name, s.mapping.Unjudged) {
		item.Verdict, item.Message = Unjudged, "the filter may be anybody's"
	}
	s.add(item)
}

// named tells whether any route says something about a filter.
func named(m *dataplane.Manager, filter string) bool {
	if m.Routes == nil {
		return false
	}
	for _, h := range m.Routes.Hosts {
		for _, r := range h.Routes {
			p := dataplane.Place{Manager: m, Route: r}
			if _, on := p.At(filter); on {
				return true
			}
		}
	}
	return false
}

// beginsWith tells whether a name is one of the given, or goes on behind one of them with a part of its own. The empty one is any name.
func beginsWith(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool {
		rest, ok := strings.CutPrefix(name, b)
		return ok && (b == "" || rest == "" || strings.ContainsRune("./", rune(b[len(b)-1])) || strings.ContainsRune("./", rune(rest[0])))
	})
}

// Whole is the audit of what holds for everything that a proxy serves.
type Whole struct{ *single }

// Dump is the proxy.
func (w *Whole) Dump() *dataplane.Proxy { return w.proxy }

// Gateways are those that it serves.
func (w *Whole) Gateways() []model.Ref {
	var out []model.Ref
	for _, id := range w.routes.gateways {
		out = append(out, w.graph.Node(id).Ref)
	}
	return out
}

// Effective are the effective policies of a kind at a target.
func (w *Whole) Effective(target model.Ref, gk model.GroupKind) []*view.EffectivePolicy {
	var out []*view.EffectivePolicy
	for _, e := range w.expected[expectedKey{target, gk.String()}] {
		out = append(out, e.EffectivePolicy)
	}
	return out
}

// Asked tells whether a kind is asked about.
func (w *Whole) Asked(gk model.GroupKind) bool { return w.asked(gk) }

// Doubts says why a difference of a policy cannot be judged; "": it can.
func (w *Whole) Doubts(policy model.Ref) string { return w.doubtful[policy] }

// Add adds an item, or makes it part of the one of the same target, kind and setting.
func (w *Whole) Add(item Item) { w.gather(item, item.Setting) }
