package audit

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// How says how much of a setting is compared.
type How string

// The ways to compare. NotCompared is for what leaves no trace in a dump, or one that does not
// tell.
const (
	ByValue     How = "value"
	ByPresence  How = "presence"
	NotCompared How = "no"
)

// Mapping is what a vendor knows about its proxies.
type Mapping struct {
	Vendor string
	// Gateways are those that a proxy serves (namespace/name), by what its dump says of itself; nil
	// if it is not the vendor's.
	Gateways func(*dataplane.Proxy) []string
	// Labels select the pods of a Gateway's proxies (key=value,…), and Port is that of their admin
	// interface.
	PodLabels func(gateway model.Ref) string
	AdminPort int
	// Identify tells whose rule a route is.
	Identify func(*Routes, *dataplane.ServedRoute) Identity
	// Own tells that a listener or a route is of the proxy itself, and of nobody's policy.
	IsOwn func(listener, route string) bool
	// Fields are the settings, and where a proxy has them.
	Fields []Field
	// Filters are the beginnings of the names of filters that Fields are about, or that the vendor
	// brings itself. Those of Unjudged may be anybody's: they are not compared.
	FilterNames, UnjudgedFilters []string
	// Replaced tells that the control plane put an answer of its own in the place of a rule; nil:
	// it never does.
	IsReplaced func(*Case) bool
	// Patches are the policy kinds that may change anything in a proxy: where one is in force,
	// differences are not judged.
	PatchingKinds []model.GroupKind
	// Whole compares what holds for all that a proxy serves; nil: nothing does.
	CompareProxy func(*ProxyAudit)
}

// Identity is whose rule a route is.
type Identity struct {
	Known          bool        // the route names a rule that could be found
	Doubtful       bool        // several rules could be meant
	PossibleRoutes []model.Ref // of one that is doubtful: the routes that it may belong to
	Rule           topology.NodeID
	Listener       topology.NodeID // by which it is served; None: the names do not tell
}

// Field is one setting of a policy kind.
type Field struct {
	Kind     model.GroupKind
	Setting  string // dotted path below spec
	Location string // where a proxy has it, in words
	How      How
	Note     string // what is not compared of it, or why it is not compared
	// Want is what the setting asks of the proxy; nil: nothing. Without a function, that there is a
	// value.
	Want func(*Case, any) any
	// Found is what the proxy does; nil: nothing. It is called where nothing is asked as well.
	Found func(*Case) any
	// Same tells whether the two agree; nil: they are equal.
	Equal func(want, found any) bool
	// Silent is for what a proxy does without being asked: found where nothing is asked, it is not
	// reported.
	IgnoreUnasked bool
}

// Case is one setting on one route of a proxy.
type Case struct {
	*dataplane.ServedRoute
	Graph       *topology.Graph
	ID          topology.NodeID // of the rule
	Rule        *topology.Node
	Spec        map[string]any // in force of the policy kind; nil: nothing is
	Policies    []model.Ref    // of the stack, for filters that name their policy
	RuleContent map[string]any // the rule as its route has it

	uncertainty string
}

// SetUncertain notes why the case cannot be judged; a difference in it is then not reported.
func (c *Case) SetUncertain(why string) { c.uncertainty = why }

// ReadBytes returns a quantity of bytes as it is compared; one that cannot be read makes the case
// uncertain.
func (c *Case) ReadBytes(v any) any {
	n, ok := ParseBytes(v)
	if !ok {
		c.SetUncertain("the quantity cannot be read")
		return nil
	}
	return n
}

// NumberOfFilter returns a function that reads a number of the configuration that a filter has for
// the route.
func NumberOfFilter(filter string, path ...string) func(*Case) any {
	return func(c *Case) any {
		r, on := c.FindFilter(filter)
		if !on || !r.PerRoute {
			return nil
		}
		if n, ok := dataplane.Number(r.Config, path...); ok {
			return n
		}
		return nil
	}
}

// HasPolicy reports whether one of the policies has this namespace/name.
func (c *Case) HasPolicy(name string) bool {
	for _, p := range c.Policies {
		if p.FullName() == name {
			return true
		}
	}
	return false
}

// HasFilter reports whether the rule has a filter of a type.
func (c *Case) HasFilter(kind string) bool {
	for _, f := range dataplane.List(c.RuleContent, "filters") {
		if dataplane.Text(f, "type") == kind {
			return true
		}
	}
	return false
}
