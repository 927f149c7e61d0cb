package prove

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// shadowCheck finds the rules that take no request.
type shadowCheck struct {
	sure, maybe map[topology.NodeID]bool // rules that take a class, and those that may
	unclear     int                      // classes of which it is not known which rules may take them
}

func (t *shadowCheck) addUnknown(c *space.Class) {
	if c.Possible == nil {
		t.unclear++
	}
	for _, a := range c.Possible {
		t.maybe[a.Rule] = true
	}
}

func (t *shadowCheck) addClass(_ *prover, c *space.Class, all []*request.Answer) {
	for _, a := range all {
		if len(all) == 1 && c.Unknown == "" {
			t.sure[a.Rule] = true
		}
		t.maybe[a.Rule] = true
	}
}

func (t *shadowCheck) finishCheck(p *prover) error {
	all := request.Competition{Matcher: p.matcher}
	var shadowed []topology.NodeID
	for _, rule := range all.Rules(p.q.Scope.Destination) {
		n := p.collector.Resolution.Node(rule)
		switch {
		case p.q.Routes != nil && !p.q.Routes(n.Object), t.sure[rule]:
		case t.maybe[rule], t.unclear > 0:
			p.addUndecided("cannot tell whether it takes a request", n.Ref.String())
		default:
			shadowed = append(shadowed, rule)
		}
	}
	samples, err := space.FindSamples(p.matcher, p.q.Scope, shadowed)
	if err != nil {
		return err
	}
	for _, rule := range shadowed {
		name := p.collector.Resolution.Node(rule).Ref.String()
		c := samples[rule]
		if c == nil || c.Answer.Rule == topology.None {
			p.out.unprotected++
			p.unmatchedRules = append(p.unmatchedRules, rule)
			continue
		}
		p.out.unprotected++
		p.shadowed = append(p.shadowed, &failingRule{rule: c.Answer.Rule, classes: 1, smallest: c, because: name +
			" matches it too, and takes no request at all"})
	}
	return nil
}
