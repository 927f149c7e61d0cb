package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
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

// way is where a request goes: two that go the same way meet the same policies.
type way struct{ gateway, listener, rule topology.NodeID }

func wayOf(a *request.Answer) way { return way{a.Gateway, a.Listener, a.Rule} }

// class judges one class.
func (p *prover) class(c *space.Class) bool {
	if why := doubtAbout(c); why != "" {
		p.doubtful(c, why)
		return true
	}
	s, why := p.answer(c, c.Answer)
	p.count(c, s, why)
	if s == fulfils || s == fails || s == open {
		p.takes(c.Answer)
	}
	if p.whole != nil && s != unasked {
		p.whole.see(p, c, []*request.Answer{c.Answer})
	}
	return true
}

// count notes what is true of a class.
func (p *prover) count(c *space.Class, s truth, why string) {
	if s == unasked {
		return
	}
	p.out.Classes++
	switch s {
	case fulfils:
		p.out.Protected++
	case unreached:
		p.out.Unreached++
	case open:
		p.undecided(c, why)
	case fails:
		p.fail(c, "")
	}
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
		s = open
	case s == fulfils:
		for _, a := range all {
			p.takes(a)
		}
	case s == fails && c.Unknown != "":
		s = open
	}
	if s == open && c.Unknown != "" {
		if one, _ := p.alone(c); one == fails {
			s = fails
		}
	}
	if s == open {
		p.notKnown(c)
	}
	switch {
	case p.whole == nil || s == unasked:
	case s == open:
		p.whole.blind(c)
	default:
		p.whole.see(p, c, c.Possible)
	}
	p.count(c, s, why)
}

// possible is what is true whichever of some answers is the right one, and those in which a backend gets the request.
func (p *prover) possible(c *space.Class, all []*request.Answer) (truth, []*request.Answer) {
	var met, reached []*request.Answer
	found := map[truth]bool{}
	for _, a := range all {
		s, _ := p.answer(c, a)
		found[s] = true
		if s == fulfils {
			met = append(met, a)
		}
		if s == fulfils || s == fails {
			reached = append(reached, a)
		}
	}
	switch {
	case found[open], found[fails] && len(found) > 1:
		return open, nil
	case found[fails]:
		return fails, reached
	case found[fulfils]:
		return fulfils, met
	case found[unreached]:
		return unreached, nil
	}
	return unasked, nil
}

// alone is what is true of the request of a class by itself.
func (p *prover) alone(c *space.Class) (truth, []*request.Answer) {
	if !c.Answer.Unsettled && !uncertain(c.Answer) {
		s, _ := p.answer(c, c.Answer)
		return s, nil
	}
	return p.possible(c, c.Answer.Possible)
}

// answer is what is true of a request that goes a way.
func (p *prover) answer(c *space.Class, a *request.Answer) (truth, string) {
	if p.q.Routes != nil && (a.Route == topology.None || !p.q.Routes(p.survey.res.Node(a.Route).Object)) {
		return unasked, ""
	}
	if p.q.Property == httpRedirects && c.Entry.Secure {
		return unasked, ""
	}
	if a.Unsettled {
		return open, depends(a)
	}
	if !reaches(a) {
		if at := wayOf(a); !p.looked[at] {
			p.looked[at] = true
			p.look(stepsOf(a))
		}
		return unreached, ""
	}
	return p.taken(c, a)
}

// taken is what is true of a request that a backend gets.
func (p *prover) taken(c *space.Class, a *request.Answer) (truth, string) {
	s, why := p.holds(a, c)
	if s != fails && s != open {
		return s, why
	}
	for _, d := range p.judge(a) {
		switch d.Outcome {
		case "Denied":
			return fulfils, ""
		case "NotEvaluated":
			return open, d.kind() + ": " + d.sentence()
		}
	}
	if s == fails && a.Outcome == request.Conditional {
		return open, depends(a)
	}
	return s, why
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

func (p *prover) doubted(why, example string) {
	u := p.open[why]
	if u == nil {
		u = &Undecided{Why: why, Example: example}
		p.open[why] = u
	}
	u.Classes++
}
