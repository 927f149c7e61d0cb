package prove

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// truth is whether the property holds for a request that goes to one rule.
type truth uint8

const (
	truthHolds     truth = iota
	truthUnreached       // no backend gets it
	truthFails
	truthUnknown  // it is not known
	truthNotAsked // the request is not asked about
)

// judgement is whether the property holds for a request, with the reasons.
type judgement struct {
	truth
	why     string           // of open: what is not known
	reasons []protect.Reason // of a property of requests
}

// judgeClass judges one class.
func (p *prover) judgeClass(c *space.Class) bool {
	if why := requests.FindDoubt(c); why != "" {
		p.judgeUncertainClass(c, why)
		return true
	}
	s := p.judgeAnswer(c, c.Answer)
	p.countClass(c, s)
	if s.truth == truthHolds || s.truth == truthFails || s.truth == truthUnknown {
		p.noteTakingRule(c.Answer)
	}
	if p.crossCheck != nil && s.truth != truthNotAsked {
		p.crossCheck.addClass(p, c, []*request.Answer{c.Answer})
	}
	return true
}

// countClass counts a class by its judgement.
func (p *prover) countClass(c *space.Class, s judgement) {
	if s.truth == truthNotAsked {
		return
	}
	p.out.Classes++
	switch s.truth {
	case truthHolds:
		p.out.Protected++
	case truthUnreached:
		p.out.Unreached++
		return
	case truthUnknown:
		p.addUndecided(s.why, c.Request.Text, s.reasons...)
	case truthFails:
		p.addFailure(c, "", s.reasons...)
	}
	p.scopeUse.noteClass(c)
}

// noteTakingRule notes that a rule takes requests which a backend gets.
func (p *prover) noteTakingRule(a *request.Answer) {
	if int(a.Rule) < len(p.takingRules) && !p.takingRules[a.Rule] {
		p.takingRules[a.Rule] = true
		p.out.Rules++
	}
}

// judgeUncertainClass judges a class of which it is not known which rule takes it: what is true for
// every rule that may take it is true for the class. What is certain of its own request is certain
// for one request of the class.
func (p *prover) judgeUncertainClass(c *space.Class, why string) {
	s, all := p.judgePossible(c, c.Possible)
	switch {
	case c.Possible == nil:
		s = judgement{truth: truthUnknown}
	case s.truth == truthHolds:
		for _, a := range all {
			p.noteTakingRule(a)
		}
	case s.truth == truthFails && (c.Unknown != "" || c.Answer.Rule == topology.None):
		s.truth = truthUnknown // its own request is no example of that
	}
	if s.truth == truthUnknown && c.Unknown != "" {
		if one, _ := p.judgeOwnRequest(c); one.truth == truthFails {
			s = one
		}
	}
	if s.truth == truthUnknown {
		p.noteUnknownProblems(c)
	}
	switch {
	case p.crossCheck == nil || s.truth == truthNotAsked:
	case s.truth == truthUnknown:
		p.crossCheck.addUnknown(c)
	default:
		p.crossCheck.addClass(p, c, c.Possible)
	}
	s.why = why
	p.countClass(c, s)
}

// judgePossible returns what is true whichever of some answers is right, and the answers in which a
// backend gets the request.
func (p *prover) judgePossible(c *space.Class, all []*request.Answer) (judgement, []*request.Answer) {
	var met, reached []*request.Answer
	var because []protect.Reason
	found := map[truth]bool{}
	for _, a := range all {
		s := p.judgeAnswer(c, a)
		if s.truth == truthUnreached && c.Answer.RewrittenByListener && len(all) > 1 {
			continue // some of the requests reach a backend: filters of the listener choose which
		}
		found[s.truth] = true
		because = append(because, s.reasons...)
		if s.truth == truthHolds {
			met = append(met, a)
		}
		if s.truth == truthHolds || s.truth == truthFails {
			reached = append(reached, a)
		}
	}
	switch {
	case found[truthUnknown], found[truthFails] && len(found) > 1:
		return judgement{truth: truthUnknown, reasons: because}, nil
	case found[truthFails]:
		return judgement{truth: truthFails, reasons: because}, reached
	case found[truthHolds]:
		return judgement{truth: truthHolds}, met
	case found[truthUnreached]:
		return judgement{truth: truthUnreached}, nil
	}
	return judgement{truth: truthNotAsked}, nil
}

// judgeOwnRequest judges the request of a class by itself.
func (p *prover) judgeOwnRequest(c *space.Class) (judgement, []*request.Answer) {
	if !c.Answer.RuleUncertain && !requests.HasUncertainOrder(c.Answer) {
		return p.judgeAnswer(c, c.Answer), nil
	}
	return p.judgePossible(c, c.Answer.Possible)
}

