package view

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

// AncestorRef names what conditions are about: for a route its parentRef with the defaults filled in.
type AncestorRef struct {
	model.Ref
	Port int32 `json:"port,omitempty"`
}

// Condition is a predicted condition. Status is True, False, or Unknown where the input does not tell.
type Condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// AncestorStatus is the conditions towards one ancestor; without an ancestor they are the object's own.
type AncestorStatus struct {
	AncestorRef    *AncestorRef `json:"ancestorRef"`
	ControllerName string       `json:"controllerName,omitempty"`
	Conditions     []Condition  `json:"conditions"`
}

// ObjectStatus is the predicted status of one object.
type ObjectStatus struct {
	Object         model.Ref        `json:"object"`
	Ancestors      []AncestorStatus `json:"ancestors"`
	Affected       []model.Ref      `json:"affected"` // of a policy: the objects that it really changes
	AttachedRoutes *int             `json:"attachedRoutes,omitempty"`
	SupportedKinds []string         `json:"supportedKinds,omitzero"`
	// AttachedListenerSets is of a Gateway: how many ListenerSets it takes that are accepted.
	AttachedListenerSets *int `json:"attachedListenerSets,omitempty"`

	Note string `json:"note,omitempty"` // why there are no conditions, where that is so for every policy of the kind

	targets []model.Ref
	policy  bool
	refused bool // by its API
}

// StatusList answers `status`.
type StatusList struct {
	Envelope
	Items []ObjectStatus `json:"items"`
}

// StatusQuery is what `status` is asked about.
type StatusQuery struct {
	Policy  *policy.Policy              // nil: every one
	In      func(namespace string) bool // nil: every namespace
	Kinds   []model.GroupKind           // nil: every policy kind
	Objects bool                        // also routes, Gateways, ListenerSets and listeners
}

// Status predicts conditions: of policies, and if asked for of the objects around them with the marks that policies leave there.
func Status(r *resolve.Resolution, q StatusQuery, funcs status.Functions) *StatusList {
	list := &StatusList{Items: []ObjectStatus{}}
	var kinds []*resolve.Kind
	for _, k := range r.Kinds {
		if q.Kinds == nil || slices.Contains(q.Kinds, k.GroupKind) {
			kinds = append(kinds, k)
		}
	}
	problems := slices.Clone(r.Problems)
	if q.Policy != nil {
		problems = slices.DeleteFunc(problems, func(p model.Problem) bool {
			return p.Ref != nil && *p.Ref != q.Policy.Ref() && p.Severity != model.Error && !p.Incomplete()
		})
	}
	for _, k := range kinds {
		if len(k.Policies) > 0 && (q.Policy == nil || q.Policy.Kind == k.Kind) {
			k.InForce(func(s resolve.StackID) { problems = append(problems, k.Outcome(s).Problems...) })
		}
	}
	targets := targetsOf(kinds)
	in := func(ref model.Ref) bool { return q.In == nil || ref.Namespace == "" || q.In(ref.Namespace) }
	for _, p := range status.Policies(r, kinds, funcs) {
		if q.Policy != nil && q.Policy.Ref() != p.Object || !in(p.Object) {
			continue
		}
		item := objectStatus(p)
		item.policy, item.targets = true, targets[p.Object]
		list.Items = append(list.Items, item)
	}
	if q.Objects {
		for _, p := range status.Objects(r, kinds, funcs) {
			if in(p.Object) {
				list.Items = append(list.Items, objectStatus(p))
			}
		}
	}
	slices.SortStableFunc(list.Items, func(a, b ObjectStatus) int {
		return cmp.Or(-boolCompare(a.policy, b.policy), a.Object.Compare(b.Object))
	})
	list.Seal("StatusList", problems)
	return list
}

// noConditions is said of policies whose controller reports nothing.
const noConditions = "the controller of this kind writes no conditions"

func boolCompare(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return 1
	}
	return -1
}

// targetsOf are the references of the policies, as they name them.
func targetsOf(kinds []*resolve.Kind) map[model.Ref][]model.Ref {
	out := map[model.Ref][]model.Ref{}
	for _, k := range kinds {
		for _, p := range k.Policies {
			for _, t := range p.Refs {
				out[p.Ref()] = append(out[p.Ref()], t.Ref)
			}
		}
	}
	return out
}

func objectStatus(p status.Prediction) ObjectStatus {
	out := ObjectStatus{Object: p.Object, Ancestors: []AncestorStatus{}, Affected: []model.Ref{}, AttachedRoutes: p.AttachedRoutes, SupportedKinds: p.SupportedKinds,
		AttachedListenerSets: p.AttachedListenerSets, refused: p.Refused}
	if p.Silent {
		out.Note = noConditions
	}
	out.Affected = append(out.Affected, p.Affected...)
	for _, a := range p.Ancestors {
		s := AncestorStatus{ControllerName: a.Controller, Conditions: []Condition{}}
		if a.Ref != nil {
			s.AncestorRef = &AncestorRef{Ref: *a.Ref, Port: a.Port}
		}
		for _, c := range a.Conditions {
			s.Conditions = append(s.Conditions, Condition(c))
		}
		out.Ancestors = append(out.Ancestors, s)
	}
	return out
}
