package networkpolicy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/evaluate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

func formatInt(n int) string { return strconv.Itoa(n) }

// matchedRule is a rule that matches, or may match.
type matchedRule struct {
	rule    *rule
	certain bool
}

// policyMatch is what one policy says about the connection: the rules that may be its first to
// match, and whether one certainly does.
type policyMatch struct {
	policy  *model.Object
	rules   []matchedRule
	certain bool
}

// judgeTier asks the policies of a tier, the smallest priority first; it reports whether the next
// stage may be asked. The first rule that matches ends the tier, also one that passes.
func (j *directionJudge) judgeTier(s policyStage) bool {
	left := slices.DeleteFunc(slices.Clone(j.index.cluster), func(o *model.Object) bool { return findStage(o) != s })
	var passing []evaluate.Decider
	var before []policyMatch
	open := true
	for len(left) > 0 {
		group := j.matchPolicies(left[:countEqualPriority(left)])
		if readPriority(left[0]) == noPriority { // it might as well come before the others
			j.addTieDoubts(append(slices.Clone(group), before...))
		}
		left = left[countEqualPriority(left):]
		if open {
			passing = append(passing, j.addOutcomes(s, group)...)
			before = append(before, group...)
		}
		open = open && !slices.ContainsFunc(group, func(a policyMatch) bool { return a.certain })
		if !open && passing == nil && (len(left) == 0 || readPriority(left[len(left)-1]) != noPriority) {
			break // none of the others can change it
		}
	}
	switch {
	case passing != nil && open:
		j.addPassedStage(s, "a rule may pass, and may not match", passing)
	case passing != nil:
		j.addPassedStage(s, "a rule passes", passing)
	case open && slices.ContainsFunc(before, func(a policyMatch) bool { return a.rules != nil }):
		j.addPassedStage(s, "no rule certainly matches", nil)
	case open && before != nil:
		j.addPassedStage(s, "no rule matches", nil)
	case open:
		j.addPassedStage(s, "no policy selects "+j.pod.String(), nil)
	}
	return open || passing != nil
}

// matchPolicies asks those of some policies that select the pod.
func (j *directionJudge) matchPolicies(policies []*model.Object) (out []policyMatch) {
	for _, o := range policies {
		if sel := j.selectsPod(o); sel != selector.No {
			if len(j.index.readRules(o, j.dir)) > 0 {
				j.asked = append(j.asked, o.Ref)
			}
			out = append(out, j.matchPolicy(o, sel))
		}
	}
	return out
}

// countEqualPriority is how many of the policies at the front have no order among each other: they
// have one priority.
func countEqualPriority(policies []*model.Object) int {
	n := 1
	for n < len(policies) && readPriority(policies[n]) == readPriority(policies[0]) {
		n++
	}
	return n
}

// addOutcomes takes what policies say of which nobody knows the order; rules that pass are
// returned.
func (j *directionJudge) addOutcomes(s policyStage, group []policyMatch) (passing []evaluate.Decider) {
	group = slices.DeleteFunc(slices.Clone(group), func(a policyMatch) bool { return a.rules == nil })
	j.addTieDoubts(group)
	for _, a := range group {
		for _, f := range a.rules {
			by := []evaluate.Decider{newDecider(f.rule)}
			if f.rule.action == pass {
				passing = append(passing, by...)
				continue
			}
			j.outcomes = append(j.outcomes, outcome{f.rule.action, s.String(), by})
		}
	}
	return passing
}

// addTieDoubts notes that policies without an order among each other have rules for the connection
// whose actions differ: then either may count.
func (j *directionJudge) addTieDoubts(group []policyMatch) {
	for i, a := range group {
		for _, b := range group[i+1:] {
			why, ordered := explainUnordered(a.policy, b.policy)
			for _, x := range a.rules {
				for _, y := range b.rules {
					if x.rule.action != y.rule.action && !ordered && !j.tied {
						j.tied = true
						j.doubts = append(j.doubts, fmt.Sprintf("%s of %s says %s, %s of %s says %s, and %s",
							x.rule.displayName(), a.policy.Ref, x.rule.actionWord, y.rule.displayName(), b.policy.Ref,
							y.rule.actionWord, why))
					}
				}
			}
		}
	}
}

// explainUnordered says why two policies of a tier have no order, or that they have one.
func explainUnordered(a, b *model.Object) (why string, ordered bool) {
	x, y := readPriority(a), readPriority(b)
	switch {
	case x == noPriority || y == noPriority:
		return "which of the two policies comes first is not defined", false
	case x == y:
		return fmt.Sprintf("both policies have priority %d: either may count", x), false
	}
	return "", true
}

// matchPolicy goes through the rules of a policy, up to the first that certainly matches.
func (j *directionJudge) matchPolicy(o *model.Object, sel selector.Truth) policyMatch {
	out := policyMatch{policy: o}
	for _, r := range j.index.readRules(o, j.dir) {
		match := min(sel, j.matchRule(r))
		if match == selector.No {
			continue
		}
		out.rules = append(out.rules, matchedRule{r, match == selector.Yes})
		if match == selector.Yes {
			out.certain = true
			break
		}
	}
	return out
}

