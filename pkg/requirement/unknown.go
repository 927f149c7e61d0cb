package requirement

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// unknownState knows what leaves open what is in force.
type unknownState struct {
	res              *resolve.Resolution
	objects          map[model.Ref]string       // what is not evaluated about an object
	unplacedPolicies map[model.GroupKind]string // policies of which it is not known where they hold
	unread           map[unreadKey]string
}

type unreadKey struct {
	kind *resolve.Kind
	node topology.NodeID
}

// leavesOpen reports whether a problem leaves the answer open. What is certainly wrong does not:
// what holds then is known.
func leavesOpen(p model.Problem) bool { return p.IsIncomplete() && p.Severity != model.Error }

func newUnknownState(res *resolve.Resolution) *unknownState {
	d := &unknownState{res: res, objects: map[model.Ref]string{}, unplacedPolicies: map[model.GroupKind]string{},
		unread: map[unreadKey]string{}}
	attached := map[model.Ref]bool{}
	for _, k := range res.Kinds {
		for _, p := range k.Policies {
			if len(k.TargetsOf(p)) > 0 {
				attached[p.Ref()] = true
			}
		}
	}
	for _, p := range model.SortProblems(res.Problems) {
		// what may not be read is asked for place by place
		if !leavesOpen(p) || p.Code == model.Forbidden || p.Ref == nil {
			continue
		}
		whole := p.Ref.WithoutSection()
		said := whole.String() + ": " + p.Message
		if d.objects[whole] == "" {
			d.objects[whole] = said
		}
		if gk := p.Ref.GroupKind(); res.Kind(gk) != nil && !attached[whole] && d.unplacedPolicies[gk] == "" {
			d.unplacedPolicies[gk] = said
		}
	}
	return d
}

// explainUnknown says why what a requirement looks at is not known at a place, "" if it is.
func (d *unknownState) explainUnknown(req *requirementCase, p *collect.EffectiveTarget) string {
	if len(req.unknownKinds) > 0 {
		return "no policy kind called " + req.unknownKinds[0] + " is known"
	}
	if len(req.kinds) == 0 {
		return ""
	}
	for _, k := range req.kinds {
		if why := d.explainUnread(k, p.Node); why != "" {
			return why
		}
		if why := d.unplacedPolicies[k.GroupKind]; why != "" {
			return why
		}
	}
	if why := d.objects[p.Target.WithoutSection()]; why != "" {
		return why
	}
	for _, f := range p.InForce {
		if !slices.Contains(req.kinds, f.Kind) {
			continue
		}
		if why := d.explainStack(f); why != "" {
			return why
		}
		if d.res.Snapshot.HasNoValues() && req.looks.values && len(f.Policy.Rules) > 0 {
			return "the values of settings are left out"
		}
	}
	return ""
}

// explainStack says what is not known about the policies of a stack.
func (d *unknownState) explainStack(f *collect.InForce) string {
	for _, p := range f.Problems {
		if leavesOpen(p) {
			return p.Message
		}
	}
	for _, u := range f.Policy.Policies {
		if u.Policy == nil {
			continue
		}
		if why := d.objects[*u.Policy]; why != "" {
			return why
		}
	}
	return ""
}

// explainUnread says which lists may not be read that may change what is in force of a kind at a
// node.
func (d *unknownState) explainUnread(k *resolve.Kind, id topology.NodeID) string {
	if c := d.res.Snapshot.Cluster; c == nil || len(c.Unread) == 0 {
		return ""
	}
	key := unreadKey{k, id}
	why, known := d.unread[key]
	if !known {
		if lists := d.res.DescribeGaps(k.Gaps().At(id)); len(lists) > 0 {
			why = "forbidden: " + joinNames(lists)
		}
		d.unread[key] = why
	}
	return why
}

// listHiddenTargets says which lists may not be read that may hold what a selection selects.
func (d *unknownState) listHiddenTargets(s *selection) []string {
	c := d.res.Snapshot.Cluster
	if c == nil {
		return nil
	}
	kinds := s.kinds
	if kinds == nil {
		kinds = gatewayapi.RouteKinds()
	}
	var gaps []resolve.Gap
	for _, g := range c.Unread {
		of := slices.ContainsFunc(kinds, func(k model.GroupKind) bool {
			return k.Kind == g.Kind.Kind && (k.Group == "" || k.Group == g.Kind.Group)
		})
		if of && (g.Namespace == "" || matchesAny(s.namespaces, g.Namespace)) {
			gaps = append(gaps, resolve.Gap{Kind: g.Kind, Namespace: g.Namespace})
		}
	}
	return d.res.DescribeGaps(gaps)
}

// explainUnattached says why it is not known whether traffic comes to a route through a parent that
// a selection selects, "" if it is known.
func (d *unknownState) explainUnattached(s *selection, route topology.NodeID) string {
	for _, a := range d.res.Graph.Attachments(route) {
		if a.State != topology.Unknown && !a.Missing {
			continue
		}
		gateway := a.Parent.Kind == "Gateway"
		if s.gateways == nil || !gateway && !gatewayapi.IsMeshParent(a.Parent.GroupKind()) || gateway &&
			matchesAny(s.gateways, a.Parent.FullName()) {
			return a.Reason
		}
	}
	return ""
}

// suggestKind proposes the policy kind that may be meant.
func (j *evaluation) suggestKind(name string) string {
	var known []string
	for _, k := range j.res.Kinds {
		known = append(known, k.GroupKind.Kind, k.Name())
	}
	if near := form.Nearest(name, known); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return "list the kinds with: kubectl dopolicy kinds; give its CRD, or describe it with --policy-kinds"
}
