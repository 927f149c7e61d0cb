package audit

import (
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// Input is what an audit is about.
type Input struct {
	Resolution *resolve.Resolution
	Effective  *effective.EffectivePolicyList // of everything
	Proxies    []*dataplane.Proxy
	Mappings   []Mapping
	Kinds      []model.GroupKind           // that are asked about; nil: all
	In         func(namespace string) bool // of targets; nil: every one
	Problems   []model.Problem             // of getting the dumps
}

// Run holds what should be in force against what the proxies do.
func Run(in Input) *Report {
	out := &Report{Items: []Item{}, Matched: []Match{}}
	a := &auditor{Input: in, graph: in.Resolution.Graph, expected: expectationsByTarget(in.Effective),
		uncertain: findUncertain(in.Effective.Problems)}
	out.proxyProblems = slices.Clip(in.Problems)
	rules := map[model.Ref]bool{}
	for _, p := range in.Proxies {
		one := a.auditProxy(p)
		out.proxyProblems = append(append(out.proxyProblems, p.Problems...), one.problems...)
		out.Proxies = append(out.Proxies, one.description)
		if len(in.Proxies) > 1 {
			for i := range one.items {
				one.items[i].Proxy = p.Name
			}
		}
		out.Items = append(out.Items, slices.DeleteFunc(one.items, func(i Item) bool {
			return i.Target != nil &&
				!in.isTargetAsked(*i.Target)
		})...)
		out.Matched = append(out.Matched, slices.DeleteFunc(one.matched,
			func(m Match) bool { return !in.isTargetAsked(m.Target) })...)
		for _, ref := range one.rules {
			if in.isTargetAsked(ref) {
				rules[ref] = true
			}
		}
	}
	out.Drift = findDrift(out.Proxies, in.Proxies)
	out.sortAndCount(rules)
	out.Finish("DataplaneAudit", slices.Concat(in.Effective.Problems, out.proxyProblems))
	if len(out.Proxies) == 1 {
		out.Proxy, out.Proxies = &out.Proxies[0], nil
	}
	return out
}

// auditor holds what all proxies share.
type auditor struct {
	Input
	graph     *topology.Graph
	expected  map[expectedKey][]*expectation
	uncertain map[model.Ref]string
}

// proxyAuditor is the audit of one proxy.
type proxyAuditor struct {
	*auditor
	proxy          *dataplane.Proxy
	mapping        *Mapping
	description    Proxy
	routes         *Routes
	possibleRoutes map[model.Ref]bool // routes of which a route of the proxy may be
	kinds          []kindFields
	patchedBy      string // why no difference can be judged
	items          []Item
	matched        []Match
	problems       []model.Problem
	rules          []model.Ref
	itemIndex      map[itemKey]int
}

// auditProxy audits one proxy. One that nobody knows is a problem.
func (a *auditor) auditProxy(p *dataplane.Proxy) *proxyAuditor {
	s := &proxyAuditor{auditor: a, proxy: p, possibleRoutes: map[model.Ref]bool{}, description: Proxy{Name: p.Name,
		Gateways: []string{}, Node: p.ID, Versions: p.Versions}}
	for i := range a.Mappings {
		if gateways := a.Mappings[i].Gateways(p); gateways != nil {
			s.mapping, s.description.Implementation, s.description.Gateways = &a.Mappings[i],
				a.Mappings[i].Vendor, gateways
			break
		}
	}
	if s.mapping == nil {
		s.addNotEvaluated("%s does not tell whose proxy it is: node %q, cluster %q", p.Name, p.ID, p.Cluster)
		return s
	}
	s.routes, s.kinds = newRoutes(a.graph), groupByKind(s.mapping)
	for _, name := range s.description.Gateways {
		namespace, gateway, _ := strings.Cut(name, "/")
		found := a.graph.Lookup(model.Ref{Group: gatewayv1.GroupName, Kind: "Gateway", Namespace: namespace,
			Name: gateway})
		for _, id := range found {
			if a.graph.Node(id).Object != nil {
				s.routes.gateways = append(s.routes.gateways, id)
			}
		}
	}
	switch {
	case len(s.routes.gateways) == 0:
		s.addNotEvaluated("%s is a proxy of gateway/%s, which is not in the input", p.Name,
			strings.Join(s.description.Gateways, ", "))
		return s
	case !p.HasListeners:
		s.addNotEvaluated("%s has no listeners section, so that nothing is known to be served", p.Name)
		return s
	case !p.HasRoutes:
		s.addNotEvaluated("%s has no routes section, so that routes cannot be compared", p.Name)
	}
	s.patchedBy = s.findPatchingPolicy()
	s.compareAll()
	return s
}

func (s *proxyAuditor) addNotEvaluated(format string, args ...any) {
	s.problems = append(s.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf(format, args...),
		Hint:    "ask the proxy for the whole of /config_dump"})
}

