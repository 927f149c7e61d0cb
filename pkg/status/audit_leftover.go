package status

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// MaxAncestors is how many entries the status of a policy has room for (gep713 P38).
const MaxAncestors = policy.MaxAncestors

// maxParents is how many the status of a route has room for.
const maxParents = 32

// isFull reports whether a status has no room for another entry.
func (c *comparison) isFull() bool {
	entries := 0
	for _, r := range c.reports {
		if r.Ref != nil {
			entries++
		}
	}
	if c.kind == nil {
		return entries >= maxParents
	}
	return entries >= MaxAncestors
}

// addMissing adds the predicted entries that are not reported: one by one, or as one difference
// where there is no room for them.
func (c *comparison) addMissing() {
	for i := range c.p.Ancestors {
		e := &c.p.Ancestors[i]
		for _, p := range e.Conditions {
			if p.Type == "Aggregated" && p.Status == "True" { // both say so, and entries are missing all the same
				c.notes = append(c.notes, Difference{Kind: Truncated, Ref: e.Ref, Port: e.Port,
					Controller: e.Controller,
					Message:    "there are more entries than the API allows: nothing is reported for the others, but the object applies there too"})
			}
		}
	}
	if len(c.missing) == 0 {
		return
	}
	if c.isFull() {
		var names []string
		for _, e := range c.missing {
			names = append(names, refName(e.Ref, e.Port))
		}
		slices.Sort(names)
		c.differences = append(c.differences, Difference{Kind: Truncated,
			Message: fmt.Sprintf(
				"%d entries are reported, the most that the API allows: nothing is reported for %s, but the object applies there too",
				len(c.reports), listNames(slices.Compact(names)))})
		return
	}
	for _, e := range c.missing {
		c.differences = append(c.differences, Difference{Kind: Missing, Ref: e.Ref, Port: e.Port,
			Controller: e.Controller, Message: c.describeMissing(&e),
			Silent: c.silence.nameIfSilent(c.silence.writerOf(c.res, c.p.Object, e.Controller))})
	}
}

// describeMissing says that an entry is not reported, and what to look at.
func (c *comparison) describeMissing(e *Ancestor) string {
	who := c.controllerName(e.Controller)
	switch {
	case c.p.Object.Section != "":
		return fmt.Sprintf("the status of %s has no entry for the listener: has %s seen the last change?",
			c.object.Ref, who)
	case e.Ref == nil:
		return fmt.Sprintf("no condition is reported: is %s running, and does it know the kind?", who)
	}
	return fmt.Sprintf("nothing is reported for %s: is %s running, and does it know the kind?",
		refName(e.Ref, e.Port), who)
}

// refName names an ancestor or a parent.
func refName(ref *model.Ref, port int32) string {
	if ref == nil {
		return "itself"
	}
	if port != 0 {
		return ref.String() + " port " + strconv.Itoa(int(port))
	}
	return ref.String()
}

// findLeftovers finds reports that no prediction is about, of controllers whose reports are all
// predicted.
func (c *comparison) findLeftovers() {
	for i := range c.reports {
		r := &c.reports[i]
		if c.used[i] || r.Ref == nil {
			continue
		}
		why := c.whyUnexpected(r)
		if why == "" && c.kind == nil {
			s := &entryComparison{comparison: c, predicted: &Ancestor{}, report: r}
			s.findSurplus()
			c.differences = append(c.differences, s.entryDifferences...)
			continue
		}
		if why == "" || c.isFull() {
			continue
		}
		c.compared = true
		c.differences = append(c.differences, Difference{Kind: Unexpected, Ref: r.Ref, Port: r.Port,
			Controller: r.Controller, Message: why})
	}
}

// whyUnexpected says why a report should not be there, "" if it may be.
func (c *comparison) whyUnexpected(r *Report) string {
	if c.kind == nil {
		return c.whyUnexpectedParent(r)
	}
	known := slices.Contains(c.kind.Controllers, r.Controller) ||
		r.Ref.GroupKind() == gatewayKind && strings.Contains(c.writers[c.kind.GroupKind], " "+r.Controller+" ")
	if !known || !c.isFullyPredicted() ||
		slices.ContainsFunc(c.p.Ancestors, func(e Ancestor) bool { return e.Ref == nil }) {
		return ""
	}
	return fmt.Sprintf(
		"reported for %s, where nothing of the policy should be reported: is the entry a leftover from before a change?", refName(r.Ref, r.Port))
}

// whyUnexpectedParent says why an entry of a route should not be there: the route does not name the
// parent, or it is another controller's.
func (c *comparison) whyUnexpectedParent(r *Report) string {
	if !c.classes[r.Controller] || !c.object.Body.At("spec", "useDefaultGateways").IsNull() {
		return ""
	}
	named := false
	for _, ref := range c.object.Body.At("spec", "parentRefs").Items {
		parent, port := readReference(ref, c.object.Ref.Namespace)
		named = named || parent == *r.Ref && port == r.Port
	}
	if !named {
		return fmt.Sprintf(
			"reported for %s, which the route does not name: is the entry a leftover from before a change?",
			refName(r.Ref, r.Port))
	}
	if theirs := controllerOf(c.res, *r.Ref); theirs != "" && theirs != r.Controller {
		return fmt.Sprintf(
			"reported for %s, which belongs to controller %s: is the entry a leftover from before a change?",
			refName(r.Ref, r.Port), theirs)
	}
	return ""
}

