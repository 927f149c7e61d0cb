package request

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// checkForeignListeners makes the rule uncertain where no listener takes what is asked about, and
// one on its port speaks a protocol of an implementation: which connections that takes is not
// known.
func (t *trace) checkForeignListeners(w Destination) {
	m, a, r := t.matcher, t.answer, t.request
	if a.Outcome != NoMatch || a.Listener != topology.None || r.From != "" {
		return
	}
	gateways := m.listGateways()
	if a.Gateway != topology.None {
		gateways = []topology.NodeID{a.Gateway}
	}
	for _, gateway := range gateways {
		for _, p := range filterByHost(m.listListeners(gateway), r.wantedName()) {
			n := m.graph.Node(p.id)
			if p.facts.Port != r.Port || !p.facts.Accepted || !strings.Contains(p.facts.Protocol, "/") ||
				w.Listener != "" && n.Ref.Section != w.Listener {
				continue
			}
			a.Status = 0
			a.makeRuleUncertain("listener " + n.Ref.String() + " may take it: its protocol " + p.facts.Protocol +
				" belongs to an implementation")
			a.addProblem(model.Warning, model.NotEvaluated, m.graph.Node(gateway).Object,
				"protocol "+p.facts.Protocol+" belongs to an implementation and is not evaluated: "+n.Ref.String(), "")
		}
	}
}

// checkForeignBackends makes the answer conditional where a backend is of a kind that the manifests
// do not define, and the implementation is not known: it may have the kind, with names of its own that
// stand for no object.
func (t *trace) checkForeignBackends(refs []model.Ref) {
	a := t.answer
	for _, to := range refs {
		if a.Outcome == BackendError || a.Assumed == BackendError {
			a.Status = 0
		}
		a.makeConditional("an implementation may support " + to.String() +
			", though nothing in the input defines its kind")
		a.addProblem(model.Warning, model.NotEvaluated, t.matcher.graph.Node(a.Rule).Object,
			"cannot tell whether "+to.String()+" can be sent to: kind "+to.GroupKind().String()+
				" is not defined in the input, and an implementation may support it",
			"add its CRD or an object of it")
	}
}
