package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// truth is what is true of a request that goes some way.
type truth uint8

const (
	fulfils   truth = iota
	unreached       // no backend gets it
	fails
	open    // it is not known
	unasked // it is not asked about
)

// judged is what is true of a request, with the reasons.
type judged struct {
	truth
	why     string           // of open: what is not known
	because []protect.Reason // of a property of requests
}

// way is where a request goes: two that go the same way meet the same policies.
type way struct{ gateway, listener, rule topology.NodeID }

func wayOf(a *request.Answer) way { return way{a.Gateway, a.Listener, a.Rule} }

// class judges one class.
func (p *prover) class(c *space.Class) bool {
	if why := doubtAbout(c); why != "" {
		p.doubtful(c, why)
		return true
	}
	s := p.answer(c, c.Answer)
	p.count(c, s)
	if s.truth == fulfils || s.truth == fails || s.truth == open {
		p.takes(c.Answer)
	}
	if p.whole != nil && s.truth != unasked {
		p.whole.see(p, c, []*request.Answer{c.Answer})
	}
	return true
}

// count notes what is true of a class.
func (p *prover) count(c *space.Class, s judged) {
	if s.truth == unasked {
		return
	}
	p.out.Classes++
	switch s.truth {
	case fulfils:
		p.out.Protected++
	case unreached:
		p.out.Unreached++
		return
	case open:
		p.doubted(s.why, c.Request.Text, s.because...)
	case fails:
		p.fail(c, "", s.because...)
	}
	p.selected.note(c)
}

// takes notes that a rule takes requests which a backend gets.
func (p *prover) takes(a *request.Answer) {
	if int(a.Rule) < len(p.taking) && !p.taking[a.Rule] {
		p.taking[a.Rule] = true
		p.out.Rules++
	}
}

// doubtful judges a class of which it is not known which rule takes it: what is true of every rule that may is true of the class. What is certain of
// its request is certain of one of the class.
func (p *prover) doubtful(c *space.Class, why string) {
	s, all := p.possible(c, c.Possible)
	switch {
	case c.Possible == nil:
		s = judged{truth: open}
	case s.truth == fulfils:
		for _, a := range all {
			p.takes(a)
		}
	case s.truth == fails && c.Unknown != "":
		s.truth = open
	}
	if s.truth == open && c.Unknown != "" {
		if one, _ := p.alone(c); one.truth == fails {
			s = one
		}
	}
	if s.truth == open {
		p.notKnown(c)
	}
	switch {
	case p.whole == nil || s.truth == unasked:
	case s.truth == open:
		p.whole.blind(c)
	default:
		p.whole.see(p, c, c.Possible)
	}
	s.why = why
	p.count(c, s)
}

// possible is what is true whichever of some answers is the right one, and those in which a backend gets the request.
func (p *prover) possible(c *space.Class, all []*request.Answer) (judged, []*request.Answer) {
	var met, reached []*request.Answer
	var because []protect.Reason
	found := map[truth]bool{}
	for _, a := range all {
		s := p.answer(c, a)
		found[s.truth] = true
		because = append(because, s.because...)
		if s.truth == fulfils {
			met = append(met, a)
		}
		if s.truth == fulfils || s.truth == fails {
			reached = append(reached, a)
		}
	}
	switch {
	case found[open], found[fails] && len(found) > 1:
		return judged{truth: open, because: because}, nil
	case found[fails]:
		return judged{truth: fails, because: because}, reached
	case found[fulfils]:
		return judged{truth: fulfils}, met
	case found[unreached]:
		return judged{truth: unreached}, nil
	}
	return judged{truth: unasked}, nil
}

// alone is what is true of the request of a class by itself.
func (p *prover) alone(c *space.Class) (judged, []*request.Answer) {
	if !c.Answer.Unsettled && !uncertain(c.Answer) {
		return p.answer(c, c.Answer), nil
	}
	return p.possible(c, c.Answer.Possible)
}

// answer is what is true of a request that goes a way.
func (p *prover) answer(c *space.Class, a *request.Answer) judged {
	if p.q.Routes != nil && (a.Route == topology.None || !p.q.Routes(p.survey.res.Node(a.Route).Object)) {
		return judged{truth: unasked}
	}
	if p.q.Property == httpRedirects && c.Entry.Secure {
		return judged{truth: unasked}
	}
	if a.Unsettled {
		return judged{truth: open, why: depends(a)}
	}
	if !p.reaches(a) {
		if at := wayOf(a); !p.looked[at] {
			p.looked[at] = true
			p.look(stepsOf(a))
		}
		return judged{truth: unreached}
	}
	return p.taken(c, a)
}

// reaches reports whether a backend gets a request, or may: one that is only absent from files may exist.
func (p *prover) reaches(a *request.Answer) bool {
	return reaches(a) || a.Outcome == request.BackendError && len(protect.AbsentBackends(p.survey.res, a)) > 0
}

// taken is what is true of a request that a backend gets.
func (p *prover) taken(c *space.Class, a *request.Answer) judged {
	s := p.holds(a, c)
	if s.truth != fails && s.truth != open {
		return s
	}
	for _, d := range p.judge(a) {
		switch d.Outcome {
		case "Denied":
			return judged{truth: p.denied()}
		case "NotEvaluated":
			return judged{truth: open, why: d.kind() + ": " + d.sentence(), because: s.because}
		}
	}
	if s.truth == fails && a.Outcome == request.Conditional && (p.protector == nil || p.protector.judge.HasOpaqueFilter(a.Rule)) {
		return judged{truth: open, why: depends(a)}
	}
	return s
}

// denied is what is true of a request that policies deny: it meets a policy; whether it is protected, nobody needs to ask.
func (p *prover) denied() truth {
	if p.protector != nil {
		return unreached
	}
	return fulfils
}

// doubtAbout is why it is not known which rule takes a class; "" if it is.
func doubtAbout(c *space.Class) string {
	if c.Unknown != "" {
		return c.Unknown
	}
	if c.Answer.Unsettled {
		return depends(c.Answer)
	}
	for _, problem := range c.Answer.Problems {
		if problem.Code == model.OrderUncertain {
			return problem.Message
		}
	}
	return ""
}

func uncertain(a *request.Answer) bool {
	return slices.ContainsFunc(a.Problems, func(problem model.Problem) bool { return problem.Code == model.OrderUncertain })
}

// notKnown notes the problems for which it is not known what becomes of a class.
func (p *prover) notKnown(c *space.Class) {
	for _, problem := range c.Answer.Problems {
		if problem.Incomplete() && c.Answer.Unsettled && !p.told[problem.Message] {
			p.told[problem.Message] = true
			p.problems = append(p.problems, problem)
		}
	}
}

// depends is what an answer depends on.
func depends(a *request.Answer) string {
	for _, why := range a.Why {
		if rest, found := strings.CutPrefix(why, "it depends: "); found {
			return rest
		}
	}
	return "what becomes of the request is not known"
}

func (p *prover) undecided(c *space.Class, why string) {
	p.doubted(why, c.Request.Text)
}

func (p *prover) doubted(why, example string, because ...protect.Reason) {
	u := p.open[why]
	if u == nil {
		u = &Undecided{Why: why, Example: example}
		p.open[why] = u
	}
	u.Classes++
	for _, r := range because {
		if !slices.ContainsFunc(u.Because, func(o protect.Reason) bool { return o.Code == r.Code && o.Message == r.Message }) {
			u.Because = append(u.Because, r)
		}
	}
}
