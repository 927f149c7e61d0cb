package networkpolicy

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// findProblems says what of the policies cannot be read or has no effect, and what is assumed about
// their order.
func findProblems(_ *build.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	var out []model.Problem
	var policies []*model.Object
	for _, gk := range []model.GroupKind{clusterKind, adminKind, baselineKind, ownKind} {
		policies = append(policies, in.OfKind(gk)...)
	}
	for _, o := range policies {
		for _, dir := range []direction{ingress, egress} {
			out = append(out, findRuleProblems(o, dir)...)
		}
		if types := o.Body.At("spec", "policyTypes"); o.Ref.GroupKind() == ownKind && !types.IsNull() &&
			!types.IsList() {
			out = append(out, newWarning(o, model.WrongType, "spec.policyTypes is no list: it is as if it were absent",
				"spec", "policyTypes"))
		}
	}
	out = append(out, findUnmaskedNetworks(in)...)
	for _, o := range in.OfKind(clusterKind) {
		out = append(out, findExperimentalPorts(o)...)
	}
	policies = sortPolicies(policies)
	out = append(out, findEqualPriorities(policies)...)
	return append(out, findMixedAPIs(in)...)
}

// findUnmaskedNetworks finds networks that have bits beyond their prefix in policies that a server has
// stored: the definition of 0.2.1 and later refuses them.
func findUnmaskedNetworks(in *model.Snapshot) []model.Problem {
	var out []model.Problem
	for _, o := range in.OfKind(clusterKind) {
		o.Body.At("spec", "egress").Walk([]string{"spec", "egress"}, func(key string, v model.Body, at []string) bool {
			if key != "networks" {
				return true
			}
			for i, e := range v.Items {
				if why := explainUnmasked(e.Text()); why != "" {
					out = append(out, newWarning(o, model.InvalidObject,
						why+": the API server refuses the next write since release 0.2.1",
						append(slices.Clone(at), formatInt(i))...))
				}
			}
			return false
		})
	}
	return out
}

// explainUnmasked says what is wrong with a network that has bits beyond its prefix; "" of others.
func explainUnmasked(text string) string {
	network, err := netip.ParsePrefix(text)
	if err != nil || network.Masked() == network {
		return ""
	}
	return fmt.Sprintf("network %s has bits beyond its prefix; without them it is %s", text, network.Masked())
}

// findExperimentalPorts reports entries that only the experimental channel of the API knows: the
// standard definition drops their field, and refuses the entry that is left, as it is empty.
func findExperimentalPorts(o *model.Object) []model.Problem {
	var out []model.Problem
	for _, dir := range []direction{ingress, egress} {
		for i, rule := range o.Body.At("spec", string(dir)).Items {
			for j, e := range rule.Field("protocols").Items {
				if e.Field("destinationNamedPort").IsNull() {
					continue
				}
				p := newWarning(o, model.InvalidObject, fmt.Sprintf(
					"destinationNamedPort %q is in the experimental channel only: the standard definition drops it, and refuses the entry without it",
					e.Text("destinationNamedPort")), "spec", string(dir), formatInt(i), "protocols", formatInt(j))
				p.Hint = "say which channel you have: --vendor-version networkpolicy=0.3.0-standard, or 0.3.0"
				out = append(out, p)
			}
		}
	}
	return out
}

// newWarning is a warning about the part of a policy at a path.
func newWarning(o *model.Object, code model.Code, message string, path ...string) model.Problem {
	return model.Problem{Severity: model.Warning, Code: code, Message: message}.At(o, path...)
}

// findRuleProblems is what is wrong with the rules of a policy for a direction.
func findRuleProblems(o *model.Object, dir direction) []model.Problem {
	list := o.Body.At("spec", string(dir))
	where := []string{"spec", string(dir)}
	switch {
	case list.IsNull():
		return nil
	case !list.IsList():
		return []model.Problem{newWarning(o, model.WrongType,
			fmt.Sprintf("spec.%s is no list: there are no such rules", dir), where...)}
	case findStage(o) == ownPolicies && !isAboutDirection(o, dir) && list.Len() > 0:
		return []model.Problem{newWarning(o, model.InvalidObject,
			fmt.Sprintf("its %s rules have no effect: policyTypes does not name that direction", dir), where...)}
	}
	var out []model.Problem
	for i, entry := range list.Items {
		r := readRule(o, dir, i, entry)
		// the API server refuses the policy
		if r.action == none || r.stage != ownPolicies && entry.Field(dir.peerField()).IsNull() {
			continue
		}
		at := append(slices.Clone(where), formatInt(i))
		for _, why := range r.unread {
			out = append(out, newWarning(o, model.InvalidObject, fmt.Sprintf("spec.%s[%d].%s: %s", dir, i, why,
				r.describeConsequence()), at...))
		}
	}
	return out
}

// describeConsequence is what becomes of a rule of which a part cannot be read.
func (r *rule) describeConsequence() string {
	switch {
	case r.stage == ownPolicies:
		return "that entry allows nothing"
	case r.action == deny:
		return "the rule fails closed, and denies everything"
	}
	return "the rule fails closed, and matches nothing"
}

// findEqualPriorities reports policies of a tier whose order nobody defines, where their rules do
// different things.
func findEqualPriorities(policies []*model.Object) []model.Problem {
	var out []model.Problem
	for i, o := range policies {
		if findStage(o) == ownPolicies {
			continue
		}
		j := slices.IndexFunc(policies[:i], func(p *model.Object) bool {
			_, ordered := explainUnordered(p, o)
			return findStage(p) == findStage(o) && !ordered && haveDifferentActions(p, o)
		})
		if j < 0 {
			continue
		}
		why, _ := explainUnordered(policies[j], o)
		p := newWarning(o, model.OrderUncertain, fmt.Sprintf("beside %s in the %s tier, with other actions: %s",
			policies[j].Ref, findStage(o), why), "spec", "priority")
		p.Hint = "give one of them another priority"
		out = append(out, p)
	}
	return out
}

// haveDifferentActions reports whether some rules of two policies for one direction have different
// actions.
func haveDifferentActions(a, b *model.Object) bool {
	for _, dir := range []direction{ingress, egress} {
		for _, x := range readRules(a, dir) {
			if slices.ContainsFunc(readRules(b, dir), func(y *rule) bool { return x.action != y.action }) {
				return true
			}
		}
	}
	return false
}

// findMixedAPIs says that kinds of both forms of the API are there, whose order nobody defines.
func findMixedAPIs(in *model.Snapshot) []model.Problem {
	first := slices.Concat(in.OfKind(adminKind), in.OfKind(baselineKind))
	if len(first) == 0 || len(in.OfKind(clusterKind)) == 0 {
		return nil
	}
	kinds := []string{first[0].Ref.Kind}
	if last := first[len(first)-1].Ref.Kind; last != kinds[0] {
		kinds = append(kinds, last)
	}
	p := model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: "the input has kinds of both forms of the API (" + strings.Join(append(kinds, clusterKind.Kind),
			", ") + "): those of a tier are taken for one list by priority"}.At(first[0])
	return []model.Problem{p}
}
