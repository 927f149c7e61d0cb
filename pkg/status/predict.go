package status

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// Condition is one predicted condition. Status is True, False or, where the input does not tell,
// Unknown.
type Condition struct{ Type, Status, Reason, Message string }

// Ancestor is the conditions towards one ancestor; a nil Ref means that they are the object's own.
type Ancestor struct {
	Ref        *model.Ref
	Port       int32 // of a route's parentRef; 0: not given
	Controller string
	Conditions []Condition
	Tentative  bool // what a controller would write if one processed the object
	Dependent  bool // whether the entry is there depends on other objects: not certain where some may not be read
}

// MissedRef is a reference of a policy that leads nowhere, with the code of the problem about it.
type MissedRef struct {
	Ref  model.Ref
	Code model.Code
}

// Prediction is the status of one object.
type Prediction struct {
	Object       model.Ref
	Ancestors    []Ancestor
	Policy       *policy.Policy // nil: of another object
	Missed       []MissedRef    // of policies with other targets: references that are known to lead nowhere
	Affected     []model.Ref    // of policies: the objects that they really change
	Refused      bool           // of policies: the API refuses it, so that it has no status
	NoConditions bool           // of policies: the controller writes no conditions
	InForce      *InForce       // of policies: where they are in force
	Selected     []model.Ref    // of policies: the targets that no reference names, as those of selectors

	Custom CustomStatus // of policies: what their kind reports in place of conditions

	AttachedRoutes *int     // of listeners
	SupportedKinds []string // of listeners: Kind.group

	AttachedListenerSets *int // of Gateways
}

// Input is what a Writer writes from.
type Input struct {
	Resolution *resolve.Resolution
	Kind       *resolve.Kind
	Outcome    *PolicyOutcome
}

// Writer writes a policy's conditions as its vendor does.
type Writer func(in Input) []Ancestor

// KindWriter writes the conditions of all policies of a kind at once, where what one reports
// depends on the others. A policy without an entry has no status.
type KindWriter func(r *resolve.Resolution, k *resolve.Kind, fates []*PolicyOutcome) map[*policy.Policy][]Ancestor

// CustomStatus is a status that is not made of conditions.
type CustomStatus struct {
	Fields any    // what stands below status, JSON; nil: nothing does
	Note   string // the gist of it, or why there is nothing, for people
}

// CustomWriter writes the statuses of all policies of a kind, and of its members, that are not made
// of conditions.
type CustomWriter func(r *resolve.Resolution, k *resolve.Kind, fates []*PolicyOutcome) map[*policy.Policy]CustomStatus

// Marker writes the marks that a kind's policies leave on other objects.
type Marker func(r *resolve.Resolution, k *resolve.Kind) []Mark

// Mark is a condition on an object that a policy affects: the object's own, or an entry of the
// controller for each parent of a route.
type Mark struct {
	Object     model.Ref
	Controller string // not "": in the entry of this controller, for every parent of the route
	Own        bool   // not for parents that are known to be another controller's
	Condition  Condition
	Replaces   bool // only where the controller has an entry anyway, in the place of the condition of its type
}

// Functions are the functions that descriptors name; a name is that of a Writer, of a KindWriter or
// of a CustomWriter. Revisers are all called, one after the other.
type Functions struct {
	Writers       map[string]Writer
	KindWriters   map[string]KindWriter
	CustomWriters map[string]CustomWriter
	Markers       map[string]Marker
	Revisers      []Reviser
}

// Reviser corrects what is predicted about Gateways, ListenerSets, listeners and routes where an
// implementation does otherwise than the Gateway API says, before policies leave their marks.
type Reviser func(r *resolve.Resolution, all []Prediction) []Prediction

// LeaveChangesOpen makes those conditions unknown in whose place others were written, where it may not be
// read whose the object is. why says so.
func LeaveChangesOpen(conditions, written []Condition, why string) {
	for i := range conditions {
		if c := &conditions[i]; !slices.Contains(written, *c) {
			*c = Condition{Type: c.Type, Status: "Unknown", Reason: "NotEvaluated", Message: why}
		}
	}
}

