package behavior

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// compareProbe compares a request in all circumstances that make a difference to either side: who
// sends it, with which credentials, and of which size.
func (c *acrossComparer) compareProbe(p probe, was, is ingress.Tests, served *HostCoverage) error {
	before, after, err := c.answerBoth(&p.request)
	if err != nil {
		return err
	}
	served.Before = served.Before || before.Outcome != request.NoMatch
	served.After = served.After || after.Outcome != request.NoMatch
	dims := joinTests(was, is, before.decides, after.decides)
	for _, one := range c.listCircumstances(dims, len(before.NeedsAuth)+len(after.NeedsAuth) > 0, p.request.Secure) {
		r := p
		r.request.Circumstances = one.circumstances
		r.words = append(slices.Clone(p.words), one.words...)
		if err := c.compareClass(r); err != nil {
			return err
		}
	}
	return nil
}

// compareClass compares the requests of a class: one of them, and where an answer is made of its path or
// query, some more.
func (c *acrossComparer) compareClass(p probe) error {
	if c.out.Classes++; c.out.Classes > maxClasses {
		c.addUndecided("there are more classes of requests than are compared", &p.request)
		return nil
	}
	all := []request.Request{p.request}
	found := map[int]bool{}
	for i := 0; i < len(all); i++ {
		before, after, err := c.answerBoth(&all[i])
		if err != nil {
			return err
		}
		at, why := c.countAnswers(probe{all[i], p.words}, before, after)
		if why != "" {
			c.addUndecided(why, &all[i])
		}
		if at >= 0 {
			found[at] = true
		}
		if i == 0 && (before.isMadeOf(&p.request) || after.isMadeOf(&p.request)) {
			all = append(all, listVariants(p.request)...)
		}
	}
	c.countClass(found)
	return nil
}

// countClass counts a class for which something differs.
func (c *acrossComparer) countClass(changes map[int]bool) {
	var changed, opened, closed, gained bool
	for at := range changes {
		one := &c.changes[at].change
		changed = changed || !one.Beyond
		gained = gained || one.Difference == NewAccess
		opened = opened || one.Access == AccessOpened
		closed = closed || one.Access == AccessClosed
	}
	count := func(n *int, is bool) {
		if is {
			*n++
		}
	}
	count(&c.out.Changed, changed)
	count(&c.out.Opened, opened)
	count(&c.out.Closed, closed)
	count(&c.out.gained, gained)
}

// joinTests returns what any of several tells apart besides paths and fields.
func joinTests(all ...ingress.Tests) ingress.Tests {
	var out ingress.Tests
	for _, t := range all {
		out.Addresses = append(out.Addresses, t.Addresses...)
		out.Bodies = append(out.Bodies, t.Bodies...)
		out.Certificates = out.Certificates || t.Certificates
	}
	return out
}

// circumstanceClass is who sends a request and with what, and the same in words.
type circumstanceClass struct {
	circumstances request.Circumstances
	words         []string
}

// listCircumstances returns the circumstances that make a difference.
func (c *acrossComparer) listCircumstances(t ingress.Tests, credentials, secure bool) []circumstanceClass {
	all := []circumstanceClass{{circumstances: request.Circumstances{Given: true}}}
	cross := func(n int, set func(*request.Circumstances, int) string) {
		var next []circumstanceClass
		for _, one := range all {
			for i := range n {
				made := circumstanceClass{one.circumstances, slices.Clone(one.words)}
				if words := set(&made.circumstances, i); words != "" {
					made.words = append(made.words, words)
				}
				next = append(next, made)
			}
		}
		all = next
	}
	if len(t.Addresses) > 0 {
		addresses := listAddresses(t.Addresses)
		cross(len(addresses), func(to *request.Circumstances, i int) string {
			to.ClientAddress = addresses[i]
			return "from " + addresses[i].String()
		})
	}
	if t.Certificates && secure {
		cross(3, func(to *request.Circumstances, i int) string {
			to.Certificate = request.Certificate{Shown: i > 0, Trusted: i == 1, Subject: "CN=client"}
			return []string{"", "with a trusted certificate", "with another certificate"}[i]
		})
	}
	if credentials {
		cross(2, func(to *request.Circumstances, i int) string {
			if i == 1 {
				to.Assumed = request.Assumptions{Credentials: true, BasicAccepted: true, External: 200}
			}
			return []string{"", "with credentials"}[i]
		})
	}
	if len(t.Bodies) > 0 && slices.Contains(c.query.Also, "bodyLimit") {
		slices.Sort(t.Bodies)
		sizes := slices.Compact(t.Bodies)
		cross(len(sizes)+1, func(to *request.Circumstances, i int) string {
			if i == 0 {
				return ""
			}
			to.BodyBytes = sizes[i-1] + 1
			return "with a body of more than " + formatBytes(sizes[i-1])
		})
	}
	return all
}

