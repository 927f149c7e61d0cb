package status

import (
	"cmp"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// AncestorRef names what conditions are about: for a route its parentRef with the defaults filled
// in.
type AncestorRef struct {
	model.Ref
	Port int32 `json:"port,omitempty"` // of the parentRef, where it names one
}

// Condition is a predicted condition. Status is True, False, or Unknown where the input does not
// tell.
type Condition struct {
	Type    string `json:"type"`    // as in the Gateway API, or a word of the implementation
	Status  string `json:"status"`  // True, False, Unknown, or a word that the implementation writes
	Reason  string `json:"reason"`  // one word in CamelCase
	Message string `json:"message"` // one sentence
}

// AncestorStatus is the conditions towards one ancestor; without an ancestor they are the object's
// own.
type AncestorStatus struct {
	// the ancestor or parent; null: conditions of the object itself
	AncestorRef    *AncestorRef `json:"ancestorRef"`
	ControllerName string       `json:"controllerName,omitempty"` // who writes the entry
	Conditions     []Condition  `json:"conditions"`               // in the order in which they are written
}

// PolicyForce is where a policy is in force, of the route rules or other targets that it stands
// above, whatever its controller reports.
type PolicyForce struct {
	State   string `json:"state"`   // Everywhere, Partly, Nowhere, Unknown
	Targets int    `json:"targets"` // on whose way it stands, each once
	Wholly  int    `json:"wholly"`  // those where everything that it sets is in force
	Partly  int    `json:"partly"`  // those where some of it is
	// what the targets are, as rule, listener, dataplane; absent where they differ
	Level string `json:"level,omitzero"`
	// requests that come to the workloads around the place where it is in force, and why
	NotFor []string `json:"notFor,omitempty"`

	kind string // of the targets; "" where they differ
}

// ObjectStatus is the predicted status of one object.
type ObjectStatus struct {
	Object         model.Ref        `json:"object"`                   // the policy, route or gateway
	Ancestors      []AncestorStatus `json:"ancestors"`                // an entry for each ancestor and controller
	Affected       []model.Ref      `json:"affected"`                 // of a policy: the objects that it really changes
	AttachedRoutes *int             `json:"attachedRoutes,omitempty"` // of a listener: how many routes are attached
	// of a listener: the kinds of routes that it takes
	SupportedKinds []string `json:"supportedKinds,omitzero"`
	// AttachedListenerSets is of a Gateway: how many ListenerSets it takes that are accepted.
	AttachedListenerSets *int `json:"attachedListenerSets,omitempty"`

	// of a policy: what its references name, and what its selectors select
	Targets []model.Ref  `json:"targets,omitempty"`
	InForce *PolicyForce `json:"inForce,omitempty"` // of a policy: where it is in force

	Status any `json:"status,omitempty"` // of a policy: what its kind reports below status in place of conditions

	Note string `json:"note,omitempty"` // the gist of a status without conditions, or why there is none

	// Of an audit only: what the object reports, in what that is not as predicted, and what was not
	// counted or not compared.
	Verdict     string           `json:"verdict,omitempty"`    // Agrees, Differs, NotCompared
	Reported    []ReportedStatus `json:"reported,omitempty"`   // of an audit: what the object says
	Differences []Difference     `json:"differences,omitzero"` // of an audit: what is not as predicted
	Remarks     []Difference     `json:"remarks,omitzero"`     // of an audit: what differs and does not count

	isPolicy bool
	refused  bool // by its API
}

// StatusList answers `status`.
type StatusList struct {
	view.Envelope
	// policies first, sorted by object; those that were named, in their order
	Items   []ObjectStatus `json:"items"`
	Summary *AuditSummary  `json:"summary,omitempty"` // of an audit
}

// Query is what `status` is asked about.
type Query struct {
	Policies    []*policy.Policy            // these, in this order; nil: every one
	InNamespace func(namespace string) bool // nil: every namespace
	Kinds       []model.GroupKind           // nil: every policy kind
	Objects     bool                        // also routes, Gateways, ListenerSets and listeners
	Bypasses    func(model.Ref) []string    // says for which requests a policy is not in force; nil: not asked
	Audit       bool                        // hold the predictions against what the objects report
}

// positionOf returns where a policy stands among those asked about, 0 where all are, and -1 if it
// is not asked about.
func (q *Query) positionOf(ref model.Ref) int {
	if q.Policies == nil {
		return 0
	}
	return slices.IndexFunc(q.Policies, func(p *policy.Policy) bool { return p.Ref() == ref })
}

// collectFoldProblems returns the problems of the stacks that what is asked about depends on, and
// of the policies themselves.
func collectFoldProblems(k *resolve.Kind, q Query) []model.Problem {
	var out []model.Problem
	for _, p := range k.Policies {
		if q.Policies == nil || slices.Contains(q.Policies, p) {
			out = append(out, k.Guesses().Of(p)...)
		}
	}
	if len(k.Policies) == 0 || q.Policies != nil && !slices.ContainsFunc(q.Policies, k.HasPolicy) {
		return out
	}
	var below [][]bool // the stacks that each policy is in, where conditions depend on nothing else
	if k.IsGeneric() {
		for _, p := range q.Policies {
			if k.HasPolicy(p) {
				below = append(below, k.StacksHolding(p))
			}
		}
	}
	k.EachStackInForce(func(s resolve.StackID) {
		if below == nil || slices.ContainsFunc(below, func(in []bool) bool { return in[s] }) {
			out = append(out, k.Verdict(s).Problems...)
		}
	})
	return out
}

// Predict predicts conditions: of policies, and if asked for of the objects around them with the
// marks that policies leave there.
func Predict(r *resolve.Resolution, q Query, funcs status.Functions) *StatusList {
	list := &StatusList{Items: []ObjectStatus{}}
	var kinds []*resolve.Kind
	for _, k := range r.Kinds {
		if q.Kinds == nil || slices.Contains(q.Kinds, k.GroupKind) {
			kinds = append(kinds, k)
		}
	}
	problems := slices.Clone(r.Problems)
	if q.Policies != nil {
		problems = slices.DeleteFunc(problems, func(p model.Problem) bool {
			return p.Ref != nil && q.positionOf(*p.Ref) < 0 && p.Severity != model.Error && !p.IsIncomplete()
		})
	}
	for _, k := range kinds {
		problems = append(problems, collectFoldProblems(k, q)...)
	}
	problems = append(problems, q.unreadProblems(r, kinds)...)
	targets := referencesByPolicy(kinds)
	in := func(ref model.Ref) bool {
		return q.InNamespace == nil || ref.Namespace == "" || q.InNamespace(ref.Namespace)
	}
	predictions := status.PredictPolicies(r, kinds, funcs)
	for _, p := range status.OverLimit(predictions) {
		if q.positionOf(*p.Ref) >= 0 && in(*p.Ref) {
			problems = append(problems, p)
		}
	}
	policies := len(predictions)
	if q.Objects {
		predictions = append(predictions, status.PredictObjects(r, kinds, funcs)...)
	}
	var auditor *status.Auditor
	if q.Audit {
		auditor = status.NewAuditor(r, kinds, predictions, problems)
	}
	list.Items = slices.Grow(list.Items, len(predictions))
	for i, p := range predictions {
		if i < policies && q.positionOf(p.Object) < 0 || !in(p.Object) {
			continue
		}
		item := buildObjectStatus(p)
		if i < policies {
			item.isPolicy, item.Targets = true, append(targets[p.Object], p.Selected...)
			if q.Bypasses != nil && item.InForce != nil {
				item.InForce.NotFor = q.Bypasses(p.Object)
			}
		}
		if q.Audit {
			item.compareWithReported(auditor, p)
		}
		list.Items = append(list.Items, item)
	}
	slices.SortStableFunc(list.Items, func(a, b ObjectStatus) int {
		return cmp.Or(-view.CompareBools(a.isPolicy, b.isPolicy), cmp.Compare(q.positionOf(a.Object),
			q.positionOf(b.Object)), a.Object.Compare(b.Object))
	})
	if q.Audit {
		list.countVerdicts()
	}
	list.Finish("StatusList", problems)
	list.LimitRelevance(filterByStatus(r, list, in))
	return list
}

// noConditions is said of policies whose controller reports nothing.
const noConditions = "the controller of this kind writes no conditions"

// unstatedConditions is said of policies of which it is not known what their controller reports.
const unstatedConditions = "what the controller of this kind reports is not known"

// referencesByPolicy returns the references of the policies as they name them. Selectors name
// nothing.
func referencesByPolicy(kinds []*resolve.Kind) map[model.Ref][]model.Ref {
	out := map[model.Ref][]model.Ref{}
	for _, k := range kinds {
		for _, p := range k.Policies {
			for _, t := range p.Refs {
				if t.Selection == nil {
					out[p.Ref()] = append(out[p.Ref()], t.Ref)
				}
			}
		}
	}
	return out
}

func buildObjectStatus(p status.Prediction) ObjectStatus {
	out := ObjectStatus{Object: p.Object, Ancestors: []AncestorStatus{}, Affected: []model.Ref{},
		AttachedRoutes: p.AttachedRoutes, SupportedKinds: p.SupportedKinds,
		AttachedListenerSets: p.AttachedListenerSets, refused: p.Refused}
	if f := p.InForce; f != nil {
		out.InForce = &PolicyForce{State: string(f.State), Targets: f.Targets, Wholly: f.Wholly, Partly: f.Partly,
			Level: string(f.Role), kind: f.Kind}
	}
	out.Status, out.Note = p.Custom.Fields, p.Custom.Note
	if p.NoConditions {
		out.Note = noConditions
		if p.Policy.Kind.Status.Unstated {
			out.Note = unstatedConditions
		}
	}
	out.Affected = append(out.Affected, p.Affected...)
	for _, a := range p.Ancestors {
		s := AncestorStatus{AncestorRef: newAncestorRef(a.Ref, a.Port), ControllerName: a.Controller,
			Conditions: []Condition{}}
		for _, c := range a.Conditions {
			s.Conditions = append(s.Conditions, Condition(c))
		}
		out.Ancestors = append(out.Ancestors, s)
	}
	return out
}

// Empty reports whether there is no status. An audit that found no difference is not empty.
func (l *StatusList) Empty() bool { return len(l.Items) == 0 && l.Summary == nil }

// filterByStatus returns a function that tells which problems matter to the statuses in the list:
// those of the objects themselves, of policies that are not in it because the API server refuses
// them, and of what else policies depend on.
func filterByStatus(r *resolve.Resolution, list *StatusList, in func(model.Ref) bool) func(model.Problem) bool {
	return collect.FilterByObjects(func(add func(model.Ref)) {
		for i := range list.Items {
			add(list.Items[i].Object)
		}
	}, func(p model.Problem, ref model.Ref) bool {
		if r.Snapshot.IsRefused(ref) {
			return in(ref)
		}
		own := r.Kind(ref.GroupKind()) != nil || slices.Contains(gatewayapi.RouteKinds(), ref.GroupKind())
		return !own && !collect.IsOnlyAboutTraffic(r, p)
	})
}

// unreadProblems returns the problems about what is not read and may matter to the statuses that
// are asked about.
func (q *Query) unreadProblems(r *resolve.Resolution, kinds []*resolve.Kind) []model.Problem {
	if q.Policies != nil {
		var out []model.Problem
		for _, p := range q.Policies {
			if i := slices.IndexFunc(kinds, func(k *resolve.Kind) bool { return k.HasPolicy(p) }); i >= 0 {
				out = append(out, collect.UnreadProblemsOf(r, kinds[i], p, nil)...)
			}
		}
		return out
	}
	if q.InNamespace == nil {
		return unread.Summarize(unread.Inputs(r))
	}
	var nodes []topology.NodeID
	for id := range topology.NodeID(r.Graph.Len()) {
		if ref := r.Graph.Node(id).Ref; ref.Namespace != "" && q.InNamespace(ref.Namespace) {
			nodes = append(nodes, id)
		}
	}
	return unread.Summarize(unread.ForTargets(r, append(nodes, targetsIn(kinds, q.InNamespace)...)))
}

// targetsIn returns the targets of the policies of some namespaces.
func targetsIn(kinds []*resolve.Kind, in func(namespace string) bool) []topology.NodeID {
	var out []topology.NodeID
	for _, k := range kinds {
		for _, p := range k.Policies {
			if in(p.Ref().Namespace) {
				out = append(out, k.TargetsOf(p)...)
			}
		}
	}
	return out
}
