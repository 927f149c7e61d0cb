package kgateway

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mergeState is what a merge leaves of a policy; the worst of all merges is reported.
type mergeState int

const (
	pending    mergeState = iota // not merged yet
	unmerged                     // it is behind every setting
	merged                       // behind some
	overridden                   // behind none
)

// stateCounter has the states of all policies of a kind, by policy and ancestor.
type stateCounter struct {
	res     *resolve.Resolution
	kind    *resolve.Kind
	entries map[*policy.Policy]map[model.Ref]*ancestorState
	served  map[topology.NodeID]bool // listeners to which hosts belong; nil: not looked for yet
}

type ancestorState struct {
	state mergeState
	lost  []string // policies that have what this one lost
}

// writeAttached writes Accepted and Attached towards every ancestor: the parents of routes, and the
// Gateways and ListenerSets that are targeted.
func writeAttached(r *resolve.Resolution, k *resolve.Kind,
	fates []*status.PolicyOutcome) map[*policy.Policy][]status.Ancestor {
	s := stateCounter{res: r, kind: k, entries: map[*policy.Policy]map[model.Ref]*ancestorState{}}
	for _, id := range r.Graph.Order(topology.Traffic) {
		for _, stack := range k.Contexts(id) {
			if !k.IsEmpty(stack) {
				s.countNode(id, stack)
			}
		}
	}
	for _, p := range k.Policies {
		for _, rule := range k.BackendRules(p) {
			for _, stack := range k.Contexts(rule) {
				for _, ref := range s.listParents(rule, stack) {
					s.entryOf(p, ref)
				}
			}
		}
	}
	out := make(map[*policy.Policy][]status.Ancestor, len(fates))
	for _, f := range fates {
		out[f.Policy] = s.writeConditions(f.Policy)
		status.MarkUnknownSets(r, out[f.Policy])
	}
	return out
}

// countNode counts the merges that are made for a node.
func (s *stateCounter) countNode(id topology.NodeID, stack resolve.StackID) {
	g := s.res.Graph
	switch n := g.Node(id); n.Role {
	case topology.Rule:
		s.countMerge(stack, countedMerge{group: "route", levels: routeLevels, to: s.listParents(id, stack)})
	case topology.Listener:
		switch f := g.Listener(id); {
		case !f.Accepted: // it is not served
		case f.Protocol == "HTTPS":
			s.countMerge(stack, countedMerge{group: "listener", levels: listenerLevels,
				to: []model.Ref{s.findPortOwner(id)}})
		case f.Protocol == "HTTP" && s.servesHost(id):
			s.countMerge(stack, countedMerge{group: "listener", levels: ownLevels,
				to: []model.Ref{n.Ref.WithoutSection()}})
		}
	case topology.Gateway:
		s.countGateway(id, stack)
	}
}

// servesHost reports whether a host belongs to a listener without TLS: of a route that is attached
// there, or at another listener of its port.
func (s *stateCounter) servesHost(listener topology.NodeID) bool {
	if s.served == nil {
		s.served = map[topology.NodeID]bool{}
		g := s.res.Graph
		for _, id := range g.Order(topology.Traffic) {
			if g.Node(id).Role != topology.Listener {
				continue
			}
			for _, route := range g.Children(topology.Traffic, id) {
				owners := g.HostOwners(id, route, s.kind.Controllers)
				if owners == nil {
					owners = []topology.NodeID{id}
				}
				for _, owner := range owners {
					s.served[owner] = true
				}
			}
		}
	}
	return s.served[listener]
}

// countGateway counts the merge of a Gateway's own policies: it is made for every port, and
// reported towards what the first listener there belongs to.
func (s *stateCounter) countGateway(id topology.NodeID, stack resolve.StackID) {
	var to []model.Ref
	for _, l := range s.listListeners(id) {
		if owner := s.findPortOwner(l); !slices.Contains(to, owner) {
			to = append(to, owner)
		}
	}
	s.countMerge(stack, countedMerge{group: "gateway", levels: listenerLevels, to: to})
}

// findPortOwner is what the first listener on a listener's port belongs to: problems of the port
// are reported towards it.
func (s *stateCounter) findPortOwner(listener topology.NodeID) model.Ref {
	g := s.res.Graph
	for _, parent := range g.Parents(topology.Traffic, listener) {
		if g.Node(parent).Role == topology.ListenerSet {
			parent = g.ListenerSet(parent).Gateway
		}
		if parent == topology.None {
			break
		}
		for _, l := range s.listListeners(parent) {
			if g.Listener(l).Port == g.Listener(listener).Port {
				return g.Node(l).Ref.WithoutSection()
			}
		}
	}
	return g.Node(listener).Ref.WithoutSection()
}

// listListeners lists the listeners of a Gateway that are served, then those of its ListenerSets,
// the oldest set first.
func (s *stateCounter) listListeners(gateway topology.NodeID) []topology.NodeID {
	g := s.res.Graph
	owners := []topology.NodeID{gateway}
	for _, id := range g.Children(topology.Traffic, gateway) {
		if g.Node(id).Role == topology.ListenerSet && g.Node(id).Object != nil {
			owners = append(owners, id)
		}
	}
	slices.SortStableFunc(owners[1:], func(a, b topology.NodeID) int {
		x, y := g.Node(a).Object, g.Node(b).Object
		return cmp.Or(x.Created.Compare(y.Created), cmp.Compare(x.Ref.FullName(), y.Ref.FullName()))
	})
	var out []topology.NodeID
	for _, owner := range owners {
		for _, id := range g.Children(topology.Traffic, owner) {
			if g.Node(id).Role == topology.Listener && g.Listener(id).Accepted {
				out = append(out, id)
			}
		}
	}
	return out
}