// answerBoth returns what a request gets on both sides.
func (c *acrossComparer) answerBoth(r *request.Request) (before, after *sideAnswer, err error) {
	r.Complete()
	if before, err = c.sides[0].answerRequest(*r); err == nil {
		after, err = c.sides[1].answerRequest(*r)
	}
	return before, after, err
}

// isMadeOf reports whether the answer is made of the request's path: a redirect, or another path at the
// backend.
func (s *sideAnswer) isMadeOf(r *request.Request) bool {
	return s.Outcome == request.Redirect || s.Outcome == request.Matched && s.pathKey() != r.Target()
}

// countAnswers notes how two answers differ, and returns the position of the change, -1 for none, or
// why nothing can be said.
func (c *acrossComparer) countAnswers(p probe, before, after *sideAnswer) (at int, why string) {
	for _, s := range []*sideAnswer{before, after} {
		c.asksService = c.asksService || strings.Contains(s.authKey(), string(ingress.External))
		if s.Outcome == request.NotEvaluated {
			return -1, append(s.Why, "not known")[0]
		}
	}
	if isUnreachableOnce(before, after) {
		return -1, "no backend answers on one side, as far as the input has Services and endpoints, " +
			"and cannot tell whether that is so on the other"
	}
	difference, access := compareAnswers(before, after)
	if c.isBeyond(before) || c.isBeyond(after) {
		difference, access = "", ""
	}
	if difference == "" {
		return c.countSettings(p, before, after), ""
	}
	return c.addChange(p, BehaviorChange{Difference: difference, Access: access, Changes: changedParts(difference)},
		before, after), ""
}

// isUnreachableOnce reports whether a rule sends a request to a backend on both sides, and it is known of
// one side alone that no endpoint is there.
func isUnreachableOnce(before, after *sideAnswer) bool {
	return before.Outcome == request.Matched && after.Outcome == request.BackendError ||
		before.Outcome == request.BackendError && after.Outcome == request.Matched
}

// isBeyond reports whether the verdict does not speak of an answer: one of the proxy itself, or to a body
// that is too large where that is not asked about.
func (c *acrossComparer) isBeyond(s *sideAnswer) bool {
	return s.Outcome == request.Answered ||
		s.DeniedBy == ingress.BodySize && !slices.Contains(c.query.Also, "bodyLimit")
}

// addChange counts a request for which something differs.
func (c *acrossComparer) addChange(p probe, change BehaviorChange, before, after *sideAnswer) int {
	key := strings.Join([]string{string(change.Difference), change.Access, before.classKey(), after.classKey(),
		formatSettingChanges(change.Policies)}, "\x00")
	at, known := c.index[key]
	if !known {
		at = len(c.changes)
		c.index[key] = at
		c.changes = append(c.changes, acrossChange{change: change, before: before, after: after, smallest: p.request})
	}
	one := &c.changes[at]
	if known && requests.IsSmaller(&p.request, &one.smallest) {
		one.smallest, one.before, one.after = p.request, before, after
	}
	class := ChangedClass{strings.Join(p.words, ", "), requests.FormatCommand(&p.request)}
	switch {
	case one.lastClass == class.Class: // another request of it
	case len(one.change.Classes) < maxBehaviorClasses:
		one.change.Classes = append(one.change.Classes, class)
	default:
		one.change.More++
	}
	one.lastClass = class.Class
	return at
}

func (c *acrossComparer) addUndecided(why string, example *request.Request) {
	u := c.undecided[why]
	if u == nil {
		u = &prove.Undecided{Why: why, Example: example.Text}
		c.undecided[why] = u
	}
	u.Classes++
	if !slices.Contains(u.Hosts, example.Host) {
		u.Hosts = append(u.Hosts, example.Host)
	}
}
