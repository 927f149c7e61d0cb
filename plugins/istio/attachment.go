package istio

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// targetRef is a target reference of a policy.
type targetRef struct{ group, kind, name string }

func (r targetRef) groupKind() model.GroupKind { return model.GroupKind{Group: r.group, Kind: r.kind} }

// policyTargets is how a policy says where it holds.
type policyTargets struct {
	refs     []targetRef
	selector model.Body // the labels; null or empty: none
}

// isNamespaceWide reports whether a policy is for all of its namespace, or of the mesh.
func (s policyTargets) isNamespaceWide() bool { return len(s.refs) == 0 && s.selector.Len() == 0 }

// kindsWithTargetRefsOnly are the kinds that have no targetRef.
var kindsWithTargetRefsOnly = []string{"EnvoyFilter", "TrafficExtension"}

// readPolicyTargets reads the references of a policy and its selector. targetRef counts only
// without targetRefs, and where the kind has it.
func readPolicyTargets(o *model.Object) policyTargets {
	spec := o.Body.Field("spec")
	var out policyTargets
	for _, e := range spec.Field("targetRefs").Items {
		out.refs = append(out.refs, parseTargetRef(e))
	}
	if one := spec.Field("targetRef"); len(out.refs) == 0 && one.IsObject() &&
		!slices.Contains(kindsWithTargetRefsOnly, o.Ref.Kind) {
		out.refs = []targetRef{parseTargetRef(one)}
	}
	out.selector = spec.At("selector", "matchLabels")
	if o.Ref.Kind == "EnvoyFilter" {
		out.selector = spec.At("workloadSelector", "labels")
	}
	return out
}

func parseTargetRef(b model.Body) targetRef {
	r := targetRef{b.Text("group"), b.Text("kind"), b.Text("name")}
	if r.group == "core" {
		r.group = ""
	}
	return r
}

// isAttached reports whether a policy holds at a target; split is true if it holds for some Pods of
// it only.
func (w *proxyIndex) isAttached(namespace string, s policyTargets, t target) (holds, split bool) {
	switch {
	case namespace != w.root && namespace != t.namespace() && (t.service == nil ||
		namespace != t.service.Ref.Namespace):
		return false, false
	case t.form == sidecar || len(s.refs) == 0:
		if len(s.refs) > 0 || t.form == waypoint || t.form == ingress && !w.selectors || namespace != w.root &&
			namespace != t.namespace() {
			return false, false
		}
		return t.matchSelector(s.selector)
	}
	return slices.ContainsFunc(s.refs, func(r targetRef) bool { return w.isReferenced(namespace, r, t) }), false
}

// isReferenced reports whether one reference of a policy means a Gateway or what it serves.
func (w *proxyIndex) isReferenced(namespace string, r targetRef, t target) bool {
	switch r.groupKind() {
	case serviceKind, serviceEntryKind:
		return t.form == waypoint && t.service != nil && t.service.Ref.GroupKind() == r.groupKind() &&
			t.service.Ref.Name == r.name && t.service.Ref.Namespace == namespace
	case gatewayClassKind:
		return t.form == waypoint && r.name == waypointClass && namespace == w.root
	case gatewayKind:
		return namespace == t.namespace() && r.name == t.name
	}
	return false
}

// targetFinder finds where a policy of one kind holds.
type targetFinder func(w *proxyIndex, p *policy.Policy) (found attachPoints, problems []model.Problem)

// attachPoints is where a policy holds: at targets, and in Namespaces as such.
type attachPoints struct {
	targets    []target
	namespaces []string
}

// newLegMaker makes a leg of a finder.
func newLegMaker(find targetFinder) policy.PointSearch {
	return func(g *topology.Graph, in *model.Snapshot, s model.Settings) policy.PointFinder {
		w := buildProxyIndex(in, s)
		return func(p *policy.Policy) ([]topology.NodeID, []model.Problem) {
			at, problems := find(w, p)
			problems = append(problems, revisionProblems(p)...)
			var out []topology.NodeID
			for _, t := range at.targets {
				out = append(out, g.Lookup(t.representativeObject().Ref)...)
			}
			for _, name := range at.namespaces {
				out = append(out, g.Lookup(model.Ref{Kind: "Namespace", Name: name})...)
			}
			return out, problems
		}
	}
}

