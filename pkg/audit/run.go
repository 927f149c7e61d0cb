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
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Input is what an audit is about.
type Input struct {
	Resolution *resolve.Resolution
	Effective  *view.EffectivePolicyList // of everything
	Proxies    []*dataplane.Proxy
	Mappings   []Mapping
	Kinds      []model.GroupKind           // that are asked about; nil: all
	In         func(namespace string) bool // of targets; nil: every one
	Problems   []model.Problem             // of getting the dumps
}

// Run holds what should be in force against what the proxies do.
func Run(in Input) *Report {
	out := &Report{Items: []Item{}, Matched: []Match{}}
	a := &auditor{Input: in, graph: in.Resolution.Graph, expected: expectations(in.Effective), doubtful: doubtful(in.Effective.Problems)}
	out.own = slices.Clip(in.Problems)
	rules := map[model.Ref]bool{}
	for _, p := range in.Proxies {
		one := a.proxy(p)
		out.own = append(append(out.own, p.Problems...), one.problems...)
		out.Proxies = append(out.Proxies, one.about)
		if len(in.Proxies) > 1 {
			for i := range one.items {
				one.items[i].Proxy = p.Name
			}
		}
		out.Items = append(out.Items, slices.DeleteFunc(one.items, func(i Item) bool { return i.Target != nil && !in.about(*i.Target) })...)
		out.Matched = append(out.Matched, slices.DeleteFunc(one.matched, func(m Match) bool { return !in.about(m.Target) })...)
		for _, ref := range one.rules {
			if in.about(ref) {
				rules[ref] = true
			}
		}
	}
	out.Drift = drift(out.Proxies, in.Proxies)
	out.finish(rules)
	out.Seal("DataplaneAudit", slices.Concat(in.Effective.Problems, out.own))
	if len(out.Proxies) == 1 {
		out.Proxy, out.Proxies = &out.Proxies[0], nil
	}
	return out
}

// auditor holds what all proxies share.
type auditor struct {
	Input
	graph    *topology.Graph
	expected map[expectedKey][]*expectation
	doubtful map[model.Ref]string
}

// single is the audit of one proxy.
type single struct {
	*auditor
	proxy    *dataplane.Proxy
	mapping  *Mapping
	about    Proxy
	routes   *Routes
	maybe    map[model.Ref]bool // routes of which a route of the proxy may be
	kinds    []kindFields
	patched  string // why no difference can be judged
	items    []Item
	matched  []Match
	problems []model.Problem
	rules    []model.Ref
	gathered map[itemKey]int
}

// proxy audits one proxy. One that nobody knows is a problem.
func (a *auditor) proxy(p *dataplane.Proxy) *single {
	s := &single{auditor: a, proxy: p, maybe: map[model.Ref]bool{}, about: Proxy{Name: p.Name, Gateways: []string{}, Node: p.ID, Versions: p.Versions}}
	for i := range a.Mappings {
		if gateways := a.Mappings[i].Gateways(p); gateways != nil {
			s.mapping, s.about.Implementation, s.about.Gateways = &a.Mappings[i], a.Mappings[i].Vendor, gateways
			break
		}
	}
	if s.mapping == nil {
		s.unable("%s does not tell whose proxy it is: node %q, cluster %q", p.Name, p.ID, p.Cluster)
		return s
	}
	s.routes, s.kinds = newRoutes(a.graph), byKind(s.mapping)
	for _, name := range s.about.Gateways {
		namespace, gateway, _ := strings.Cut(name, "/")
		found := a.graph.Lookup(model.Ref{Group: gatewayv1.GroupName, Kind: "Gateway", Namespace: namespace, Name: gateway})
		for _, id := range found {
			if a.graph.Node(id).Object != nil {
				s.routes.gateways = append(s.routes.gateways, id)
			}
		}
	}
	switch {
	case len(s.routes.gateways) == 0:
		s.unable("%s is a proxy of Gateway %s, which is not in the input", p.Name, strings.Join(s.about.Gateways, ", "))
		return s
	case !p.HasListeners:
		s.unable("%s has no listeners section, so that nothing is known to be served", p.Name)
		return s
	case !p.HasRoutes:
		s.unable("%s has no routes section, so that routes cannot be compared", p.Name)
	}
	s.patched = s.patches()
	s.run()
	return s
}

