package describe

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// ObjectDescription answers `describe`: what there is to know about one object.
type ObjectDescription struct {
	view.Envelope
	Object     model.Ref                   `json:"object"`             // that was asked about; a section is a part of it
	Origin     *model.Origin               `json:"origin,omitempty"`   // where it is written
	Settings   []string                    `json:"settings,omitempty"` // of a policy: what it sets
	Above      []model.Ref                 `json:"above"`              // what its traffic comes from: listeners, or rules of routes
	Below      []model.Ref                 `json:"below"`              // what its traffic goes to: routes, or backends
	Status     []status.ObjectStatus       `json:"status"`             // of the object itself, as predicted
	Policies   []status.ObjectStatus       `json:"policies"`           // those that target it, accepted or not
	Effective  []view.EffectivePolicy      `json:"effective"`          // what is in force on it, or below it
	Reach      []reach.ReachItem           `json:"reach"`              // of a policy: where it is in force, and where not
	Overridden []overridden.OverriddenRule `json:"overridden"`         // what was overridden there, or of the policy
	Findings   []check.Finding             `json:"findings"`           // of `check`, about the object

	isPolicy           bool
	rulesWithoutPolicy []model.Ref // route rules that it covers, on which no policy is in force
}

// Answers are what the other questions say, narrowed to the object as far as they can be.
type Answers struct {
	Effective  *effective.EffectivePolicyList // nil: of a policy
	Reach      *reach.PolicyReach             // nil: of no policy
	Overridden *overridden.OverriddenRuleList
	Status     *status.StatusList // of all objects
	Check      *check.Report
	Settings   []string // of a policy
}

// Describe puts the answers about an object together.
func Describe(r *resolve.Resolution, object model.Ref, a Answers) *ObjectDescription {
	out := &ObjectDescription{Object: object, Settings: a.Settings, Above: []model.Ref{}, Below: []model.Ref{},
		Status: []status.ObjectStatus{}, Policies: []status.ObjectStatus{}, Effective: []view.EffectivePolicy{},
		Reach: []reach.ReachItem{}, Overridden: a.Overridden.Items, Findings: []check.Finding{},
		isPolicy: a.Reach != nil}
	out.Origin = originOf(r, object)
	problems := slices.Clone(a.Overridden.Problems)
	if a.Effective != nil {
		out.Effective = append(out.Effective, a.Effective.Items...)
		problems = append(problems, a.Effective.Problems...)
		out.rulesWithoutPolicy = a.Effective.RulesWithoutPolicy()
		out.SetElsewhere(a.Effective.Elsewhere())
	}
	if a.Reach != nil {
		out.Reach = append(out.Reach, a.Reach.Items...)
		problems = append(problems, a.Reach.Problems...)
	}
	out.addNeighbours(r)
	out.addStatus(a.Status)
	for _, f := range a.Check.Items {
		if f.Ref != nil && out.isAbout(*f.Ref) {
			out.Findings = append(out.Findings, f)
		}
	}
	out.Finish("ObjectDescription", problems)
	out.LimitRelevance(func(p model.Problem) bool {
		// the findings say the others
		return p.IsIncomplete()
	})
	return out
}

// originOf returns where an object or a section of it is written; nil: nowhere in the input.
func originOf(r *resolve.Resolution, object model.Ref) *model.Origin {
	o := r.Snapshot.Get(object.WithoutSection())
	if o == nil {
		return nil
	}
	for _, id := range r.Graph.Lookup(object) {
		switch n := r.Node(id); n.Role {
		case topology.Rule:
			return model.Problem{}.At(o, "spec", "rules", strconv.Itoa(n.Index)).Origin
		case topology.Listener:
			return model.Problem{}.At(o, "spec", "listeners", strconv.Itoa(n.Index)).Origin
		}
	}
	return model.Problem{}.At(o).Origin
}

// isAbout reports whether something is the object or, if that has no section, a section of it.
func (d *ObjectDescription) isAbout(ref model.Ref) bool {
	return ref == d.Object || d.Object.Section == "" && ref.WithoutSection() == d.Object
}

// addStatus adds the status of the object, and of the policies that target it.
func (d *ObjectDescription) addStatus(all *status.StatusList) {
	for i := range all.Items {
		item := &all.Items[i]
		switch {
		case item.Object == d.Object, item.Object.WithoutSection() == d.Object.WithoutSection() && !d.isPolicy &&
			d.Object.Section == "":
			d.Status = append(d.Status, *item)
		case slices.ContainsFunc(item.Targets, d.isAbout):
			d.Policies = append(d.Policies, *item)
		}
	}
}

// addNeighbours adds what traffic comes from and goes to, each once.
func (d *ObjectDescription) addNeighbours(r *resolve.Resolution) {
	add := func(to *[]model.Ref, id topology.NodeID) {
		if ref := r.Node(id).Ref; !d.isAbout(ref) {
			*to = append(*to, ref)
		}
	}
	for _, id := range r.Graph.Lookup(d.Object) {
		switch r.Node(id).Role {
		case topology.Gateway, topology.ListenerSet, topology.Listener:
			d.eachBelow(r, id, topology.Route, func(id topology.NodeID) { add(&d.Below, id) })
		case topology.Route:
			for _, up := range r.Graph.Parents(topology.Traffic, id) {
				add(&d.Above, up)
			}
			d.eachBelow(r, id, topology.Backend, func(id topology.NodeID) { add(&d.Below, id) })
		case topology.Rule:
			for _, route := range r.Graph.Parents(topology.Traffic, id) {
				for _, up := range r.Graph.Parents(topology.Traffic, route) {
					add(&d.Above, up)
				}
			}
			d.eachBelow(r, id, topology.Backend, func(id topology.NodeID) { add(&d.Below, id) })
		case topology.Backend, topology.Port:
			for _, up := range r.Graph.Parents(topology.Traffic, id) {
				add(&d.Above, up)
			}
		}
	}
	for _, refs := range []*[]model.Ref{&d.Above, &d.Below} {
		slices.SortFunc(*refs, view.CompareTargets)
		*refs = slices.Compact(*refs)
	}
}

// eachBelow calls a function for the nodes of a role to which traffic goes from a node.
func (d *ObjectDescription) eachBelow(r *resolve.Resolution, from topology.NodeID, role topology.Role,
	call func(topology.NodeID)) {
	seen := map[topology.NodeID]bool{}
	for open := []topology.NodeID{from}; len(open) > 0; {
		id := open[len(open)-1]
		open = open[:len(open)-1]
		for _, next := range r.Graph.Children(topology.Traffic, id) {
			if seen[next] {
				continue
			}
			seen[next] = true
			if r.Node(next).Role == role {
				call(next)
				continue
			}
			open = append(open, next)
		}
	}
}

// FilterNames is the object.
func (d *ObjectDescription) FilterNames() []string { return view.ObjectNames([]*model.Ref{&d.Object}) }