// PredictPolicies predicts the status of every policy of the given kinds, in order.
func PredictPolicies(r *resolve.Resolution, kinds []*resolve.Kind, funcs Functions) []Prediction {
	var out []Prediction
	for _, k := range kinds {
		if len(k.Policies) == 0 {
			continue
		}
		write := WriteUsual
		if w, ok := funcs.Writers[k.Status.Func]; ok {
			write = w
		}
		fates := outcomesOf(r, k)
		if b, ok := funcs.KindWriters[k.Status.Func]; ok {
			all := b(r, k, fates)
			write = func(in Input) []Ancestor { return all[in.Outcome.Policy] }
		}
		var blocks map[*policy.Policy]CustomStatus
		if b, ok := funcs.CustomWriters[k.Status.Func]; ok {
			blocks = b(r, k, fates)
			write = func(Input) []Ancestor { return nil }
		}
		out = slices.Grow(out, len(fates))
		for _, f := range fates {
			p := Prediction{Object: f.Policy.Ref(), Policy: f.Policy, Affected: f.Affected, Refused: f.Policy.Refused,
				NoConditions: f.Policy.Kind.Status.NoConditions, Custom: blocks[f.Policy]}
			in := Input{r, k, f}
			force := computeInForce(in)
			p.Selected = selectedTargets(in)
			if force.Targets > 0 || p.Custom.Note == "" { // else the note says what the object is
				p.InForce = &force
			}
			if !p.Refused && !p.NoConditions && k.SeesNamespace(f.Policy.Ref().Namespace) {
				p.Ancestors, p.Missed = predictWithGaps(in, write), missedRefs(in)
			}
			out = append(out, p)
		}
	}
	return out
}

// missedRefs lists the references of a policy that lead nowhere while others find a target.
func missedRefs(in Input) []MissedRef {
	if len(in.Outcome.Targets) == 0 {
		return nil
	}
	var out []MissedRef
	for _, t := range in.Outcome.Missed {
		if t.Selection == nil && !t.Silent && !in.isUnread(t) {
			out = append(out, MissedRef{t.Ref, missedCode(in, t)})
		}
	}
	return out
}

// WriteUsual writes the conditions that GEP-713 provides for, in the words of the kind: Accepted,
// and whether the policy is in force.
func WriteUsual(in Input) []Ancestor {
	accepted, ok := acceptedCondition(in)
	words := in.Kind.Status.Accepted
	if words != nil {
		accepted = translateAccepted(accepted, words)
	}
	out := []Ancestor{{Conditions: []Condition{accepted}}}
	if !ok || words != nil && words.Alone {
		return out
	}
	if c := inForceCondition(in.Outcome, in.Kind.Status); c != nil {
		out[0].Conditions = append(out[0].Conditions, *c)
	}
	return out
}

// translateAccepted returns the Accepted condition in a kind's own words.
func translateAccepted(c Condition, w *policy.AcceptedWords) Condition {
	c.Type = w.Type
	switch c.Reason {
	case string(gatewayv1.PolicyReasonAccepted):
		c.Reason = w.Yes
	case string(gatewayv1.PolicyReasonInvalid):
		c.Reason = w.Invalid
	}
	return c
}

