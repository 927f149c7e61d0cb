package behavior

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
)

// accessGain says whether requests get access that they did not have.
type accessGain struct {
	// AccessOpened, and what kept them out before; "": no access is gained, as far as is known
	access, reason string
	lost           []lostProperty // what they lost
	doubts         []string       // why that is not known
}

// lostProperty is a property that held for requests before, and fails after.
type lostProperty struct {
	property gate.Property
	by, why  string // by what it held, and why it does not
}

// findAccessGain says whether requests get to a backend that they did not get to before, or get
// there without a credential that they had to show before.
func (d *behaviorComparer) findAccessGain(before, after *classBehavior) accessGain {
	switch {
	case d.query.Protects != nil:
		return findGainByPresence(before, after)
	case !after.reaches, len(after.unexplainedDenials) > 0, after.deniesAll():
		return accessGain{}
	}
	shut := ""
	switch {
	case !before.reaches:
		shut = "no backend got it (" + before.outcome + ")"
	case len(before.unexplainedDenials) > 0:
		shut = "denied by " + formatKindNames(before.unexplainedDenials)
	case before.deniesAll():
		shut = diff.FormatUses(before.protection.Authentication.By) + " let nobody through"
	default:
		out := d.findLosses(before, after)
		if why := findBypass(before, after); why != "" && out.access == "" {
			out.access, out.reason, out.doubts = AccessOpened, why, nil
		}
		return out
	}
	switch held := d.bestAccessResult(after); held.Verdict {
	case gate.Holds:
		return accessGain{}
	case gate.Depends:
		return accessGain{doubts: []string{shut + "; cannot tell whether requests are kept out now: " +
			diff.FormatBecause(held.Because)}}
	}
	return accessGain{access: AccessOpened, reason: shut}
}

// findGainByPresence does the work of findAccessGain where it is only asked which policy kinds are
// in force, whatever they do.
func findGainByPresence(before, after *classBehavior) accessGain {
	if !after.reaches || len(after.denied) > 0 {
		return accessGain{}
	}
	held := len(after.protected) > 0
	switch {
	case !before.reaches && !held:
		return accessGain{access: AccessOpened, reason: "no backend got it (" + before.outcome + ")"}
	case !before.reaches:
		return accessGain{}
	case len(before.denied) > 0 && !held:
		return accessGain{access: AccessOpened, reason: "denied by " + formatKindNames(before.denied)}
	case len(before.denied) > 0:
		return accessGain{}
	}
	if lost := findRemoved(before.protected, after.protected); len(lost) > 0 {
		return accessGain{access: AccessOpened, reason: "protected by " + formatKindNames(lost)}
	}
	if len(findRemoved(before.unread, after.unread)) > 0 && !held {
		return accessGain{doubts: []string{filterGone}}
	}
	return accessGain{}
}

const filterGone = "a filter that is not read is gone or changed: cannot tell whether it kept requests out"

// findRemoved returns what is in before and not in after.
func findRemoved(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(before), func(s string) bool { return slices.Contains(after, s) })
}

// propertyDoubt is why it is not known whether some properties are lost.
type propertyDoubt struct {
	format     string // a format with a %s for the properties
	properties []string
	because    string
}

// findLosses says which properties requests lose that get through before and after.
func (d *behaviorComparer) findLosses(before, after *classBehavior) accessGain {
	var out accessGain
	var doubts []propertyDoubt
	doubt := func(p gate.Property, format, because string) {
		at := slices.IndexFunc(doubts, func(d propertyDoubt) bool { return d.format == format && d.because == because })
		if at < 0 {
			at = len(doubts)
			doubts = append(doubts, propertyDoubt{format: format, because: because})
		}
		doubts[at].properties = append(doubts[at].properties, string(p))
	}
	for _, p := range protection.AccessProperties() {
		was, is := before.protection.ResultOf(p), after.protection.ResultOf(p)
		switch {
		case !diff.InvolvesKinds(d.query.Kinds, was, is):
		case was.Verdict == gate.Holds && is.Verdict == gate.Fails:
			out.access = AccessOpened
			out.lost = append(out.lost, lostProperty{p, diff.FormatUses(was.By), diff.FormatBecause(is.Because)})
		case was.Verdict == gate.Holds && is.Verdict == gate.Depends:
			doubt(p, "%s held by "+strings.ReplaceAll(diff.FormatUses(was.By), "%", "%%")+
				", and whether that is still so is not known", diff.FormatBecause(is.Because))
		case was.Verdict == gate.Depends && is.Verdict == gate.Fails:
			doubt(p, "cannot tell whether %s held, and now it does not", diff.FormatBecause(was.Because))
		case was.Verdict == gate.Depends && is.Verdict == gate.Depends && was.HasReason(gate.NotRead) &&
			len(findRemoved(gateKinds(was), gateKinds(is))) > 0:
			doubt(p, "cannot tell whether %s held, and what may have established it is gone",
				diff.FormatBecause(was.Because))
		}
	}
	for _, one := range doubts {
		out.doubts = append(out.doubts, fmt.Sprintf(one.format, view.JoinWithAnd(one.properties))+": "+one.because)
	}
	if len(doubts) == 0 && len(findRemoved(before.unread, after.unread)) > 0 &&
		d.bestAccessResult(after).Verdict != gate.Holds {
		out.doubts = append(out.doubts, filterGone)
	}
	if kinds := findRemoved(before.unjudged, after.unjudged); len(kinds) > 0 {
		out.doubts = append(out.doubts, "whether "+formatKindNames(kinds)+
			" denied it is not known, and it does not decide any more")
	}
	if len(out.lost) > 0 {
		out.doubts = nil
	}
	var reasons []string
	for _, l := range out.lost {
		reasons = append(reasons, l.formatLoss())
	}
	out.reason = strings.Join(reasons, "; ")
	return out
}

