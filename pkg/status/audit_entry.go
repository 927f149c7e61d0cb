package status

import (
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// compareEntry compares one predicted entry with the reports that can be meant. Where it is not
// known which one is, the one with the fewest differences counts.
func (c *comparison) compareEntry(e *Ancestor) {
	candidates := c.findCandidates(e)
	if len(candidates) == 0 {
		c.addAbsent(e)
		return
	}
	var best *entryComparison
	for _, i := range candidates {
		c.used[i] = true
		s := &entryComparison{comparison: c, predicted: e, report: &c.reports[i]}
		s.compareConditions()
		if best == nil || len(s.entryDifferences) < len(best.entryDifferences) {
			best = s
		}
	}
	c.differences, c.notes = append(c.differences, best.entryDifferences...), append(c.notes, best.entryNotes...)
	c.compared = c.compared || best.conditionCompared
}

// findCandidates returns the reports that a predicted entry can mean, by index.
func (c *comparison) findCandidates(e *Ancestor) []int {
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
	// the descriptor does not say where the conditions stand
	case e.Ref == nil && c.kind != nil && c.kind.Status.Func == "":
		return all
	case e.Ref == nil:
		return nil
	case c.kind != nil && len(exact) == 0: // ancestors of policies are predicted without a port
		return anyPort
	}
	return exact
}

