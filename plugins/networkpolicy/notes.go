package networkpolicy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// notes says what of the policies cannot be read or has no effect, and what is assumed about their order.
func notes(_ *topology.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	var out []model.Problem
	var policies []*model.Object
	for _, gk := range []model.GroupKind{clusterKind, adminKind, baselineKind, ownKind} {
		policies = append(policies, in.Of(gk)...)
	}
	for _, o := range policies {
		for _, dir := range []direction{ingress, egress} {
			out = append(out, rulesNotes(o, dir)...)
		}
		if types := o.Body.At("spec", "policyTypes"); o.Ref.GroupKind() == ownKind && !types.IsNull() && !types.IsList() {
			out = append(out, about(o, model.WrongType, "spec.policyTypes is no list: it is as if it were absent", "spec", "policyTypes"))
		}
	}
	policies = sorted(policies)
	out = append(out, equalPriorities(policies)...)
	return append(out, mixed(in)...)
}

// about is a warning about the part of a policy at a path.
func about(o *model.Object, code model.Code, message string, path ...string) model.Problem {
	return model.Problem{Severity: model.Warning, Code: code, Message: message}.At(o, path...)
}

// rulesNotes is what is wrong with the rules of a policy for a direction.
func rulesNotes(o *model.Object, dir direction) []model.Problem {
	list := o.Body.At("spec", string(dir))
	where := []string{"spec", string(dir)}
	switch {
	case list.IsNull():
		return nil
	case !list.IsList():
		return []model.Problem{about(o, model.WrongType, fmt.Sprintf("spec.%s is no list: there are no such rules", dir), where...)}
	case stageOf(o) == ownPolicies && !isolates(o, dir) && list.Len() > 0:
		return []model.Problem{about(o, model.InvalidObject, fmt.Sprintf("its %s rules have no effect: policyTypes does not name that direction", dir), where...)}
	}
	var out []model.Problem
	for i, entry := range list.Items {
		r := readRule(o, dir, i, entry)
		if r.action == none || r.stage != ownPolicies && entry.Field(dir.peerField()).IsNull() { // the API server refuses the policy
			continue
		}
		at := append(slices.Clone(where), itoa(i))
		for _, why := range r.unread {
			out = append(out, about(o, model.InvalidObject, fmt.Sprintf("spec.%s[%d].%s: %s", dir, i, why, r.consequence()), at...))
		}
	}
	return out
}

// consequence is what becomes of a rule of which a part cannot be read.
func (r *rule) consequence() string {
	switch {
	case r.stage == ownPolicies:
		return "that entry allows nothing"
	case r.action == deny:
		return "the rule fails closed, and denies everything"
	}
	return "the rule fails closed, and matches nothing"
}

// equalPriorities reports policies of a tier whose order nobody defines, where their rules do different things.
func equalPriorities(policies []*model.Object) []model.Problem {
	var out []model.Problem
	for i, o := range policies {
		if stageOf(o) == ownPolicies {
			continue
		}
		j := slices.IndexFunc(policies[:i], func(p *model.Object) bool {
			_, ordered := order(p, o)
			return stageOf(p) == stageOf(o) && !ordered && disagree(p, o)
		})
		if j < 0 {
			continue
		}
		why, _ := order(policies[j], o)
		p := about(o, model.OrderUncertain, fmt.Sprintf("beside %s in the %s tier, with other actions: %s", policies[j].Ref, stageOf(o), why), "spec", "priority")
		p.Hint = "give one of them another priority"
		out = append(out, p)
	}
	return out
}

// disagree reports whether some rules of two policies for one direction have different actions.
func disagree(a, b *model.Object) bool {
	for _, dir := range []direction{ingress, egress} {
		for _, x := range rulesOf(a, dir) {
			if slices.ContainsFunc(rulesOf(b, dir), func(y *rule) bool { return x.action != y.action }) {
				return true
			}
		}
	}
	return false
}

// mixed says that kinds of both forms of the API are there, whose order nobody defines.
func mixed(in *model.Snapshot) []model.Problem {
	first := slices.Concat(in.Of(adminKind), in.Of(baselineKind))
	if len(first) == 0 || len(in.Of(clusterKind)) == 0 {
		return nil
	}
	kinds := []string{first[0].Ref.Kind}
	if last := first[len(first)-1].Ref.Kind; last != kinds[0] {
		kinds = append(kinds, last)
	}
	p := model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: "the input has kinds of both forms of the API (" + strings.Join(append(kinds, clusterKind.Kind), ", ") + "): those of a tier are taken for one list by priority"}.At(first[0])
	return []model.Problem{p}
}