// judgeNetworkPolicies asks the NetworkPolicies of the pod's namespace; it reports whether the next
// stage may be asked. As soon as one selects the pod for the direction, what none of them allows is
// denied.
func (j *directionJudge) judgeNetworkPolicies() bool {
	var allows, isolating []evaluate.Decider
	isolated := selector.No
	for _, o := range j.index.byNamespace[j.pod.pod.Ref.Namespace] {
		if !isAboutDirection(o, j.dir) {
			continue
		}
		sel := j.selectsPod(o)
		if sel == selector.No {
			continue
		}
		j.asked = append(j.asked, o.Ref)
		isolated = max(isolated, sel)
		isolating = append(isolating, evaluate.Decider{Policy: o.Ref, Origin: o.Origin, Rule: ownPolicies.String() +
			"." + string(j.dir) + ".rest", Action: "Deny"})
		for _, r := range j.index.readRules(o, j.dir) {
			switch match := min(sel, j.matchRule(r)); match {
			case selector.Yes:
				j.outcomes = append(j.outcomes, outcome{allow, ownPolicies.String(), []evaluate.Decider{newDecider(r)}})
				return false
			case selector.Maybe:
				allows = append(allows, newDecider(r))
			}
		}
	}
	if allows != nil {
		j.outcomes = append(j.outcomes, outcome{allow, ownPolicies.String(), allows})
	}
	if isolated != selector.No {
		j.outcomes = append(j.outcomes, outcome{deny, ownPolicies.String(), isolating})
	}
	switch isolated {
	case selector.No:
		j.addPassedStage(ownPolicies, fmt.Sprintf("no NetworkPolicy of namespace %s selects %s for %s",
			j.pod.pod.Ref.Namespace, j.pod.String(), j.dir), nil)
	case selector.Maybe:
		j.addPassedStage(ownPolicies, "cannot tell whether a NetworkPolicy holds for the pod", isolating)
	}
	return isolated != selector.Yes
}

// addDoubt notes why something is not known.
func (j *directionJudge) addDoubt(o *model.Object, format string, args ...any) selector.Truth {
	j.doubts = append(j.doubts, o.Ref.String()+": "+fmt.Sprintf(format, args...))
	return selector.Maybe
}

// selectsPod reports whether a policy selects the pod.
func (j *directionJudge) selectsPod(o *model.Object) selector.Truth {
	s, err := readSubject(o)
	if err != nil {
		return selector.No
	}
	picks := j.matchSelector(s, j.pod.pod)
	switch {
	case picks == selector.No:
	case j.pod.pod.HostNetwork:
		return j.addDoubt(o, "%s is in the network of its node, where policies may have no effect", j.pod.String())
	case picks == selector.Maybe && j.pod.pod.Partial:
		return j.addDoubt(o, "cannot tell whether it selects %s: its labels are not in the input", j.pod.String())
	case picks == selector.Maybe:
		return j.addDoubt(o, "cannot tell whether it selects %s: the labels of namespace %s are not in the input",
			j.pod.String(), j.pod.pod.Ref.Namespace)
	}
	return picks
}

// matchSelector reports whether a selector has the labels of a pod, whichever network it is in.
func (j *directionJudge) matchSelector(s selector.PodSelector, p *workload.Pod) selector.Truth {
	return min(s.Pods.SelectsPartly(p.Labels, p.Partial), j.graph.SelectsPodsIn(s, p.Ref.Namespace))
}

// matchRule reports whether a rule matches the connection: any of its peers and any of its ports
// do.
func (j *directionJudge) matchRule(r *rule) selector.Truth {
	ports, why := selector.Yes, []string(nil)
	switch {
	case r.ports == nil:
	case j.port == 0:
		ports, why = selector.Maybe, []string{"the port of " + j.to.String() + " is not in the input"}
	case !slices.ContainsFunc(r.ports, func(p port) bool {
		return p.matchesConnection(j.protocol, j.port, j.destinationPorts())
	}):
		i := slices.IndexFunc(r.ports, func(p port) bool { return p.variable != "" })
		if i < 0 {
			return selector.No
		}
		ports, why = selector.Maybe, []string{"the variable " + r.ports[i].variable + " is not rendered"}
	}
	best := selector.No
	if r.everybody {
		best = selector.Yes
	}
	for _, p := range r.peers {
		match, doubt := j.matchPeer(p)
		best = max(best, match)
		if match == selector.Maybe {
			why = append(why, doubt)
		}
	}
	if best = min(best, ports); best == selector.Maybe {
		return j.addDoubt(r.policy, "cannot tell whether %s matches: %s", r.displayName(),
			strings.Join(removeDuplicates(why), "; "))
	}
	return best
}

// destinationPorts are those that the destination's containers declare.
func (j *directionJudge) destinationPorts() []workload.Port {
	if j.to.pod == nil {
		return nil
	}
	return j.to.pod.Ports
}