// addAbsent records a predicted entry that is not reported.
func (c *comparison) addAbsent(e *Ancestor) {
	known := slices.ContainsFunc(e.Conditions, func(p Condition) bool {
		return p.Status != "Unknown" &&
			(!isMark(p.Type) || p.Status == "True")
	})
	note := func(message string) {
		c.notes = append(c.notes, Difference{Kind: Unpredictable, Ref: e.Ref, Port: e.Port, Controller: e.Controller,
			Message: message})
	}
	switch why := c.absenceExcuse(e); {
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

// absenceExcuse returns why nobody has to report an entry, "" if somebody has.
func (c *comparison) absenceExcuse(e *Ancestor) string {
	switch {
	case e.Tentative:
		return "the policy has no target, so no controller processes it"
	case c.kind != nil && hasUnknownConditions(c.kind) && !c.reporting[c.kind.GroupKind]:
		return "no " + c.kind.GroupKind.Kind +
			" reports any status, and it is unknown which conditions its controller writes"
	case c.kind != nil && e.Ref == nil:
		return ""
	case c.kind == nil && e.Ref == nil && controllerOf(c.res, c.object.Ref) == "", e.Ref != nil && e.Controller == "":
		return "its controller is unknown: no GatewayClass leads to one"
	case c.p.Object.Section != "" && c.isOwnerUnseen():
		return "nothing is reported of " + c.object.Ref.String() + " as it is now, see there"
	}
	return ""
}

// isOwnerUnseen reports whether no controller has judged the Gateway or ListenerSet that a listener
// belongs to, as it is now.
func (c *comparison) isOwnerUnseen() bool {
	for _, r := range ReadReports(c.object, "") {
		if accepted := r.conditionOfType(typeAccepted); r.Ref == nil && accepted != nil {
			return accepted.isPending() || c.isStale(accepted)
		}
	}
	return true
}

func (c *comparison) isStale(r *Reported) bool {
	return c.generation != 0 && r.ObservedGeneration != 0 && r.ObservedGeneration != c.generation
}

// entryComparison is one predicted entry beside one report.
type entryComparison struct {
	*comparison
	predicted         *Ancestor
	report            *Report
	conditionCompared bool // some condition was compared
	entryDifferences  []Difference
	entryNotes        []Difference
}

// newDifference is a difference about the entry, in words.
func (s *entryComparison) newDifference(kind DifferenceKind, predicted *Condition, reported *Reported, format string,
	args ...any) Difference {
	d := Difference{Kind: kind, Ref: s.report.Ref, Port: s.report.Port, Controller: s.report.Controller,
		Predicted: predicted, Reported: reported, Message: fmt.Sprintf(format, args...)}
	switch {
	case predicted != nil:
		d.Type = predicted.Type
	case reported != nil:
		d.Type = reported.Type
	}
	return d
}

func (s *entryComparison) addDifference(d Difference) {
	s.entryDifferences = append(s.entryDifferences, d)
}
func (s *entryComparison) addNote(d Difference) { s.entryNotes = append(s.entryNotes, d) }

func (s *entryComparison) compareConditions() {
	old := s.findOutdated()
	for i := range s.predicted.Conditions {
		p := &s.predicted.Conditions[i]
		r := s.report.conditionOfType(p.Type)
		switch {
		case r != nil && s.isStale(r):
		case p.Status == "Unknown":
			s.addNote(s.newDifference(Unpredictable, p, r, "not compared: %s", p.Message))
		case r == nil && old && !isMark(p.Type): // the report is outdated, and that is reported already
		case r == nil:
			s.addLacking(p)
		default:
			s.conditionCompared = true
			s.compareCondition(p, r)
		}
	}
	s.findSurplus()
}

// findOutdated finds the conditions that are about another generation of the object: one difference
// for each such generation.
func (s *entryComparison) findOutdated() bool {
	types := map[int64][]string{}
	var generations []int64
	for i := range s.report.Conditions {
		r := &s.report.Conditions[i]
		predicted := slices.ContainsFunc(s.predicted.Conditions, func(p Condition) bool { return p.Type == r.Type })
		if !predicted || !s.isStale(r) {
			continue
		}
		if types[r.ObservedGeneration] == nil {
			generations = append(generations, r.ObservedGeneration)
		}
		types[r.ObservedGeneration] = append(types[r.ObservedGeneration], r.Type)
	}
	slices.Sort(generations)
	for _, g := range generations {
		first := s.report.conditionOfType(types[g][0])
		d := s.newDifference(Stale, nil, first, "%s for generation %d, the object has %d: ", joinWords(types[g], "is",
			"are")+" reported", g, s.generation)
		if g < s.generation {
			d.Message += "the controller has not seen the last change; is " + s.reporterName() + " running?"
		} else {
			d.Message += "the status is that of an earlier object of this name, or was restored with it; is " +
				s.reporterName() + " running?"
		}
		if len(types[g]) > 1 {
			d.Type, d.Reported = "", nil
		}
		s.addDifference(d)
	}
	return len(generations) > 0
}

// addLacking records a predicted condition that the report does not have.
func (s *entryComparison) addLacking(p *Condition) {
	switch {
	case isMark(p.Type) && p.Status == "False": // no mark means the same
	case !isMark(p.Type) && s.report.isRefused(): // whoever refuses an object need not judge the rest
		s.addNote(s.newDifference(Unpredictable, p, nil, "%s is not reported beside a refusal", p.Type))
	case p.Type == "Overridden" && p.Status == "True":
		s.conditionCompared = true
		s.addDifference(s.newDifference(Overridden, p, nil, "computed as overridden, but not reported as such: %s",
			shortenMessage(p.Message)))
	case isMark(p.Type):
		s.conditionCompared = true
		d := s.newDifference(Missing, p, nil,
			"no mark says that policies affect the object (%s): has their controller seen it?",
			shortenMessage(p.Message))
		if k := s.silence.kindOfMark(p.Type); k != nil {
			d.Silent = s.silence.nameIfSilent(s.silence.writerOfKind(k))
		}
		s.addDifference(d)
	case isMinorCondition(p.Type):
		s.addNote(s.newDifference(Missing, p, nil, "%s is not reported: %s", p.Type, shortenMessage(p.Message)))
	case s.kind != nil && hasUnknownConditions(s.kind):
		s.addNote(s.newDifference(Unpredictable, p, nil,
			"%s is not reported, and nothing says that the controller of the kind writes it", p.Type))
	default:
		s.conditionCompared = true
		s.addDifference(s.newDifference(Missing, p, nil,
			"%s is not reported beside the others: is %s of another version?", p.Type, s.reporterName()))
	}
}

// isMinorCondition reports whether a condition says nothing of what is in force.
func isMinorCondition(kind string) bool { return kind == "Warning" || kind == "Aggregated" }

// compareCondition compares a predicted condition with a reported one of its type.
func (s *entryComparison) compareCondition(p *Condition, r *Reported) {
	switch {
	case p.Status == r.Status && p.Reason == r.Reason:
	case s.kind != nil && slices.ContainsFunc(s.kind.Status.States,
		func(f policy.StateField) bool { return f.Type() == p.Type }):
		s.addDifference(s.newDifference(Different, p, r, "%s is %s, and predicted as %s: %s", p.Type, r.Status,
			p.Status, shortenMessage(p.Message)))
	case p.Status == r.Status && p.Status == "True" && s.isPartialReason(p.Reason) && !s.isPartialReason(r.Reason) &&
		!isMinorCondition(p.Type):
		s.addDifference(s.newDifference(Overridden, p, r,
			"reported as in force, but computed as overridden in part: %s", shortenMessage(p.Message)))
	case p.Status == r.Status:
		s.addNote(s.newDifference(ReasonDiffers, p, r, "%s is %s as predicted, with the reason %s in place of %s%s",
			p.Type, p.Status, r.Reason, p.Reason, quoteMessage(r)))
	case r.isPending():
		d := s.newDifference(Missing, p, r, "no controller has processed the object yet (%s%s): is %s running?",
			r.Reason, quoteMessage(r), s.reporterName())
		d.Silent = s.silence.nameIfSilent(s.silence.writerOf(s.res, s.p.Object, s.report.Controller))
		s.addDifference(d)
	case isMinorCondition(p.Type):
		s.addNote(s.newDifference(Different, p, r, "%s is predicted %s and reported %s", p.Type, p.Status, r.Status))
	case p.Type == typeProgrammed && p.Status == "True" && !s.isOverridingReason(r.Reason):
		s.addNote(s.newDifference(Unpredictable, p, r,
			"not compared: only the controller knows whether the data plane is programmed; it says %s%s", r.Reason,
			quoteMessage(r)))
	case p.Status == "False" && s.isOverridingReason(p.Reason), p.Type == "Overridden" && p.Status == "True":
		s.addDifference(s.newDifference(Overridden, p, r, "reported as in force, but computed as overridden: %s",
			shortenMessage(p.Message)))
	case r.Status == "True":
		s.addDifference(s.newDifference(Different, p, r,
			"reported True but predicted False: %s; does %s see other objects, or interpret them differently?",
			shortenMessage(p.Message), s.reporterName()))
	default:
		s.addDifference(s.newDifference(Different, p, r,
			"predicted True, and reported %s for a reason that the objects do not show: %s%s", r.Status, r.Reason,
			quoteMessage(r)))
	}
}

// isOverridingReason reports whether a reason says that other policies have what this one sets.
func (s *entryComparison) isOverridingReason(reason string) bool {
	return reason == string(gatewayv1.PolicyReasonConflicted) || strings.Contains(reason, "Overridden") ||
		s.hasUsualWords() && reason == s.kind.Status.None
}

// isPartialReason reports whether a reason says that not all of something holds.
func (s *entryComparison) isPartialReason(reason string) bool {
	return strings.HasPrefix(reason, "Partially") || reason == "Merged" || s.hasUsualWords() &&
		reason == s.kind.Status.Some && reason != s.kind.Status.All
}

// hasUsualWords reports whether the words of the kind say whether a policy is in force.
func (s *entryComparison) hasUsualWords() bool { return s.kind != nil && s.kind.Status.Func == "" }

// reporterName names who reports the entry, for sentences.
func (s *entryComparison) reporterName() string {
	return s.comparison.controllerName(s.report.Controller)
}

// controllerName returns a controller for sentences; without a name that of the object's class, or
// the kind's.
func (c *comparison) controllerName(name string) string {
	if name == "" && c.kind == nil {
		name = controllerOf(c.res, c.object.Ref)
	}
	if name == "" {
		return "its controller"
	}
	return "controller " + name
}
