package prove

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// addNotes notes what is answered before a request is authenticated, once for each rule.
func (p *prover) addNotes(a *request.Answer) {
	for _, note := range p.matcher.AuthenticationNotes(a) {
		if !slices.Contains(p.out.Notes, note) && len(p.out.Notes) < mostCounterexamples {
			p.out.Notes = append(p.out.Notes, note)
		}
	}
}

// judgeProtection says whether one of the properties asked about holds for a request.
func (p *prover) judgeProtection(a *request.Answer) judgement {
	g := p.protector.Judge.FindGates(a)
	out := judgement{truth: truthFails}
	for _, q := range p.q.Properties {
		r := g.JudgeProperty(q.Property, q.Methods...)
		switch {
		case r.Verdict == gate.NotApplicable:
			return judgement{truth: truthNotAsked}
		case r.HasReason(gate.DeniesAll):
			return judgement{truth: truthUnreached}
		case r.Verdict == gate.Holds:
			p.findInForce(a)
			if q.Property == gate.Authentication && p.out != nil { // spellings are judged without notes
				p.addNotes(a)
			}
			return judgement{truth: truthHolds}
		case r.Verdict == gate.Depends:
			out.truth = truthUnknown
		}
		out.reasons = append(out.reasons, r.Because...)
	}
	p.findInForce(a)
	if out.truth == truthUnknown {
		out.why = view.JoinReasons(out.reasons)
	}
	return out
}