// findPatchingPolicy says which policy may have changed anything in the proxy.
func (s *proxyAuditor) findPatchingPolicy() string {
	for _, gk := range s.mapping.PatchingKinds {
		for key := range s.expected {
			if key.kind == gk.String() {
				return gk.Kind + " may change anything in the proxy"
			}
		}
		for range s.Resolution.Snapshot.OfKind(gk) {
			return gk.Kind + " may change anything in the proxy"
		}
	}
	return ""
}

// compareAll compares everything that the proxy serves.
func (s *proxyAuditor) compareAll() {
	found := s.findServedRules()
	seen := map[topology.NodeID]bool{}
	for _, f := range found {
		seen[f.rule] = true
		s.compareRule(f)
	}
	if s.proxy.HasRoutes {
		s.addMissingRoutes(found)
	}
	s.addUnknownFilters()
	if s.mapping.CompareProxy != nil {
		s.mapping.CompareProxy(&ProxyAudit{proxyAuditor: s})
	}
}

// foundRule is a rule with its routes at one listener.
type foundRule struct {
	rule     topology.NodeID
	listener topology.NodeID
	routes   []dataplane.ServedRoute
}

// findServedRules returns the rules whose routes the proxy has, in the order in which it has them.
// What has no identity is reported.
func (s *proxyAuditor) findServedRules() []*foundRule {
	type key struct {
		rule, listener topology.NodeID
	}
	byKey := map[key]*foundRule{}
	var out []*foundRule
	unknown := map[*dataplane.Route]bool{}
	for _, rc := range s.proxy.Configs {
		for _, m := range rc.Managers {
			for _, host := range rc.Hosts {
				for _, route := range host.Routes {
					if s.mapping.IsOwn(m.Listener.Name, route.Name) {
						continue
					}
					place := dataplane.ServedRoute{Proxy: s.proxy, Manager: m, Route: route}
					id := s.mapping.Identify(s.routes, &place)
					if !id.Known {
						for _, ref := range id.PossibleRoutes {
							s.possibleRoutes[ref] = true
						}
						if !unknown[route] && !isTLSOnly(host) {
							unknown[route] = true
							s.addUnknownRoute(&place, id)
						}
						continue
					}
					k := key{id.Rule, id.Listener}
					f := byKey[k]
					if f == nil {
						f = &foundRule{rule: id.Rule, listener: id.Listener}
						byKey[k] = f
						out = append(out, f)
					}
					f.routes = append(f.routes, place)
				}
			}
		}
	}
	for _, f := range out {
		s.addMatch(f)
	}
	return out
}

// isTLSOnly reports whether a virtual host does nothing but send to HTTPS.
func isTLSOnly(host *dataplane.VirtualHost) bool {
	word := dataplane.Text(host.Config, "require_tls")
	return word != "" && word != "NONE"
}

func (s *proxyAuditor) addMatch(f *foundRule) {
	m := Match{Target: s.graph.Node(f.rule).Ref, RouteConfig: f.routes[0].Route.Host.RouteConfig.Name}
	if f.listener != topology.None {
		p := s.pathThrough(f.listener)
		m.Listener, m.ListenerSet = p.Listener, p.ListenerSet
	}
	counted := map[*dataplane.Route]bool{}
	for _, p := range f.routes {
		counted[p.Route] = true
	}
	m.Routes = len(counted)
	s.matched = append(s.matched, m)
}

// pathThrough returns how traffic comes through a listener of the proxy.
func (s *proxyAuditor) pathThrough(listener topology.NodeID) view.Path {
	p := view.Path{Gateway: s.description.Gateways[0]}
	if listener == topology.None {
		return p
	}
	n := s.graph.Node(listener)
	p.Listener = n.Ref.Section
	if gatewayapi.IsListenerSet(n.Ref.GroupKind()) {
		p.ListenerSet = n.Ref.FullName()
		return p
	}
	p.Gateway = n.Ref.FullName()
	return p
}

// addUnknownRoute reports a route that belongs to nobody.
func (s *proxyAuditor) addUnknownRoute(p *dataplane.ServedRoute, id Identity) {
	item := Item{Verdict: Unexplained, Setting: "route", XDS: newXDS(p),
		Message: "the proxy has a route that belongs to no rule of the input"}
	if id.Doubtful {
		item.Verdict, item.Message = NotJudged, "the name of the route may mean several rules"
	}
	s.addItem(item)
}

func newXDS(p *dataplane.ServedRoute) *XDS {
	x := &XDS{Listener: p.Manager.Listener.Name, RouteConfig: p.Route.Host.RouteConfig.Name,
		VirtualHost: p.Route.Host.Name}
	if p.Route.Name != "" {
		x.Routes = []string{p.Route.Name}
	}
	return x
}

// addItem adds an item. Where the proxy may have been changed by hand, differences are not judged.
func (s *proxyAuditor) addItem(item Item) {
	if item.Verdict.IsDifference() && s.patchedBy != "" {
		item.Verdict, item.Message = NotJudged, s.patchedBy
	}
	if item.Paths == nil {
		item.Paths = []view.Path{}
	}
	if item.Policies == nil {
		item.Policies = []model.Ref{}
	}
	s.items = append(s.items, item)
}