// acceptedCondition returns the Accepted condition, and whether the policy is accepted (gep713 P34,
// P35, P38).
func acceptedCondition(in Input) (Condition, bool) {
	f := in.Outcome
	no := func(reason, format string, args ...any) (Condition, bool) {
		return Condition{typeAccepted, "False", reason, fmt.Sprintf(format, args...)}, false
	}
	switch {
	case len(f.Targets) == 0 && len(f.Missed) == 0:
		return no(string(gatewayv1.PolicyReasonInvalid), "the policy has no target reference")
	case len(f.Targets) == 0:
		ref := f.Missed[0].Ref
		switch code := missedCode(in, f.Missed[0]); code {
		case model.TargetNotFound:
			return no(string(gatewayv1.PolicyReasonTargetNotFound), "%s not found%s", ref.String(),
				listSections(in, ref))
		case model.RefNotPermitted:
			return no(string(gatewayv1.RouteReasonRefNotPermitted), "no ReferenceGrant permits the reference to %s",
				ref.String())
		default:
			return no(string(gatewayv1.PolicyReasonInvalid), "%s cannot be a target of the policy", ref.String())
		}
	case f.Policy.Fault != "":
		return no(cmp.Or(f.Policy.Reason, string(gatewayv1.PolicyReasonInvalid)), "%s", f.Policy.Fault)
	case len(f.RejectedBy) > 0 && f.KeptTargets == 0:
		return no(string(gatewayv1.PolicyReasonConflicted), "%s", describeConflicts(f.Conflicts))
	}
	message := "the policy has been accepted" + describeRejections(in)
	if len(f.Missed) > 0 {
		var missed []string
		for _, m := range f.Missed {
			missed = append(missed, m.Ref.String())
		}
		message += "; not found: " + strings.Join(missed, ", ")
	}
	if f.Paths == 0 {
		message += noPath
	}
	return Condition{typeAccepted, "True", string(gatewayv1.PolicyReasonAccepted), message}, true
}

// noPath ends the message of a policy that is accepted where no traffic comes.
const noPath = "; no traffic path reaches the target"

// missedCode returns the code of the problem that was reported for a reference that led nowhere.
func missedCode(in Input, ref policy.TargetRef) model.Code {
	origin := ref.Origin()
	for _, p := range in.Resolution.Problems {
		if p.Ref == nil || *p.Ref != in.Outcome.Policy.Ref() || p.Origin == nil || *p.Origin != origin {
			continue
		}
		switch p.Code {
		case model.TargetNotFound, model.RefNotPermitted, model.InvalidTarget, model.CrossNamespaceTarget:
			return p.Code
		}
	}
	return model.TargetNotFound
}

// inForceCondition returns the second condition, nil where no path leads to the target.
func inForceCondition(f *PolicyOutcome, words policy.StatusWords) *Condition {
	yes := func(status, reason, format string, args ...any) *Condition {
		return &Condition{words.Type, status, reason, fmt.Sprintf(format, args...)}
	}
	switch {
	case f.Paths == 0 || f.Sets == 0:
		if words.NoScope == "" {
			return nil
		}
		if f.Paths > 0 {
			return yes("False", words.NoScope, "the policy has no settings")
		}
		return yes("False", words.NoScope, "no traffic path reaches the target")
	case f.Holds == 0:
		return yes("False", words.None, "overridden by %s", listPolicies(f.overridingPolicies()))
	case f.PathsInForce < f.Paths:
		return yes("True", words.Some, "in force on %d of %d paths; overridden by %s: %s", f.PathsInForce, f.Paths,
			listPolicies(f.overridingPolicies()), f.listLostRules())
	case f.Holds < f.Sets:
		return yes("True", words.Some, "in force in part on %s; overridden by %s: %s", formatPaths(f.Paths),
			listPolicies(f.overridingPolicies()), f.listLostRules())
	}
	return yes("True", words.All, "in force on %s", formatPaths(f.Paths))
}

func formatPaths(n int) string {
	if n == 1 {
		return "1 path"
	}
	return fmt.Sprintf("all %d paths", n)
}

// listPolicies names up to five policies, then counts (gep713 P37).
func listPolicies(refs []model.Ref) string {
	if len(refs) == 0 {
		return "its own condition"
	}
	var names []string
	for _, r := range refs {
		name := r.FullName()
		if slices.Contains(gatewayapi.RouteKinds(), r.GroupKind()) { // a setting of the route itself
			name = r.String()
		}
		names = append(names, name)
	}
	return listNames(names)
}

// listNames lists up to five names, then counts.
func listNames(names []string) string {
	const most = 5
	if rest := len(names) - most; rest > 0 {
		names = append(names[:most:most], fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(names, ", ")
}

// listSections lists the sections that the object of a reference has, where only the section is
// missing (gep713 P7).
func listSections(in Input, ref model.Ref) string {
	if ref.Section == "" {
		return ""
	}
	have := in.Resolution.Graph.Sections(ref.WithoutSection())
	if len(have) == 0 {
		return ""
	}
	return "; it has " + strings.Join(have, ", ")
}