// formatLoss says which property is lost, by which gate it held, and why it does not hold any more.
func (l *lostProperty) formatLoss() string {
	return string(l.property) + " (" + l.by + ") is lost: " + l.why
}

// gateKinds returns the kinds of the objects, with the fields, by which a property may hold.
func gateKinds(r *protect.Result) []string {
	var out []string
	for _, u := range r.By {
		out = append(out, u.Object.GroupKind().String()+" "+u.Field)
	}
	return out
}

// bestAccessResult says whether anything keeps requests out: it returns the best result among the
// properties that do.
func (d *behaviorComparer) bestAccessResult(r *classBehavior) protect.Result {
	out := protect.Result{Verdict: gate.Fails}
	for _, p := range protection.AccessProperties() {
		one := r.protection.ResultOf(p)
		switch {
		case !diff.InvolvesKinds(d.query.Kinds, one):
		case one.Verdict == gate.Holds:
			return *one
		case one.Verdict == gate.Depends && out.Verdict == gate.Fails:
			out = *one
		}
	}
	return out
}

// findShifts returns the properties whose verdict changes for requests that get through before and
// after.
func (d *behaviorComparer) findShifts(before, after *classBehavior) []PropertyShift {
	if !before.reaches || !after.reaches || before.protection == nil || after.protection == nil {
		return nil
	}
	var out []PropertyShift
	for _, p := range gate.Properties() {
		was, is := before.protection.ResultOf(p), after.protection.ResultOf(p)
		shut := was.HasReason(gate.DeniesAll) || is.HasReason(gate.DeniesAll)
		if was.Verdict != is.Verdict && (p.IsAccess() || !shut) && diff.InvolvesKinds(d.query.Kinds, was, is) {
			out = append(out, PropertyShift{p, *was, *is})
		}
	}
	return out
}

// shiftsKey returns a key that is the same for equal shifts only.
func shiftsKey(shifts []PropertyShift) string {
	var key []byte
	for i := range shifts {
		s := &shifts[i]
		key = s.After.AppendKey(s.Before.AppendKey(append(key, s.Property...)))
	}
	return string(key)
}

// deniesAll reports whether gates let nobody through.
func (r *classBehavior) deniesAll() bool {
	return r.protection != nil && r.protection.Authentication.HasReason(gate.DeniesAll)
}

// protectionOfAnswer returns what protects the requests that an answer describes.
func (s *behaviorEvaluator) protectionOfAnswer(a *request.Answer) *protection.Protection {
	return s.protector.ProtectionOfAnswer(a)
}

// uncertainProtection returns what protects requests of which it is not known which rule takes
// them: what is true whichever does.
func (s *behaviorEvaluator) uncertainProtection(c *space.Class, own *protection.Protection) *protection.Protection {
	all := []*protection.Protection{own}
	unknown := false
	for _, rule := range c.CompetingRules() {
		other, known := s.answerIfTakenBy(c.Answer, rule)
		if !known {
			unknown = true
			continue
		}
		all = append(all, s.protectionOfAnswer(other))
	}
	out := &protection.Protection{}
	for _, p := range gate.Properties() {
		r := *own.ResultOf(p)
		for _, one := range all {
			if unknown || one.ResultOf(p).Verdict != r.Verdict {
				r = protect.Result{Verdict: gate.Depends, By: r.By,
					Because: []protect.Reason{{Code: gate.Condition,
						Message: "cannot tell which rule takes the request"}}}
				break
			}
		}
		*out.ResultOf(p) = r
	}
	return out
}

// leavesAccessOpen reports whether the input leaves something open that may decide who gets access.
// A decision about one request leaves nothing open where it is known what the policies protect.
func (s *behaviorEvaluator) leavesAccessOpen() bool {
	return slices.ContainsFunc(s.allProblems(), func(p model.Problem) bool {
		return p.IsIncomplete() &&
			!s.decisionProblems[p.Message]
	})
}
