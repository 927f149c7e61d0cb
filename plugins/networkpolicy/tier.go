package networkpolicy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

func itoa(n int) string { return strconv.Itoa(n) }

// found is a rule that matches, or may match.
type found struct {
	rule    *rule
	certain bool
}

// asked is what one policy says about the connection: the rules that may be its first to match, and whether one certainly does.
type asked struct {
	policy *model.Object
	found  []found
	closed bool
}

// tier asks the policies of a tier, the smallest priority first; whether the next stage may be asked. The first rule that matches ends the tier,
// also one that passes.
func (j *judge) tier(s stage) bool {
	left := slices.DeleteFunc(slices.Clone(j.policies), func(o *model.Object) bool { return stageOf(o) != s })
	var passing []request.Decider
	var before []asked
	open := true
	for len(left) > 0 {
		group := j.askAll(left[:alike(left)])
		if priorityOf(left[0]) == noPriority { // it might as well come before the others
			j.tied(append(slices.Clone(group), before...))
		}
		left = left[alike(left):]
		if open {
			passing = append(passing, j.together(s, group)...)
			before = append(before, group...)
		}
		open = open && !slices.ContainsFunc(group, func(a asked) bool { return a.closed })
	}
	switch {
	case passing != nil && open:
		j.passed(s, "a rule may pass, and may not match", passing)
	case passing != nil:
		j.passed(s, "a rule passes", passing)
	case open && slices.ContainsFunc(before, func(a asked) bool { return a.found != nil }):
		j.passed(s, "no rule certainly matches", nil)
	case open && before != nil:
		j.passed(s, "no rule matches", nil)
	case open:
		j.passed(s, "no policy selects "+j.pod.name(), nil)
	}
	return open || passing != nil
}

// askAll asks those of some policies that select the pod.
func (j *judge) askAll(policies []*model.Object) (out []asked) {
	for _, o := range policies {
		if sel := j.selects(o); sel != topology.No {
			out = append(out, j.ask(o, sel))
		}
	}
	return out
}

// alike is how many of the policies at the front have no order among each other: they have one priority.
func alike(policies []*model.Object) int {
	n := 1
	for n < len(policies) && priorityOf(policies[n]) == priorityOf(policies[0]) {
		n++
	}
	return n
}

// together takes what policies say of which nobody knows the order; rules that pass are returned.
func (j *judge) together(s stage, group []asked) (passing []request.Decider) {
	group = slices.DeleteFunc(slices.Clone(group), func(a asked) bool { return a.found == nil })
	j.tied(group)
	for _, a := range group {
		for _, f := range a.found {
			by := []request.Decider{decider(f.rule)}
			if f.rule.action == pass {
				passing = append(passing, by...)
				continue
			}
			j.outcomes = append(j.outcomes, outcome{f.rule.action, s.String(), by})
		}
	}
	return passing
}

// tied notes that policies without an order among each other have rules for the connection whose actions differ: then either may count.
func (j *judge) tied(group []asked) {
	for i, a := range group {
		for _, b := range group[i+1:] {
			why, ordered := order(a.policy, b.policy)
			for _, x := range a.found {
				for _, y := range b.found {
					if x.rule.action != y.rule.action && !ordered && !j.tie {
						j.tie = true
						j.doubts = append(j.doubts, fmt.Sprintf("%s of %s says %s, %s of %s says %s, and %s", x.rule.name(), a.policy.Ref, x.rule.word, y.rule.name(), b.policy.Ref, y.rule.word, why))
					}
				}
			}
		}
	}
}

// order says why two policies of a tier have no order, or that they have one.
func order(a, b *model.Object) (why string, ordered bool) {
	x, y := priorityOf(a), priorityOf(b)
	switch {
	case x == noPriority || y == noPriority:
		return "which of the two policies comes first is not defined", false
	case x == y:
		return fmt.Sprintf("both policies have priority %d: either may count", x), false
	}
	return "", true
}

