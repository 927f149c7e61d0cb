package matrix

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
)

// namespaceCount counts the route rules of a namespace as the matrix counts all of them.
type namespaceCount struct {
	authentication MatrixCount
	counts         []MatrixCount // in the order of the Counts of the matrix
}

// countInNamespace counts a rule, of which the worst states are given, in its namespace.
func (m *matrixBuilder) countInNamespace(rows []MatrixRow, worst []string) {
	if m.out.namespaces == nil {
		m.out.namespaces = map[string]*namespaceCount{}
	}
	at := rows[0].Target.Namespace
	count := m.out.namespaces[at]
	if count == nil {
		count = &namespaceCount{counts: make([]MatrixCount, len(worst))}
		m.out.namespaces[at] = count
	}
	for j, state := range worst {
		count.counts[j].addState(state)
	}
	state := ""
	for i := range rows {
		one := CellUnknown
		if v := rows[i].Protection.ResultOf(gate.Authentication).Verdict; v != "" { // it was asked
			one = stateOfVerdict(v)
		}
		if rankState(one) > rankState(state) {
			state = one
		}
	}
	count.authentication.addState(state)
}

// The labels of metrics that say what requests are protected by, and whether something required is
// there.
const (
	protectionLabel = "protection"
	stateLabel      = "state"
)

// Metrics counts the route rules and the paths of Ingresses, by namespace. Of a matrix with Cells only,
// all rules are undecided.
func (m *PolicyMatrix) Metrics() []metric.Family {
	rules := metric.NewCounter("route_rules", "Route rules by whether all of their requests have to authenticate;"+
		" undecided: it cannot be known.", metric.Namespace, protectionLabel)
	countProtection(rules, "", &MatrixCount{}) // so that a sum is never of nothing
	rules.Add(0, "", "no_traffic")
	for _, namespace := range slices.Sorted(maps.Keys(m.namespaces)) {
		countProtection(rules, namespace, &m.namespaces[namespace].authentication)
		rules.Add(0, namespace, "no_traffic")
	}
	for _, ref := range m.Idle {
		countProtection(rules, ref.Namespace, &MatrixCount{})
		rules.Add(1, ref.Namespace, "no_traffic")
	}
	out := metric.Join([]metric.Family{rules.Family(), m.countRequired()}, m.CountCompleteness("matrix"))
	if !m.judgesIngresses {
		return out
	}
	return metric.Join(out, []metric.Family{m.countIngresses()})
}

// countIngresses counts the paths of Ingresses.
func (m *PolicyMatrix) countIngresses() metric.Family {
	paths := metric.NewCounter("ingress_paths", "Paths of Ingresses in force, by whether all of their requests have to"+
		" authenticate; undecided: it cannot be known.", metric.Namespace, protectionLabel)
	countProtection(paths, "", &MatrixCount{})
	for i := range m.Ingresses {
		var count MatrixCount
		count.addState(stateOfVerdict(m.Ingresses[i].Authentication.Verdict))
		countProtection(paths, m.Ingresses[i].Target.Namespace, &count)
	}
	return paths.Family()
}

// countProtection adds a count of authentication.
func countProtection(c *metric.Counter, namespace string, count *MatrixCount) {
	c.Add(count.InForce, namespace, "authenticated")
	c.Add(count.Missing, namespace, "open")
	c.Add(count.Unknown, namespace, "undecided")
	c.Add(count.NotApplicable, namespace, "no_backend")
}

// countRequired counts what must not be missing or, where nothing is required, the policy kinds.
func (m *PolicyMatrix) countRequired() metric.Family {
	c := metric.NewCounter("route_rule_policies", "Route rules by whether a policy of the kind is in force on all of"+
		" their paths.", metric.Namespace, metric.Kind, stateLabel)
	met := "in_force"
	if len(m.Required) > 0 {
		c = metric.NewCounter("route_rule_requirements", "Route rules by whether they have on all of their paths what"+
			" must not be missing.", metric.Namespace, metric.Requirement, stateLabel)
		met = "met"
	}
	add := func(namespace string, count *MatrixCount, name string) {
		for _, one := range []struct {
			n     int
			state string
		}{{count.InForce, met}, {count.Missing, "missing"}, {count.Unknown, "undecided"},
			{count.NotApplicable, "not_applicable"}} {
			if one.n > 0 || namespace == "" { // so that a sum is never of nothing; for each namespace they are too many
				c.Add(one.n, namespace, name, one.state)
			}
		}
	}
	for j := range m.Counts {
		add("", &MatrixCount{}, m.Counts[j].PolicyKind)
	}
	for _, namespace := range slices.Sorted(maps.Keys(m.namespaces)) {
		for j, count := range m.namespaces[namespace].counts {
			add(namespace, &count, m.Counts[j].PolicyKind)
		}
	}
	return c.Family()
}
