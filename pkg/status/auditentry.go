package status

import (
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// entry holds one predicted entry against the reports that can be meant. Where it is not known which one is, the best counts.
func (c *comparison) entry(e *Ancestor) {
	candidates := c.candidates(e)
	if len(candidates) == 0 {
		c.absent(e)
		return
	}
	var best *side
	for _, i := range candidates {
		c.used[i] = true
		s := &side{comparison: c, predicted: e, report: &c.reports[i]}
		s.compare()
		if best == nil || len(s.differ) < len(best.differ) {
			best = s
		}
	}
	c.differ, c.notes = append(c.differ, best.differ...), append(c.notes, best.notes...)
	c.compared = c.compared || best.held
}

// candidates are the reports that a predicted entry can mean, by index.
func (c *comparison) candidates(e *Ancestor) []int {
	var own, exact, anyPort, all []int
	for i := range c.reports {
		r := &c.reports[i]
		switch {
		case r.Ref == nil:
			own = append(own, i)
			continue
		case e.Ref != nil && *r.Ref == *e.Ref && (e.Controller == "" || r.Controller == e.Controller):
			anyPort = append(anyPort, i)
			if r.Port == e.Port {
				exact = append(exact, i)
			}
		}
		all = append(all, i)
	}
	switch {
	case e.Ref == nil && len(own) > 0:
		return own
	case e.Ref == nil && c.kind != nil && c.kind.Status.Func == "": // the words do not say where the conditions stand
		return all
	case e.Ref == nil:
		return nil
	case c.kind != nil && len(exact) == 0: // ancestors of policies are predicted without a port
		return anyPort
	}
	return exact
}

// absent is a predicted entry that is not reported.
func (c *comparison) absent(e *Ancestor) {
	known := slices.ContainsFunc(e.Conditions, func(p Condition) bool { return p.Status != "Unknown" && (!isMark(p.Type) || p.Status == "True") })
	note := func(message string) {
		c.notes = append(c.notes, Difference{Kind: Unpredictable, Ref: e.Ref, Port: e.Port, Controller: e.Controller, Message: message})
	}
	switch why := c.excuse(e); {
	case !known && len(e.Conditions) > 0 && e.Conditions[0].Status == "Unknown":
		note("not reported, and the expected value is unknown: " + e.Conditions[0].Message)
	case !known:
	case why != "":
		note("not reported, which does not count as a difference: " + why)
	default:
		c.compared = true
		c.missing = append(c.missing, *e)
	}
}

// excuse is why nobody has to report an entry, "" if somebody has.
func (c *comparison) excuse(e *Ancestor) string {
	switch {
	case e.Tentative:
		return "the policy has no target, so no controller processes it"
	case c.kind != nil && vague(c.kind) && !c.reporting[c.kind.GroupKind]:
		return "no " + c.kind.GroupKind.Kind + " reports any status, and it is unknown which conditions its controller writes"
	case c.kind != nil && e.Ref == nil:
		return ""
	case c.kind == nil && e.Ref == nil && controllerOf(c.res, c.object.Ref) == "", e.Ref != nil && e.Controller == "":
		return "its controller is unknown: no GatewayClass leads to one"
	case c.p.Object.Section != "" && c.ownerUnseen():
		return "nothing is reported of " + c.object.Ref.String() + " as it is now, see there"
	}
	return ""
}

// ownerUnseen reports whether no controller has judged the Gateway or ListenerSet that a listener belongs to, as it is now.
func (c *comparison) ownerUnseen() bool {
	for _, r := range Reports(c.object, "") {
		if accepted := r.condition(typeAccepted); r.Ref == nil && accepted != nil {
			return accepted.pending() || c.stale(accepted)
		}
	}
	return true
}

func (c *comparison) stale(r *Reported) bool {
	return c.generation != 0 && r.Observed != 0 && r.Observed != c.generation
}

// side is one predicted entry beside one report.
type side struct {
	*comparison
	predicted *Ancestor
	report    *Report
	held      bool // some condition was held against another
	differ    []Difference
	notes     []Difference
}

// difference is a difference about the entry, in words.
func (s *side) difference(kind DifferenceKind, predicted *Condition, reported *Reported, format string, args ...any) Difference {
	d := Difference{Kind: kind, Ref: s.report.Ref, Port: s.report.Port, Controller: s.report.Controller, Predicted: predicted, Reported: reported, Message: fmt.Sprintf(format, args...)}
	switch {
	case predicted != nil:
		d.Type = predicted.Type
	case reported != nil:
		d.Type = reported.Type
	}
	return d
}

func (s *side) add(d Difference)  { s.differ = append(s.differ, d) }
func (s *side) note(d Difference) { s.notes = append(s.notes, d) }

func (s *side) compare() {
	old := s.outdated()
	for i := range s.predicted.Conditions {
		p := &s.predicted.Conditions[i]
		r := s.report.condition(p.Type)
		switch {
		case r != nil && s.stale(r):
		case p.Status == "Unknown":
			s.note(s.difference(Unpredictable, p, r, "not compared: %s", p.Message))
		case r == nil && old && !isMark(p.Type): // the report is an older one, which says enough
		case r == nil:
			s.lacks(p)
		default:
			s.held = true
			s.condition(p, r)
		}
	}
	s.surplus()
}

// outdated finds the conditions that are about another generation of the object: one difference for each such generation.
func (s *side) outdated() bool {
	types := map[int64][]string{}
	var generations []int64
	for i := range s.report.Conditions {
		r := &s.report.Conditions[i]
		predicted := slices.ContainsFunc(s.predicted.Conditions, func(p Condition) bool { return p.Type == r.Type })
		if !predicted || !s.stale(r) {
			continue
		}
		if types[r.Observed] == nil {
			generations = append(generations, r.Observed)
		}
		types[r.Observed] = append(types[r.Observed], r.Type)
	}
	slices.Sort(generations)
	for _, g := range generations {
		first := s.report.condition(types[g][0])
		d := s.difference(Stale, nil, first, "%s for generation %d, the object has %d: ", listed(types[g], "is", "are")+" reported", g, s.generation)
		if g < s.generation {
			d.Message += "the controller has not seen the last change; is " + s.controller() + " running?"
		} else {
			d.Message += "the status is that of an earlier object of this name, or was restored with it; is " + s.controller() + " running?"
		}
		if len(types[g]) > 1 {
			d.Type, d.Reported = "", nil
		}
		s.add(d)
	}
	return len(generations) > 0
}

// lacks is a predicted condition that the report has not.
func (s *side) lacks(p *Condition) {
	switch {
	case isMark(p.Type) && p.Status == "False": // saying nothing says the same
	case !isMark(p.Type) && s.report.refused(): // whoever refuses an object need not judge the rest
		s.note(s.difference(Unpredictable, p, nil, "%s is not reported beside a refusal", p.Type))
	case p.Type == "Overridden" && p.Status == "True":
		s.held = true
		s.add(s.difference(Overridden, p, nil, "computed as overridden, but not reported as such: %s", brief(p.Message)))
	case isMark(p.Type):
		s.held = true
		s.add(s.difference(Missing, p, nil, "no mark says that policies affect the object (%s): has their controller seen it?", brief(p.Message)))
	case lesser(p.Type):
		s.note(s.difference(Missing, p, nil, "%s is not reported: %s", p.Type, brief(p.Message)))
	case s.kind != nil && vague(s.kind):
		s.note(s.difference(Unpredictable, p, nil, "%s is not reported, and nothing says that the controller of the kind writes it", p.Type))
	default:
		s.held = true
		s.add(s.difference(Missing, p, nil, "%s is not reported beside the others: is %s of another version?", p.Type, s.controller()))
	}
}

// lesser reports whether a condition says nothing of what is in force.
func lesser(kind string) bool { return kind == "Warning" || kind == "Aggregated" }

// condition holds a predicted condition against a reported one of its type.
func (s *side) condition(p *Condition, r *Reported) {
	switch {
	case p.Status == r.Status && p.Reason == r.Reason:
	case s.kind != nil && slices.ContainsFunc(s.kind.Status.States, func(f policy.StateField) bool { return f.Type() == p.Type }):
		s.add(s.difference(Different, p, r, "%s is %s, and predicted as %s: %s", p.Type, r.Status, p.Status, brief(p.Message)))
	case p.Status == r.Status && p.Status == "True" && s.partial(p.Reason) && !s.partial(r.Reason) && !lesser(p.Type):
		s.add(s.difference(Overridden, p, r, "reported as in force, but computed as overridden in part: %s", brief(p.Message)))
	case p.Status == r.Status:
		s.note(s.difference(ReasonDiffers, p, r, "%s is %s as predicted, with the reason %s in place of %s%s", p.Type, p.Status, r.Reason, p.Reason, saying(r)))
	case r.pending():
		s.add(s.difference(Missing, p, r, "no controller has processed the object yet (%s%s): is %s running?", r.Reason, saying(r), s.controller()))
	case lesser(p.Type):
		s.note(s.difference(Different, p, r, "%s is predicted %s and reported %s", p.Type, p.Status, r.Status))
	case p.Type == typeProgrammed && p.Status == "True" && !s.overriding(r.Reason):
		s.note(s.difference(Unpredictable, p, r, "not compared: only the controller knows whether the data plane is programmed; it says %s%s", r.Reason, saying(r)))
	case p.Status == "False" && s.overriding(p.Reason), p.Type == "Overridden" && p.Status == "True":
		s.add(s.difference(Overridden, p, r, "reported as in force, but computed as overridden: %s", brief(p.Message)))
	case r.Status == "True":
		s.add(s.difference(Different, p, r, "reported True but predicted False: %s; does %s see other objects, or interpret them differently?", brief(p.Message), s.controller()))
	default:
		s.add(s.difference(Different, p, r, "predicted True, and reported %s for a reason that the objects do not show: %s%s", r.Status, r.Reason, saying(r)))
	}
}

// overriding reports whether a reason says that other policies have what this one sets.
func (s *side) overriding(reason string) bool {
	return reason == string(gatewayv1.PolicyReasonConflicted) || strings.Contains(reason, "Overridden") || s.usual() && reason == s.kind.Status.None
}

// partial reports whether a reason says that not all of something holds.
func (s *side) partial(reason string) bool {
	return strings.HasPrefix(reason, "Partially") || reason == "Merged" || s.usual() && reason == s.kind.Status.Some && reason != s.kind.Status.All
}

// usual reports whether the words of the kind say whether a policy is in force.
func (s *side) usual() bool { return s.kind != nil && s.kind.Status.Func == "" }

// controller names who reports the entry, for sentences.
func (s *side) controller() string { return s.comparison.controller(s.report.Controller) }

// controller is a controller for sentences; without a name that of the object's class, or the kind's.
func (c *comparison) controller(name string) string {
	if name == "" && c.kind == nil {
		name = controllerOf(c.res, c.object.Ref)
	}
	if name == "" {
		return "its controller"
	}
	return "controller " + name
}
