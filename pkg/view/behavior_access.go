package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
)

// opening is whether requests get access that they did not have.
type opening struct {
	access, reason string         // AccessOpened, and what held them back; "": they do not, as far as is known
	lost           []lostProperty // what they lost
	doubts         []string       // why that is not known
}

// lostProperty is a property that held for requests and fails.
type lostProperty struct {
	property gate.Property
	by, why  string // by what it held, and why it does not
}

// accessProperties are those that a request has to have to get somewhere.
func accessProperties() []gate.Property {
	return slices.DeleteFunc(gate.Properties(), func(p gate.Property) bool { return !p.IsAccess() })
}

// opened tells whether requests get to a backend that did not get there before, or that they reach without what they had to show before.
func (d *behavior) opened(before, after *reaction) opening {
	switch {
	case d.q.Protects != nil:
		return openedByPresence(before, after)
	case !after.reaches, len(after.shut) > 0, after.deniesAll():
		return opening{}
	}
	shut := ""
	switch {
	case !before.reaches:
		shut = "no backend got it (" + before.outcome + ")"
	case len(before.shut) > 0:
		shut = "denied by " + kindList(before.shut)
	case before.deniesAll():
		shut = usesText(before.protection.Authentication.By) + " let nobody through"
	default:
		return d.losses(before, after)
	}
	switch held := d.heldBack(after); held.Verdict {
	case gate.Holds:
		return opening{}
	case gate.Depends:
		return opening{doubts: []string{shut + "; whether requests are kept out now is not known: " + becauseText(held.Because)}}
	}
	return opening{access: AccessOpened, reason: shut}
}

// openedByPresence tells the same where it is asked which policy kinds are in force, whatever they do.
func openedByPresence(before, after *reaction) opening {
	if !after.reaches || len(after.denied) > 0 {
		return opening{}
	}
	held := len(after.protected) > 0
	switch {
	case !before.reaches && !held:
		return opening{access: AccessOpened, reason: "no backend got it (" + before.outcome + ")"}
	case !before.reaches:
		return opening{}
	case len(before.denied) > 0 && !held:
		return opening{access: AccessOpened, reason: "denied by " + kindList(before.denied)}
	case len(before.denied) > 0:
		return opening{}
	}
	if lost := gone(before.protected, after.protected); len(lost) > 0 {
		return opening{access: AccessOpened, reason: "protected by " + kindList(lost)}
	}
	if len(gone(before.unread, after.unread)) > 0 && !held {
		return opening{doubts: []string{filterGone}}
	}
	return opening{}
}

const filterGone = "a filter that is not read is gone or changed: whether it kept requests out is not known"

// gone is what is not there any more.
func gone(before, after []string) []string {
	return slices.DeleteFunc(slices.Clone(before), func(s string) bool { return slices.Contains(after, s) })
}

// propertyDoubt is why it is not known whether some properties are lost.
type propertyDoubt struct {
	format  string // with a place for the properties
	of      []string
	because string
}

// losses tells what requests lose that get through before and after.
func (d *behavior) losses(before, after *reaction) opening {
	var out opening
	var doubts []propertyDoubt
	doubt := func(p gate.Property, format, because string) {
		at := slices.IndexFunc(doubts, func(d propertyDoubt) bool { return d.format == format && d.because == because })
		if at < 0 {
			at = len(doubts)
			doubts = append(doubts, propertyDoubt{format: format, because: because})
		}
		doubts[at].of = append(doubts[at].of, string(p))
	}
	for _, p := range accessProperties() {
		was, is := before.protection.Of(p), after.protection.Of(p)
		switch {
		case !concerns(d.q.Kinds, was, is):
		case was.Verdict == gate.Holds && is.Verdict == gate.Fails:
			out.access = AccessOpened
			out.lost = append(out.lost, lostProperty{p, usesText(was.By), becauseText(is.Because)})
		case was.Verdict == gate.Holds && is.Verdict == gate.Depends:
			doubt(p, "%s held by "+strings.ReplaceAll(usesText(was.By), "%", "%%")+", and whether that is still so is not known", becauseText(is.Because))
		case was.Verdict == gate.Depends && is.Verdict == gate.Fails:
			doubt(p, "whether %s held is not known, and now it does not", becauseText(was.Because))
		case was.Verdict == gate.Depends && is.Verdict == gate.Depends && was.Has(gate.NotRead) && len(gone(gateKinds(was), gateKinds(is))) > 0:
			doubt(p, "whether %s held is not known, and what may have established it is gone", becauseText(was.Because))
		}
	}
	for _, one := range doubts {
		out.doubts = append(out.doubts, fmt.Sprintf(one.format, andList(one.of))+": "+one.because)
	}
	if len(doubts) == 0 && len(gone(before.unread, after.unread)) > 0 && d.heldBack(after).Verdict != gate.Holds {
		out.doubts = append(out.doubts, filterGone)
	}
	if kinds := gone(before.unjudged, after.unjudged); len(kinds) > 0 {
		out.doubts = append(out.doubts, "whether "+kindList(kinds)+" denied it is not known, and it does not decide any more")
	}
	if len(out.lost) > 0 {
		out.doubts = nil
	}
	var reasons []string
	for _, l := range out.lost {
		reasons = append(reasons, l.text())
	}
	out.reason = strings.Join(reasons, "; ")
	return out
}