// The levels whose policies take part in a merge.
var (
	routeLevels    = []topology.Role{topology.Route, topology.Rule, policy.FilterLevel}
	ownLevels      = []topology.Role{topology.ListenerSet, topology.Listener}
	listenerLevels = []topology.Role{topology.Gateway, topology.ListenerSet, topology.Listener}
)

// countedMerge is one merge: the group of the result that holds it, the levels whose policies take
// part, and the ancestors towards which it is reported.
type countedMerge struct {
	group  string
	levels []topology.Role
	to     []model.Ref
}

// countMerge notes what one merge leaves of each policy in it.
func (s *stateCounter) countMerge(stack resolve.StackID, c countedMerge) {
	o := s.kind.Verdict(stack)
	fields := map[string]map[int]bool{} // who is behind each setting
	for _, g := range o.Result.Groups {
		if g.Name != c.group {
			continue
		}
		for _, r := range g.Rules {
			key := settingName(r.Path)
			if s.kind.GroupKind != trafficKind {
				key = r.Name
			}
			if fields[key] == nil {
				fields[key] = map[int]bool{}
			}
			for _, f := range r.From {
				fields[key][f.Layer] = true
			}
		}
	}
	if s.kind.GroupKind != trafficKind && len(fields) > 0 {
		countForwarding(fields, o.Layers, c.levels)
	}
	seen := map[*policy.Policy]bool{}
	for _, l := range o.Layers {
		if seen[l.Policy] || l.Policy.Builtin != "" || !slices.Contains(c.levels, l.Level) {
			continue
		}
		seen[l.Policy] = true
		st, lost := unmerged, []string(nil)
		switch {
		case s.kind.GroupKind == directKind:
		case l.Policy.Fault != "":
			st = pending
		default:
			st, lost = findState(o, l.Policy, fields)
		}
		for _, ref := range c.to {
			e := s.entryOf(l.Policy, ref)
			e.state = max(e.state, st)
			for _, n := range lost {
				if !slices.Contains(e.lost, n) {
					e.lost = append(e.lost, n)
				}
			}
		}
	}
}

// countForwarding puts right who is behind the settings about forwarded addresses. Of a policy that
// sets useRemoteAddress to false, kgateway makes one setting more, with its trusted hops and
// networks: the first such policy has it, even if another one has useRemoteAddress. The trusted hops
// of the others are a setting of their own.
func countForwarding(fields map[string]map[int]bool, all []resolve.Layer, levels []topology.Role) {
	const at = "default.httpSettings."
	own, hops := -1, -1
	for _, i := range orderByPlace(all, levels) {
		settings := all[i].Policy.Object.Body.At("spec", "default", "httpSettings")
		switch {
		case settings.Field("useRemoteAddress").Value() == false:
			own = cmp.Or(own+1, i+1) - 1
		case !settings.Field("xffNumTrustedHops").IsNull():
			hops = cmp.Or(hops+1, i+1) - 1
		}
	}
	if own < 0 {
		return
	}
	delete(fields, at+"xffNumTrustedHops")
	delete(fields, at+"xffTrustedCIDRs")
	fields[at+"xffConfig"] = map[int]bool{own: true}
	if hops >= 0 {
		fields[at+"xffNumTrustedHops"] = map[int]bool{hops: true}
	}
}

// orderByPlace orders the layers of some levels as they are merged: the most specific place first,
// and in a place the established policy first.
func orderByPlace(all []resolve.Layer, levels []topology.Role) []int {
	var out []int
	for end := len(all); end > 0; {
		start := end - 1
		for start > 0 && all[start-1].Node == all[end-1].Node {
			start--
		}
		for i := start; i < end; i++ {
			if slices.Contains(levels, all[i].Level) && !all[i].Rejected {
				out = append(out, i)
			}
		}
		end = start
	}
	return out
}

// findState is what the settings of a merge leave of a policy.
func findState(o *resolve.Verdict, p *policy.Policy, fields map[string]map[int]bool) (mergeState, []string) {
	held := 0
	var others []string
	for _, layers := range fields {
		mine := false
		var by []string
		for at := range layers {
			if o.Layers[at].Policy == p {
				mine = true
			} else {
				by = append(by, o.Layers[at].Policy.Ref().FullName())
			}
		}
		if mine {
			held++
		} else {
			others = append(others, by...)
		}
	}
	slices.Sort(others)
	switch {
	case held == len(fields):
		return unmerged, nil
	case held == 0:
		return overridden, slices.Compact(others)
	}
	return merged, slices.Compact(others)
}

func (s *stateCounter) entryOf(p *policy.Policy, ancestor model.Ref) *ancestorState {
	if s.entries[p] == nil {
		s.entries[p] = map[model.Ref]*ancestorState{}
	}
	e := s.entries[p][ancestor]
	if e == nil {
		e = &ancestorState{}
		s.entries[p][ancestor] = e
	}
	return e
}

// listParents are the parentRefs by which the routes at the top of the paths to a rule are
// attached.
func (s *stateCounter) listParents(rule topology.NodeID, stack resolve.StackID) []model.Ref {
	g := s.res.Graph
	var out []model.Ref
	for _, way := range s.kind.Paths(rule, stack) {
		at := slices.IndexFunc(way, func(id topology.NodeID) bool { return g.Node(id).Role == topology.Route })
		if at < 1 {
			continue
		}
		for _, a := range g.Attachments(way[at]) {
			if a.State == topology.Accepted && a.Listener == way[at-1] && !slices.Contains(out, a.Parent) {
				out = append(out, a.Parent)
			}
		}
	}
	return out
}