// findSurplus finds conditions of the report that would be predicted if they held: those of types
// that are all predicted.
func (s *entryComparison) findSurplus() {
	types := s.completeTypes()
	for i := range s.report.Conditions {
		r := &s.report.Conditions[i]
		predicted := slices.ContainsFunc(s.predicted.Conditions, func(p Condition) bool { return p.Type == r.Type })
		if predicted || r.Status != "True" || s.isStale(r) || !slices.Contains(types, r.Type) &&
			!s.isStrayMark(r.Type) {
			continue
		}
		s.conditionCompared = true
		s.addDifference(s.newDifference(Unexpected, nil, r,
			"%s is reported, but nothing in the input explains it: %s%s", r.Type, r.Reason, quoteMessage(r)))
	}
}

// completeTypes returns the types of conditions that do not hold where none is predicted.
func (s *entryComparison) completeTypes() []string {
	switch {
	case slices.ContainsFunc(s.predicted.Conditions, func(p Condition) bool { return p.Status == "Unknown" }):
		return nil
	case s.isFullyPredicted():
		return s.kind.Status.Complete
	case s.kind == nil && s.p.Object.Section != "":
		if owner, ok := s.listenerOwner(); ok && s.unread.conflictDoubt(owner) == "" &&
			s.res.Graph.Node(owner).Role != topology.ListenerSet {
			return []string{typeConflicted}
		}
	}
	return nil
}

// isStrayMark reports whether a condition is a mark of a kind whose marks are all predicted.
func (c *comparison) isStrayMark(kind string) bool {
	if c.kind != nil || c.missingLists || !isMark(kind) {
		return false
	}
	domain, name, _ := strings.Cut(strings.TrimSuffix(kind, "Affected"), "/")
	for gk, k := range c.kinds {
		if gk.Kind == name && k.Status.Marks != "" && (c.marks[kind] || gk.Group == domain) {
			return true
		}
	}
	return false
}

// findDangling finds references of a policy that lead nowhere while it is reported as accepted, and
// nothing is said about them.
func (c *comparison) findDangling() {
	if len(c.p.Missed) == 0 {
		return
	}
	var accepted *Reported
	var at *Report
	for i := range c.reports {
		r := c.reports[i].conditionOfType(typeAccepted)
		switch {
		case r == nil || c.isStale(r):
		case r.Status == "False" && r.Reason == string(model.TargetNotFound):
			return
		case r.Status == "True" && accepted == nil:
			accepted, at = r, &c.reports[i]
		}
	}
	if accepted == nil {
		return
	}
	for _, m := range c.p.Missed {
		c.differences = append(c.differences, Difference{Kind: DanglingTarget, Ref: at.Ref, Port: at.Port,
			Controller: at.Controller, Target: &m.Ref, Type: typeAccepted, Reported: accepted,
			Message: "reported as accepted, but " + m.describeMiss()})
	}
}

// describeMiss says what is wrong with a reference.
func (m MissedRef) describeMiss() string {
	switch m.Code {
	case model.RefNotPermitted:
		return m.Ref.String() + ", which it also targets, is not permitted by a ReferenceGrant: it does not apply there"
	case model.TargetNotFound:
		return m.Ref.String() + ", which it also targets, does not exist: it does not apply there"
	}
	return m.Ref.String() + ", which it also names, cannot be its target: it does not apply there"
}

// compareCounts notes what the status of a Gateway or listener counts in another way.
// Implementations count differently: it is never more than a note.
func (c *comparison) compareCounts() {
	status := c.object.Body.At("status")
	if c.p.Object.Section == "" {
		c.compareCount("attachedListenerSets", c.p.AttachedListenerSets, status.Field("attachedListenerSets"))
		return
	}
	entry, found := listenerEntry(status, c.p.Object.Section)
	if !found || c.isOwnerUnseen() {
		return
	}
	c.compareCount("attachedRoutes", c.p.AttachedRoutes, entry.Field("attachedRoutes"))
	var kinds []string
	for _, k := range entry.Field("supportedKinds").Items {
		ref, _ := readReference(k, "")
		kinds = append(kinds, ref.GroupKind().String())
	}
	slices.Sort(kinds)
	if want := slices.Sorted(slices.Values(c.p.SupportedKinds)); c.p.SupportedKinds != nil &&
		!slices.Equal(want, kinds) && entry.Has("supportedKinds") {
		c.noteCount("supportedKinds", strings.Join(want, ", "), strings.Join(kinds, ", "))
	}
}

func (c *comparison) compareCount(field string, predicted *int, reported model.Body) {
	if n := toInteger(reported); predicted != nil && !reported.IsNull() && n != int64(*predicted) {
		c.noteCount(field, strconv.Itoa(*predicted), strconv.FormatInt(n, 10))
	}
}

func (c *comparison) noteCount(field, predicted, reported string) {
	c.notes = append(c.notes, Difference{Kind: Different, Type: field, Predicted: &Condition{Type: field,
		Status: predicted}, Reported: &Reported{Condition: Condition{Type: field, Status: reported}},
		Message: fmt.Sprintf("%s is predicted %s and reported %s", field, orNone(predicted), orNone(reported))})
}

func orNone(s string) string {
	if s == "" {
		return "empty"
	}
	return s
}

// maxMessage is how much of a message of others a sentence repeats.
const maxMessage = 160

// shortenMessage returns a message on one line, cut where it is long.
func shortenMessage(message string) string {
	text := []rune(strings.Join(strings.Fields(message), " "))
	if len(text) > maxMessage {
		return string(text[:maxMessage-1]) + "…"
	}
	return string(text)
}

// quoteMessage returns what a reported condition says, for the end of a sentence.
func quoteMessage(r *Reported) string {
	if r.Message == "" {
		return ""
	}
	return `, "` + shortenMessage(r.Message) + `"`
}

// joinWords joins words, with the verb behind them.
func joinWords(words []string, one, many string) string {
	if len(words) == 1 {
		return words[0] + " " + one
	}
	return strings.Join(words[:len(words)-1], ", ") + " and " + words[len(words)-1] + " " + many
}