// text says in words what is lost, by which gate it held, and why it does not any more.
func (l *lostProperty) text() string {
	return string(l.property) + " (" + l.by + ") is lost: " + l.why
}

// gateKinds are the kinds of the objects, with the fields, by which a property may hold.
func gateKinds(r *protect.Result) []string {
	var out []string
	for _, u := range r.By {
		out = append(out, u.Object.GroupKind().String()+" "+u.Field)
	}
	return out
}

// heldBack is whether anything keeps requests out: the best of what is true of the properties that do.
func (d *behavior) heldBack(r *reaction) protect.Result {
	out := protect.Result{Verdict: gate.Fails}
	for _, p := range accessProperties() {
		one := r.protection.Of(p)
		switch {
		case !concerns(d.q.Kinds, one):
		case one.Verdict == gate.Holds:
			return *one
		case one.Verdict == gate.Depends && out.Verdict == gate.Fails:
			out = *one
		}
	}
	return out
}

// shifts are the properties of which not the same is true of requests that get through before and after.
func (d *behavior) shifts(before, after *reaction) []PropertyShift {
	if !before.reaches || !after.reaches || before.protection == nil || after.protection == nil {
		return nil
	}
	var out []PropertyShift
	for _, p := range gate.Properties() {
		was, is := before.protection.Of(p), after.protection.Of(p)
		shut := was.Has(gate.DeniesAll) || is.Has(gate.DeniesAll)
		if was.Verdict != is.Verdict && (p.IsAccess() || !shut) && concerns(d.q.Kinds, was, is) {
			out = append(out, PropertyShift{p, *was, *is})
		}
	}
	return out
}

// shiftsText tells shifts apart.
func shiftsText(shifts []PropertyShift) string {
	var key []byte
	for i := range shifts {
		s := &shifts[i]
		key = s.After.AppendKey(s.Before.AppendKey(append(key, s.Property...)))
	}
	return string(key)
}

// deniesAll reports whether gates let nobody through.
func (r *reaction) deniesAll() bool {
	return r.protection != nil && r.protection.Authentication.Has(gate.DeniesAll)
}

// names reports whether a policy that decides is among those of which it is known how they keep requests out. They do so to requests with other
// credentials than the one that is decided about.
func (p *Protection) names(d *Decision) bool {
	for _, property := range accessProperties() {
		r := p.Of(property)
		if r.Has(gate.NotRead) {
			continue
		}
		for i := range d.By {
			ref := d.By[i].Policy
			if slices.ContainsFunc(r.By, func(u protect.Use) bool { return u.Object == ref }) ||
				slices.ContainsFunc(r.Because, func(b protect.Reason) bool { return b.Object != nil && *b.Object == ref }) {
				return true
			}
		}
	}
	return false
}

// verdicts tells apart what is true of the properties, and nothing else. No protection has none.
func (p *Protection) verdicts() string {
	if p == nil {
		return ""
	}
	var out strings.Builder
	for _, property := range gate.Properties() {
		r := p.Of(property)
		out.WriteString("\x00" + string(r.Verdict))
		if r.Has(gate.DeniesAll) {
			out.WriteString(" for nobody")
		}
	}
	return out.String()
}

// protectionOf is what the requests that an answer describes are protected by.
func (s *reacting) protectionOf(a *request.Answer) *Protection {
	return s.protector.onAnswer(a)
}

// onAnswer is what the requests of a class are protected by that an answer is about.
func (p *protector) onAnswer(a *request.Answer) *Protection {
	g := p.judge.On(a)
	if made := p.made[g]; made != nil {
		return made
	}
	out := &Protection{}
	for _, property := range gate.Properties() {
		*out.Of(property) = g.Of(property)
	}
	out = p.share(out)
	if len(a.Request.Headers)+len(a.Request.Query) == 0 && len(p.apart(a.Rule)) == 0 {
		p.made[g] = out
	}
	return out
}

// perhapsProtected is what requests are protected by of which it is not known which rule takes them: what is true whichever does.
func (s *reacting) perhapsProtected(c *space.Class, own *Protection) *Protection {
	all := []*Protection{own}
	unknown := false
	for _, rule := range c.Rivals() {
		other, known := s.takenBy(c.Answer, rule)
		if !known {
			unknown = true
			continue
		}
		all = append(all, s.protectionOf(other))
	}
	out := &Protection{}
	for _, p := range gate.Properties() {
		r := *own.Of(p)
		for _, one := range all {
			if unknown || one.Of(p).Verdict != r.Verdict {
				r = protect.Result{Verdict: gate.Depends, By: r.By, Because: []protect.Reason{{Code: gate.Condition, Message: "which rule takes the request is not known"}}}
				break
			}
		}
		*out.Of(p) = r
	}
	return out
}

// leavesAccessOpen reports whether the input leaves something open that may decide who gets access. What policies decide about a request is not, where
// what they protect is known.
func (s *reacting) leavesAccessOpen() bool {
	return slices.ContainsFunc(s.allProblems(), func(p model.Problem) bool { return p.Incomplete() && !s.judged[p.Message] })
}