// ask goes through the rules of a policy, up to the first that certainly matches.
func (j *judge) ask(o *model.Object, sel topology.Truth) asked {
	out := asked{policy: o}
	for _, r := range rulesOf(o, j.dir) {
		match := min(sel, j.matches(r))
		if match == topology.No {
			continue
		}
		out.found = append(out.found, found{r, match == topology.Yes})
		if match == topology.Yes {
			out.closed = true
			break
		}
	}
	return out
}

// own asks the NetworkPolicies of the pod's namespace; whether the next stage may be asked. As soon as one selects the pod for the direction, what
// none of them allows is denied.
func (j *judge) own() bool {
	var allows, isolating []request.Decider
	isolated := topology.No
	for _, o := range j.policies {
		if stageOf(o) != ownPolicies || !isolates(o, j.dir) {
			continue
		}
		sel := j.selects(o)
		if sel == topology.No {
			continue
		}
		isolated = max(isolated, sel)
		isolating = append(isolating, request.Decider{Policy: o.Ref, Origin: o.Origin, Rule: ownPolicies.String() + "." + string(j.dir) + ".rest", Action: "Deny"})
		for _, r := range rulesOf(o, j.dir) {
			switch match := min(sel, j.matches(r)); match {
			case topology.Yes:
				j.outcomes = append(j.outcomes, outcome{allow, ownPolicies.String(), []request.Decider{decider(r)}})
				return false
			case topology.Maybe:
				allows = append(allows, decider(r))
			}
		}
	}
	if allows != nil {
		j.outcomes = append(j.outcomes, outcome{allow, ownPolicies.String(), allows})
	}
	if isolated != topology.No {
		j.outcomes = append(j.outcomes, outcome{deny, ownPolicies.String(), isolating})
	}
	switch isolated {
	case topology.No:
		j.passed(ownPolicies, fmt.Sprintf("no NetworkPolicy of namespace %s selects %s for %s", j.pod.pod.Ref.Namespace, j.pod.name(), j.dir), nil)
	case topology.Maybe:
		j.passed(ownPolicies, "whether a NetworkPolicy holds for the pod is not known", isolating)
	}
	return isolated != topology.Yes
}

// doubt notes why something is not known.
func (j *judge) doubt(o *model.Object, format string, args ...any) topology.Truth {
	j.doubts = append(j.doubts, o.Ref.String()+": "+fmt.Sprintf(format, args...))
	return topology.Maybe
}

// selects reports whether a policy selects the pod.
func (j *judge) selects(o *model.Object) topology.Truth {
	s, err := subjectOf(o)
	if err != nil {
		return topology.No
	}
	picks := j.picks(s, j.pod.pod)
	switch {
	case picks == topology.No:
	case j.pod.pod.HostNetwork:
		return j.doubt(o, "%s is in the network of its node, where policies may have no effect", j.pod.name())
	case picks == topology.Maybe:
		return j.doubt(o, "whether it selects %s is not known: the labels of namespace %s are not in the input", j.pod.name(), j.pod.pod.Ref.Namespace)
	}
	return picks
}

// picks reports whether a selector has the labels of a pod, whichever network it is in.
func (j *judge) picks(s topology.PodSelector, p *topology.Pod) topology.Truth {
	if !s.Pods.Picks(p.Labels) {
		return topology.No
	}
	return j.graph.InNamespace(s, p.Ref.Namespace)
}

// matches reports whether a rule matches the connection: any of its peers and any of its ports do.
func (j *judge) matches(r *rule) topology.Truth {
	if r.ports != nil && !slices.ContainsFunc(r.ports, func(p port) bool { return p.matches(j.protocol, j.port, j.destinationPorts()) }) {
		return topology.No
	}
	if r.everybody {
		return topology.Yes
	}
	best := topology.No
	var why []string
	for _, p := range r.peers {
		match, doubt := j.meets(p)
		best = max(best, match)
		if match == topology.Maybe {
			why = append(why, doubt)
		}
	}
	if best == topology.Maybe {
		return j.doubt(r.policy, "whether %s matches is not known: %s", r.name(), strings.Join(unique(why), "; "))
	}
	return best
}

// destinationPorts are those that the destination's containers declare.
func (j *judge) destinationPorts() []topology.PodPort {
	if j.to.pod == nil {
		return nil
	}
	return j.to.pod.Ports
}
