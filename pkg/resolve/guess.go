package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Guesses are what leaves open how a kind without a descriptor is to be read.
type Guesses struct{ *Kind }

// Guesses returns those about the kind.
func (k *Kind) Guesses() Guesses { return Guesses{k} }

// stackProblems reports what leaves open what holds with a stack of a kind without a descriptor
// (engine E15).
func (k Guesses) stackProblems(o *Verdict) []model.Problem {
	if !k.IsGeneric() || len(o.Layers) == 0 {
		return nil
	}
	out := k.labelDoubts()
	var met []*policy.Policy
	single := true // whether each of the policies has one set of settings
	for _, l := range o.Layers {
		if !slices.Contains(met, l.Policy) {
			met = append(met, l.Policy)
			single = single && len(l.Policy.Blocks) < 2
			out = append(out, attach.ProblemsOf(l.Policy.Uncertain)...)
		}
		at := k.res.Node(l.Node).Ref.WithoutSection()
		for i, ref := range l.Policy.Refs {
			if i == l.attached.Ref || ref.Ref.WithoutSection() == at {
				out = append(out, attach.ProblemsOf(ref.Uncertain)...)
			}
		}
	}
	if len(met) > 1 && !(k.Guess.DefinesMerge && single) {
		out = append(out, k.meetingProblem(o, met))
	}
	return out
}

// Below reports what leaves open what holds at a route rule with a stack because of policies of the
// kind at the backends of the rule: without a descriptor it is not known which of the two has the
// last word.
func (k Guesses) Below(id topology.NodeID, s StackID) []model.Problem {
	along, ok := k.engine.(*pathEngine)
	if !ok || !k.IsGeneric() || !k.TargetsBesidePath || k.IsEmpty(s) || k.res.Node(id).Role != topology.Rule {
		return nil
	}
	var out []model.Problem
	for _, c := range k.res.Graph.Children(k.Family, id) {
		own := along.additionsOf(c)
		if len(own.nodes) == 0 {
			continue
		}
		if below, ok := along.findWith(s, own); ok && hasStack(k.contexts[c], below) {
			out = append(out, k.stackProblems(k.Verdict(below))...)
		}
	}
	return out
}

// hasStack reports whether a stack is among sorted ones. A backend of many routes may have as many.
func hasStack(sorted []StackID, s StackID) bool {
	_, found := slices.BinarySearch(sorted, s)
	return found
}

// meetingProblem reports that several policies of the kind meet.
func (k Guesses) meetingProblem(o *Verdict, met []*policy.Policy) model.Problem {
	const most = 5
	var names []string
	for i, p := range met {
		if i == most {
			names = append(names, fmt.Sprintf("%d more", len(met)-most))
			break
		}
		names = append(names, p.Ref().FullName())
	}
	where := "meet on one path"
	if !slices.ContainsFunc(o.Layers, func(l Layer) bool { return l.Node != o.Layers[0].Node }) {
		where = "have one target"
	}
	last := len(names) - 1
	return model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Hint: policy.DescribeHint,
		Message: fmt.Sprintf("%s has no descriptor: %s and %s %s, and may add up", k.Name(), strings.Join(names[:last],
			", "), names[last], where)}.At(met[0].Object)
}

// labelDoubts reports why the kind may be read altogether wrong.
func (k Guesses) labelDoubts() []model.Problem {
	if k.Guess.Doubt == "" {
		return nil
	}
	return []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated, Ref: k.AllPoliciesRef(),
		Hint: policy.DescribeHint,
		Message: fmt.Sprintf(
			"%s has no descriptor, and its CRD is labelled Direct although %s: it is read as inherited", k.Name(),
			k.Guess.Doubt)}}
}

// Of returns the problems with what is not understood of a policy without a descriptor, wherever it
// holds.
func (k Guesses) Of(p *policy.Policy) []model.Problem {
	out := attach.ProblemsOf(p.Uncertain)
	for _, ref := range p.Refs {
		out = append(out, attach.ProblemsOf(ref.Uncertain)...)
	}
	return out
}

// Describe says what of the reading of a kind without a descriptor may be wrong, for people.
func (k Guesses) Describe() []string {
	var out []string
	if !k.IsGeneric() {
		return out
	}
	if k.Guess.Doubt != "" {
		out = append(out, "its class, because "+k.Guess.Doubt)
	}
	if !k.Guess.DefinesMerge {
		out = append(out, "what several of its policies on one path are to each other")
	}
	var fields []string
	for _, p := range k.Policies {
		fields = append(fields, p.UnknownRefFields...)
		for _, d := range p.Uncertain {
			fields = append(fields, d.Field)
		}
		for _, ref := range p.Refs {
			for _, d := range ref.Uncertain {
				fields = append(fields, d.Field)
			}
		}
	}
	slices.Sort(fields)
	return append(out, slices.Compact(fields)...)
}
