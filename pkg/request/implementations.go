package request

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// mostNamed is how many implementations a difference names.
const mostNamed = 3

// findDifferent calls see with what other data planes make of the request of a trace, if it is not
// known which data plane takes it: those that are described and for certain give it to another rule.
func (m *Matcher) findDifferent(t *trace, w Destination, see func(name string, a *Answer) bool) {
	a := t.answer
	if t.settings.described || a.Gateway == topology.None || m.graph.Node(a.Gateway).Object == nil ||
		t.answeredByPath || a.Request.Protocol != HTTP && a.Request.Protocol != GRPC {
		return
	}
	w.Gateway = a.Gateway
	for _, p := range m.profiles.All {
		s := m.settingsOf(p)
		o, err := runTrace(m, &a.Request, w, s, false)
		if err == nil && !o.answer.RuleUncertain && o.answer.Rule != a.Rule && !see(s.Name, o.answer) {
			return
		}
	}
}

// noteImplementations notes that the data plane of the Gateway is not known, where that decides
// which rule takes the request.
func (m *Matcher) noteImplementations(t *trace, w Destination) {
	var names []string
	what := ""
	m.findDifferent(t, w, func(name string, o *Answer) bool {
		if names == nil {
			what = m.formatRule(o.Rule)
		} else {
			what = "another rule"
		}
		names = append(names, name)
		return len(names) < mostNamed
	})
	if names == nil {
		return
	}
	t.answer.addProblem(model.Warning, model.ImplementationsDiffer, m.graph.Node(t.answer.Gateway).Object,
		fmt.Sprintf("the implementation of %s is not known: the answer is what the Gateway API says; %s %s %s take the request",
			m.graph.Node(t.answer.Gateway).Ref, strings.Join(names, ", "),
			chooseText(len(names) > 1, "let", "lets"), what),
		"add the GatewayClass, whose controllerName tells the implementation")
}

// formatRule names a rule, or says that there is none (None).
func (m *Matcher) formatRule(rule topology.NodeID) string {
	if rule == topology.None {
		return "no rule"
	}
	return m.graph.Node(rule).Ref.String()
}

// mayDiffer reports whether a Gateway's data plane is not known, so that others than the rules of the
// Gateway API's text may decide.
func (m *Matcher) mayDiffer(gateway topology.NodeID) bool {
	return !m.settingsAt(gateway).described && len(m.profiles.All) > 0
}

// MayDiffer reports whether it is not known which data plane answers at an entry.
func (m Competition) MayDiffer(e Entry) bool { return m.mayDiffer(e.Gateway) }

// addDifferent makes the rule uncertain where the data plane of the Gateway is not known and some of
// those that are described give the request to another rule.
func (m *Matcher) addDifferent(t *trace, w Destination) {
	a := t.answer
	var others []*Answer
	why := ""
	m.findDifferent(t, w, func(name string, o *Answer) bool {
		same := func(known *Answer) bool { return known.Rule == o.Rule && known.Listener == o.Listener }
		if !slices.ContainsFunc(others, same) && !slices.ContainsFunc(a.Possible, same) {
			others = append(others, o)
		}
		if why == "" {
			why = fmt.Sprintf("the implementation of %s is not known, and %s lets %s take the request",
				m.graph.Node(a.Gateway).Ref, name, m.formatRule(o.Rule))
		}
		return true
	})
	switch {
	case why == "":
		return
	case a.Possible == nil && !a.RuleUncertain:
		own := *a
		a.Possible = []*Answer{&own}
	case a.Possible == nil: // not even all rules that may take it are known
		others = nil
	}
	a.addCandidateDoubt(why)
	if a.Possible != nil {
		a.Possible = append(a.Possible, others...)
	}
}