func (s *single) unable(format string, args ...any) {
	s.problems = append(s.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf(format, args...),
		Hint: "ask the proxy for the whole of /config_dump"})
}

// patches says which policy may have changed anything in the proxy.
func (s *single) patches() string {
	for _, gk := range s.mapping.Patches {
		for key := range s.expected {
			if key.kind == gk.String() {
				return gk.Kind + " may change anything in the proxy"
			}
		}
		for range s.Resolution.Snapshot.Of(gk) {
			return gk.Kind + " may change anything in the proxy"
		}
	}
	return ""
}

// run compares everything that the proxy serves.
func (s *single) run() {
	found := s.places()
	seen := map[topology.NodeID]bool{}
	for _, f := range found {
		seen[f.rule] = true
		s.compare(f)
	}
	if s.proxy.HasRoutes {
		s.absent(found)
	}
	s.strangers()
	if s.mapping.Whole != nil {
		s.mapping.Whole(&Whole{single: s})
	}
}

// foundRule is a rule with its routes at one listener.
type foundRule struct {
	rule     topology.NodeID
	listener topology.NodeID
	places   []dataplane.Place
}

// places are the rules whose routes the proxy has, in the order in which it has them. What has no identity is reported.
func (s *single) places() []*foundRule {
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
					if s.mapping.Own(m.Listener.Name, route.Name) {
						continue
					}
					place := dataplane.Place{Proxy: s.proxy, Manager: m, Route: route}
					id := s.mapping.Identify(s.routes, &place)
					if !id.Known {
						for _, ref := range id.Maybe {
							s.maybe[ref] = true
						}
						if !unknown[route] && !tlsOnly(host) {
							unknown[route] = true
							s.stranger(&place, id)
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
					f.places = append(f.places, place)
				}
			}
		}
	}
	for _, f := range out {
		s.note(f)
	}
	return out
}

// tlsOnly tells whether a virtual host does nothing but send to HTTPS.
func tlsOnly(host *dataplane.VirtualHost) bool {
	word := dataplane.Text(host.Config, "require_tls")
	return word != "" && word != "NONE"
}

func (s *single) note(f *foundRule) {
	m := Match{Target: s.graph.Node(f.rule).Ref, RouteConfig: f.places[0].Route.Host.Of.Name}
	if f.listener != topology.None {
		p := s.path(f.listener)
		m.Listener, m.ListenerSet = p.Listener, p.ListenerSet
	}
	counted := map[*dataplane.Route]bool{}
	for _, p := range f.places {
		counted[p.Route] = true
	}
	m.Routes = len(counted)
	s.matched = append(s.matched, m)
}

// path is how traffic comes through a listener of the proxy.
func (s *single) path(listener topology.NodeID) view.Path {
	p := view.Path{Gateway: s.about.Gateways[0]}
	if listener == topology.None {
		return p
	}
	n := s.graph.Node(listener)
	p.Listener = n.Ref.Section
	if topology.IsListenerSet(n.Ref.GroupKind()) {
		p.ListenerSet = n.Ref.FullName()
		return p
	}
	p.Gateway = n.Ref.FullName()
	return p
}

// stranger reports a route that belongs to nobody.
func (s *single) stranger(p *dataplane.Place, id Identity) {
	item := Item{Verdict: Unexplained, Setting: "route", XDS: xdsOf(p), Message: "the proxy has a route that belongs to no rule of the input"}
	if id.Doubtful {
		item.Verdict, item.Message = Unjudged, "the name of the route may mean several rules"
	}
	s.add(item)
}

func xdsOf(p *dataplane.Place) *XDS {
	x := &XDS{Listener: p.Manager.Listener.Name, RouteConfig: p.Route.Host.Of.Name, VirtualHost: p.Route.Host.Name}
	if p.Route.Name != "" {
		x.Routes = []string{p.Route.Name}
	}
	return x
}

// add adds an item. Where the proxy may have been changed by hand, differences are not judged.
func (s *single) add(item Item) {
	if item.Verdict.Differs() && s.patched != "" {
		item.Verdict, item.Message = Unjudged, s.patched
	}
	if item.Paths == nil {
		item.Paths = []view.Path{}
	}
	if item.Policies == nil {
		item.Policies = []model.Ref{}
	}
	s.items = append(s.items, item)
}
