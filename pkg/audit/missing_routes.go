package audit

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// addMissingRoutes reports the rules on listeners of this proxy's Gateways for which it has no
// route.
func (s *proxyAuditor) addMissingRoutes(found []*foundRule) {
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
	for _, route := range s.routes.AllRoutes() {
		for _, id := range s.routes.rulesOfRoute(route) {
			n := s.graph.Node(id)
			if !gatewayapi.IsHTTPRoute(route.GroupKind()) || s.isDelegating(id) {
				continue
			}
			serving := s.servingListeners(id)
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
					missed = append(missed, s.pathThrough(l))
				}
			}
			if len(missed) > 0 {
				s.addMissingRoute(n, missed)
			}
		}
	}
}

// isDelegating reports whether a rule sends to other routes: proxies have routes for theirs
// instead.
func (s *proxyAuditor) isDelegating(rule topology.NodeID) bool {
	for _, id := range s.graph.Lookup(s.graph.Node(rule).Ref) {
		if s.graph.Node(id).Delegates {
			return true
		}
	}
	return slices.ContainsFunc(s.graph.BackendRefs(rule), func(b topology.BackendRef) bool {
		return gatewayapi.IsHTTPRoute(b.Ref.GroupKind())
	})
}

// servingListeners returns the listeners that serve a rule beyond doubt.
func (s *proxyAuditor) servingListeners(rule topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, l := range s.routes.ServingListeners(rule) {
		if facts := s.graph.Listener(l); facts.Valid && !facts.ValidityUnknown && facts.WithoutCertificate == "" {
			out = append(out, l)
		}
	}
	return out
}

func (s *proxyAuditor) addMissingRoute(n *topology.Node, paths []view.Path) {
	item := Item{Verdict: RouteMissing, Target: &n.Ref, Paths: paths, Setting: "route", Compared: ByPresence,
		Message: "the proxy has no route for the rule"}
	if why, ok := s.uncertain[n.Ref.WithoutSection()]; ok {
		item.Verdict, item.Message = NotJudged, why
	}
	if s.possibleRoutes[n.Ref.WithoutSection()] {
		item.Verdict, item.Message = NotJudged, "the proxy has a route that may be of this rule, or of another one"
	}
	s.addItem(item)
}

// addUnknownFilters reports filters that nothing explains.
func (s *proxyAuditor) addUnknownFilters() {
	for _, l := range s.proxy.Listeners {
		if s.mapping.IsOwn(l.Name, "") {
			continue
		}
		seen := map[string]bool{}
		for _, m := range l.Managers {
			for _, f := range m.Filters {
				if seen[f.Name] || hasBeginning(f.Name, s.mapping.FilterNames) {
					continue
				}
				seen[f.Name] = true
				s.addUnknownFilter(l, m, f)
			}
		}
	}
}

func (s *proxyAuditor) addUnknownFilter(l *dataplane.Listener, m *dataplane.Manager, f *dataplane.Filter) {
	item := Item{Verdict: Unexplained, Setting: f.Name, XDS: &XDS{Listener: l.Name, Filter: f.Name},
		Message: "the proxy runs a filter that nothing explains"}
	if f.Disabled {
		if !isFilterUsed(m, f.Name) {
			return // it never runs
		}
	}
	if hasBeginning(f.Name, s.mapping.UnjudgedFilters) {
		item.Verdict, item.Message = NotJudged, "the filter may be anybody's"
	}
	s.addItem(item)
}

// isFilterUsed reports whether any route says something about a filter.
func isFilterUsed(m *dataplane.Manager, filter string) bool {
	if m.Routes == nil {
		return false
	}
	for _, h := range m.Routes.Hosts {
		for _, r := range h.Routes {
			p := dataplane.ServedRoute{Manager: m, Route: r}
			if _, on := p.FindFilter(filter); on {
				return true
			}
		}
	}
	return false
}

// hasBeginning reports whether a name is one of the given, or goes on behind one of them with a
// part of its own. The empty one is any name.
func hasBeginning(name string, beginnings []string) bool {
	return slices.ContainsFunc(beginnings, func(b string) bool {
		rest, ok := strings.CutPrefix(name, b)
		return ok && (b == "" || rest == "" || strings.ContainsRune("./", rune(b[len(b)-1])) ||
			strings.ContainsRune("./", rune(rest[0])))
	})
}

// ProxyAudit is the audit of what holds for everything that a proxy serves.
type ProxyAudit struct{ *proxyAuditor }

// Proxy is the proxy as its dump describes it.
func (w *ProxyAudit) Proxy() *dataplane.Proxy { return w.proxy }

// Gateways are those that the proxy serves.
func (w *ProxyAudit) Gateways() []model.Ref {
	var out []model.Ref
	for _, id := range w.routes.gateways {
		out = append(out, w.graph.Node(id).Ref)
	}
	return out
}

// Effective are the effective policies of a kind at a target.
func (w *ProxyAudit) Effective(target model.Ref, gk model.GroupKind) []*view.EffectivePolicy {
	var out []*view.EffectivePolicy
	for _, e := range w.expected[expectedKey{target, gk.String()}] {
		out = append(out, e.EffectivePolicy)
	}
	return out
}

// IsAsked reports whether a kind is asked about.
func (w *ProxyAudit) IsAsked(gk model.GroupKind) bool { return w.isKindAsked(gk) }

// Uncertainty says why a difference of a policy cannot be judged; "": it can.
func (w *ProxyAudit) Uncertainty(policy model.Ref) string { return w.uncertain[policy] }

// AddItem adds an item, or makes it part of the one of the same target, kind and setting.
func (w *ProxyAudit) AddItem(item Item) { w.mergeItem(item, item.Setting) }