// judgeAnswer judges a request by its answer.
func (p *prover) judgeAnswer(c *space.Class, a *request.Answer) judgement {
	if p.q.Routes != nil && (a.Route == topology.None || !p.q.Routes(p.collector.Resolution.Node(a.Route).Object)) {
		return judgement{truth: truthNotAsked}
	}
	if p.q.Property == httpRedirects && c.Entry.Secure {
		return judgement{truth: truthNotAsked}
	}
	if a.RuleUncertain {
		return judgement{truth: truthUnknown, why: requests.FindCondition(a)}
	}
	if !p.canReachBackend(a) {
		if at := requests.RulePathOf(a); !p.visitedPaths[at] {
			p.visitedPaths[at] = true
			p.markVisited(requests.EntryNodes(a))
		}
		return judgement{truth: truthUnreached}
	}
	return p.judgeReachingRequest(c, a)
}

// canReachBackend reports whether a backend gets a request, or may get it: a backend that is only
// absent from the files may exist.
func (p *prover) canReachBackend(a *request.Answer) bool {
	return requests.IsSentToBackend(a) || a.Outcome == request.BackendError &&
		len(protect.AbsentBackends(p.collector.Resolution, a)) > 0
}

// judgeReachingRequest judges a request that a backend gets.
func (p *prover) judgeReachingRequest(c *space.Class, a *request.Answer) judgement {
	s := p.judgeProperty(a, c)
	if s.truth != truthFails && s.truth != truthUnknown {
		return s
	}
	for _, d := range p.writer.JudgeRequest(a) {
		switch d.Outcome {
		case "Denied":
			return judgement{truth: p.truthOfDenied()}
		case "NotEvaluated":
			return judgement{truth: truthUnknown, why: d.KindName() + ": " + d.FormatSentence(), reasons: s.reasons}
		}
	}
	if p.walker.HasLayers() && p.q.isAboutAccess() {
		switch path := requests.WalkAnswer(p.walker, p.collector.Resolution, a); path.Verdict {
		case point.Denied:
			return judgement{truth: truthUnreached}
		case point.Depends:
			return judgement{truth: truthUnknown, why: requests.FormatPoint(path.FindPoint(point.Depends)), reasons: s.reasons}
		default:
			if why := p.findUnjudgedProtection(path); why != "" {
				return judgement{truth: truthUnknown, why: why, reasons: s.reasons}
			}
		}
	}
	if s.truth == truthFails && a.IsRuleConditional() && (p.protector == nil ||
		p.protector.Judge.HasOpaqueFilter(a.Rule)) {
		return judgement{truth: truthUnknown, why: requests.FindCondition(a)}
	}
	return s
}

// findUnjudgedProtection names policies behind the Gateway that look at requests and may establish a
// property that is asked about; "" if there are none.
func (p *prover) findUnjudgedProtection(path *point.Path) string {
	if p.protector == nil {
		return ""
	}
	for _, way := range path.Ways {
		for i := range way {
			at := &way[i]
			if at.Verdict == point.Bypassed || at.IgnoresRequests {
				continue
			}
			for _, policy := range at.Policies {
				if k := p.collector.Resolution.Kind(policy.GroupKind()); k != nil && len(k.Protects.Rules) > 0 {
					return fmt.Sprintf("%s at %s may keep requests out; for proxies behind Gateways it is only judged "+
						"which requests they deny", policy, at.Object)
				}
			}
		}
	}
	return ""
}

// truthOfDenied returns what is true of a request that policies deny: it meets a policy, and it
// needs no protection.
func (p *prover) truthOfDenied() truth {
	if p.protector != nil {
		return truthUnreached
	}
	return truthHolds
}

// noteUnknownProblems notes the problems because of which it is not known what becomes of a class.
func (p *prover) noteUnknownProblems(c *space.Class) {
	for _, problem := range c.Answer.Problems {
		if problem.IsIncomplete() && c.Answer.RuleUncertain && !p.notedMessages[problem.Message] {
			p.notedMessages[problem.Message] = true
			p.problems = append(p.problems, problem)
		}
	}
}

func (p *prover) addUndecidedClass(c *space.Class, why string) {
	p.addUndecided(why, c.Request.Text)
}

func (p *prover) addUndecided(why, example string, because ...protect.Reason) {
	u := p.undecidedByReason[why]
	if u == nil {
		u = &Undecided{Why: why, Example: example}
		p.undecidedByReason[why] = u
	}
	u.Classes++
	for _, r := range because {
		if !slices.ContainsFunc(u.Because, func(o protect.Reason) bool {
			return o.Code == r.Code &&
				o.Message == r.Message
		}) {
			u.Because = append(u.Because, r)
		}
	}
}