// revisionProblems says that a policy is for control planes of one revision only: which one a
// workload has is not evaluated.
func revisionProblems(p *policy.Policy) []model.Problem {
	rev := p.Object.Labels[revision]
	if rev == "" {
		return nil
	}
	return []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf(
			"by its label %s it is only for workloads of the control plane %s, which is not evaluated: it is shown as if it were for all", revision, rev)}.At(p.Object)}
}

// findAttached finds the targets of a policy with a selector or references.
func findAttached(w *proxyIndex, p *policy.Policy) (attachPoints, []model.Problem) {
	s := readPolicyTargets(p.Object)
	var out attachPoints
	var problems []model.Problem
	for _, t := range w.targetsNear(p.Ref().Namespace) {
		holds, split := w.isAttached(p.Ref().Namespace, s, t)
		if holds {
			out.targets = append(out.targets, t)
		}
		if split {
			problems = append(problems, splitProblem(p, t))
		}
	}
	if len(out.targets) == 0 {
		problems = append(problems, w.explainUnattached(p, s)...)
	}
	return out, problems
}

// splitProblem says that a selector picks only some Pods of a Gateway.
func splitProblem(p *policy.Policy, t target) model.Problem {
	return model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: fmt.Sprintf(
			"its selector picks some Pods of %s and not others; it is shown as if it picked all of them",
			t.representativeObject().Ref)}.At(p.Object)
}

// explainUnattached says why a policy holds nowhere.
func (w *proxyIndex) explainUnattached(p *policy.Policy, s policyTargets) []model.Problem {
	problem := func(severity model.Severity, code model.Code, hint, format string, args ...any) []model.Problem {
		return []model.Problem{model.Problem{Severity: severity, Code: code, Message: fmt.Sprintf(format, args...),
			Hint: hint}.At(p.Object)}
	}
	switch {
	case len(s.refs) > 0:
		return w.explainReferences(p, s.refs)
	case slices.ContainsFunc(w.outside, func(t target) bool { return w.selectsOutside(p.Ref().Namespace, s, t) }):
		return problem(model.Warning, model.NotReached, "",
			"the workloads that it selects are not in the mesh, as their labels or their namespace say: it holds nowhere")
	case s.selector.Len() > 0:
		return problem(model.Info, model.NotEvaluated, "add the Pods, or what makes them",
			"no workload in the input has the labels of its selector: where it holds is not known")
	}
	return nil
}

// selectsOutside reports whether a policy would hold at a workload that is not in the mesh.
func (w *proxyIndex) selectsOutside(namespace string, s policyTargets, t target) bool {
	holds, _ := w.isAttached(namespace, s, t)
	return holds && s.selector.Len() > 0
}

// explainReferences says what is wrong with references that lead nowhere.
func (w *proxyIndex) explainReferences(p *policy.Policy, refs []targetRef) []model.Problem {
	var out []model.Problem
	for _, r := range refs {
		message := fmt.Sprintf("%s %s is no Gateway of Istio in namespace %s, and nothing behind a waypoint there",
			r.kind, r.name, p.Ref().Namespace)
		code := model.TargetNotFound
		switch r.groupKind() {
		case gatewayKind, serviceKind, serviceEntryKind:
			to := model.Ref{Group: r.group, Kind: r.kind, Namespace: p.Ref().Namespace, Name: r.name}
			if e := w.in.FindExistence(to); e.Presence == model.NotKnown {
				out = append(out, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
					Message: "cannot tell whether the policy applies: " + e.Why}.At(p.Object))
				continue
			}
		case gatewayClassKind:
			switch {
			case p.Ref().Namespace != w.root:
				message = fmt.Sprintf("a GatewayClass is named outside of the root namespace %s, which has no effect",
					w.root)
			case r.name != waypointClass:
				message = fmt.Sprintf("GatewayClass %s is not that of waypoints, %s", r.name, waypointClass)
			default:
				message = "there is no waypoint in the input"
			}
		default:
			code = model.InvalidTarget
			message = fmt.Sprintf(
				"%s of group %q can be no target: only Gateway, GatewayClass, Service and ServiceEntry can",
				r.kind, r.group)
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: code, Message: message +
			": the policy does not apply"}.At(p.Object))
	}
	return out
}
