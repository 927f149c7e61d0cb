package agentgateway

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// fault is what keeps the controller from translating something of a policy, in its words.
type fault struct {
	text string
	at   []string
}

// inspection looks for the faults of one policy, in the order in which the controller does
// (agentgateway 75b4e6ce6, controller/pkg/agentgateway/plugins).
type inspection struct {
	graph    *topology.Graph
	in       *model.Snapshot
	policy   *model.Object
	grants   string // the setting backendRefGrantMode
	faults   []fault
	problems []model.Problem // what is assumed
	unread   bool            // something that a cluster did not let us read could be a fault
}

// inspectPolicy finds the faults of a policy.
func inspectPolicy(g *topology.Graph, in *model.Snapshot, o *model.Object, s model.Settings) *inspection {
	c := &inspection{graph: g, in: in, policy: o, grants: s.Text("agentgateway.backendRefGrantMode")}
	spec := setting{o.Body.Field("spec"), []string{"spec"}}
	c.checkFrontend(spec.field("frontend"))
	c.checkTraffic(spec.field("traffic"))
	c.checkBackend(spec.field("backend"))
	c.checkBackendTLS()
	return c
}

// setting is a value in a policy, and where it stands.
type setting struct {
	model.Body
	at []string
}

func (s setting) field(keys ...string) setting {
	return setting{s.At(keys...), append(slices.Clip(slices.Clone(s.at)), keys...)}
}

// list yields the entries of a list.
func (s setting) list(yield func(setting) bool) {
	for i, v := range s.Items {
		if !yield(setting{v, append(slices.Clip(slices.Clone(s.at)), fmt.Sprint(i))}) {
			return
		}
	}
}

// sortedFields yields the fields of an object in the order of their names.
func (s setting) sortedFields(yield func(string, setting) bool) {
	var keys []string
	for key := range s.Fields {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	for _, key := range keys {
		if !yield(key, s.field(key)) {
			return
		}
	}
}

// checkBackendTLS says that BackendTLSPolicies may take the place of what the policy says about TLS
// to backends, or lose to it.
func (c *inspection) checkBackendTLS() {
	if c.policy.Body.At("spec", "backend", "tls").IsNull() {
		return
	}
	for _, o := range c.in.OfKind(model.GroupKind{Group: policy.GatewayGroup, Kind: "BackendTLSPolicy"}) {
		c.problems = append(c.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: fmt.Sprintf(
				"spec.backend.tls of %s is not held against %s, which is one more such setting where it targets a backend",
				c.policy.Ref, o.Ref)}.At(c.policy, "spec", "backend", "tls"))
	}
}

func (c *inspection) addFault(at []string, format string, args ...any) {
	c.faults = append(c.faults, fault{fmt.Sprintf(format, args...), at})
}

func (c *inspection) addAssumption(at []string, format string, args ...any) {
	c.problems = append(c.problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: fmt.Sprintf(format, args...)}.At(c.policy, at...))
}

// listMessages are the lines of the message that the controller writes.
func (c *inspection) listMessages() []string {
	var lines []string
	for _, f := range c.faults {
		lines = append(lines, f.text)
	}
	return lines
}

// checkPolicy says what is wrong with a policy. The controller sends all the same what it can make
// of it, so that it is in force.
func checkPolicy(k *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) {
		c := inspectPolicy(g, in, p.Object, k.Settings)
		out := c.problems
		reports := "PartiallyValid and keeps the setting, which then refuses requests or does nothing"
		if !setsAnything(p) {
			reports = "Invalid, and nothing of the policy is in force"
		}
		for _, f := range c.faults {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.PolicyInError,
				Message: fmt.Sprintf("%s: the controller reports %s", f.text, reports)}.At(p.Object, f.at...))
		}
		return "", out
	}
}

// setsAnything reports whether the controller sends something of a policy.
func setsAnything(p *policy.Policy) bool {
	return slices.ContainsFunc(p.Blocks, func(b merge.Block) bool { return len(b.Units) > 0 })
}
