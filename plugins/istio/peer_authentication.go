package istio

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// findPeers finds where a PeerAuthentication holds: at workloads, and in Namespaces. Its selector
// means nothing in the root namespace.
func findPeers(w *proxyIndex, p *policy.Policy) (attachPoints, []model.Problem) {
	out, problems := w.findSelected(p, readPolicyTargets(p.Object).selector, false, "PeerAuthentication")
	if disablesTLS(p.Object) &&
		slices.ContainsFunc(out.targets, func(t target) bool { return t.membership == ztunnelMember }) {
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "ztunnel does not know the mode DISABLE, and takes traffic with and without TLS: where it takes the traffic of a workload the mode is shown as it is written"}.At(p.Object))
	}
	return out, problems
}

// disablesTLS reports whether a PeerAuthentication has the mode DISABLE.
func disablesTLS(o *model.Object) bool {
	if o.Text("spec", "mtls", "mode") == "DISABLE" {
		return true
	}
	ports := o.Body.At("spec", "portLevelMtls")
	return slices.ContainsFunc(sortFields(ports),
		func(port string) bool { return ports.At(port, "mode").Text() == "DISABLE" })
}

// findSelected finds where a policy of a kind without references holds.
func (w *proxyIndex) findSelected(p *policy.Policy, selector model.Body, gateways bool, kind string) (attachPoints,
	[]model.Problem) {
	ns := p.Ref().Namespace
	if selector.Len() > 0 && ns == w.root && !gateways {
		return attachPoints{}, []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: "a " + kind + " with a selector has no effect in the root namespace " + ns}.At(p.Object)}
	}
	var out attachPoints
	var problems []model.Problem
	for _, t := range w.targetsNear(ns) {
		if t.service != nil || !gateways && !t.acceptsPeers() || selector.Len() > 0 && ns != t.namespace() {
			continue
		}
		if !gateways && t.isLeftOut(p.Object) {
			continue
		}
		picked, split := t.matchSelector(selector)
		if picked || selector.Len() == 0 {
			out.targets = append(out.targets, t)
		}
		if split {
			problems = append(problems, splitProblem(p, t))
		}
	}
	switch {
	case selector.Len() > 0 && len(out.targets) == 0:
		problems = append(problems, w.explainUnattached(p, policyTargets{selector: selector})...)
	case selector.Len() == 0:
		out.namespaces = w.namespacesOf(ns)
	}
	return out, problems
}

// isLeftOut reports whether ztunnel takes the traffic of a workload to which a policy of another
// namespace, which is the root namespace, does not go: with a selector, even an empty one, it is for
// workloads of its own namespace (pilot/pkg/serviceregistry/ambient/workloads.go:1222-1245).
func (t target) isLeftOut(o *model.Object) bool {
	return t.membership == ztunnelMember && o.Body.At("spec", "selector").IsObject() && o.Ref.Namespace != t.namespace()
}

// acceptsPeers reports whether PeerAuthentications are about a proxy: they are about workloads, and
// no gateway asks them.
func (p *proxy) acceptsPeers() bool {
	return p.form == sidecar && !slices.Contains(strings.Split(p.annotations["inject.istio.io/templates"], ","),
		"gateway")
}

// permissive is the mode of a mesh that says nothing.
const permissive = "PERMISSIVE"

// peerSituation is what PeerAuthentications make of a workload or a Namespace: the mode of the most
// specific level that has one.
func peerSituation(at foldTarget) *policy.Situation {
	if at.service != nil || at.proxy != nil && !at.acceptsPeers() {
		return nil
	}
	mode := policy.NewBuiltin("Istio's default", &model.Object{}, nil,
		[]merge.Unit{{Path: merge.KeyPath("mtls", "mode"), Value: permissive}})
	root := at.world.root
	level := func(p *policy.Policy) int {
		switch {
		case p.Builtin != "":
			return 0
		case readPolicyTargets(p.Object).selector.Len() > 0:
			return 3
		case p.Ref().Namespace != root:
			return 2
		}
		return 1
	}
	return &policy.Situation{Builtins: []*policy.Policy{mode}, AlwaysInForce: at.isPermissive(),
		Compare: func(a, b *policy.Policy) int { return level(a) - level(b) },
		Fold: func(layers []*policy.Policy) merge.PlanFunc {
			return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return foldPeerModes(layers, level) }
		}}
}

// isPermissive reports whether the mode of a mesh that says nothing is in force at a workload: it
// has to be in the mesh, as its labels or its namespace say, or else as whoever sets something
// about the mesh does.
func (at foldTarget) isPermissive() bool {
	return at.proxy != nil && (at.membership == sidecarMember || at.membership == ztunnelMember ||
		at.membership == unknownMember && hasMeshSettings(at.settings))
}

// foldPeerModes folds the modes of the levels: the oldest policy of each counts, and a port without
// a mode of its own has the workload's.
func foldPeerModes(layers []*policy.Policy, level func(*policy.Policy) int) ([]merge.Unit, []merge.Effect) {
	var m foldRecorder
	at, mode, seen := 0, any(permissive), -1
	modePath := merge.KeyPath("mtls", "mode")
	var ports []merge.Unit
	for i, p := range layers {
		if p.Builtin != "" {
			continue
		}
		own := p.Object.Body.At("spec", "mtls", "mode")
		if seen >= 0 && level(layers[seen]) == level(p) {
			m.addAllLost(p, i, seen)
			continue
		}
		seen = i
		switch set := own.Text(); {
		case set != "" && set != "UNSET":
			if layers[at].Builtin == "" {
				m.Lose(modePath, mode, at, merge.MoreSpecificWins, i)
			}
			at, mode = i, set
		case set == "UNSET":
			m.Lose(modePath, set, i, merge.NoEffect)
		}
		listed := p.Object.Body.At("spec", "portLevelMtls")
		for _, port := range sortFields(listed) {
			u := merge.Unit{Path: merge.KeyPath("portLevelMtls", port), Value: listed.At(port, "mode").Text(),
				From: merge.BareLayers(i)}
			if level(p) != 3 {
				m.Lose(u.Path, listed.At(port).Value(), i, merge.Ignored)
				continue
			}
			ports = append(ports, u)
		}
	}
	m.Take(modePath, mode, at)
	for _, u := range ports {
		if own := u.Value; own != "" && own != "UNSET" {
			m.Take(u.Path, map[string]any{"mode": own}, u.From[0].Layer)
		} else {
			m.Take(u.Path, map[string]any{"mode": mode}, at, u.From[0].Layer)
		}
	}
	return m.Units, m.Effects
}

// sortFields lists the keys of an object, sorted.
func sortFields(b model.Body) []string {
	var out []string
	for name := range b.Fields {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// addAllLost accounts for a policy of which nothing counts because an older one of its level does.
func (m *foldRecorder) addAllLost(p *policy.Policy, at, to int) {
	for _, b := range p.Blocks {
		for _, u := range b.Units {
			if len(u.Path) == 0 || u.Path[0].Name == "selector" || u.Path[0].Name == "targetRefs" ||
				u.Path[0].Name == "targetRef" {
				continue
			}
			m.Lose(u.Path, u.Value, at, merge.SameLevelOrder, to)
		}
	}
}

// buildPeerGate is the gate of the mTLS mode of a workload, for all of its ports.
func buildPeerGate(in protect.Input, g protect.Gate) []protect.Gate {
	if g.Object == (model.Ref{}) { // what no policy says
		return nil
	}
	g.Refuses = protect.NeverRefuses
	weaken := func(mode, field string, exempt bool) {
		switch {
		case mode == "STRICT":
		case exempt:
			g.AddReason(gate.Skipped, field)
		case mode == "DISABLE":
			g.AddReason(gate.Disabled, field)
		default:
			g.AddReason(gate.MissingAllowed, field)
		}
	}
	mode := in.Text("mtls", "mode")
	weaken(mode, "mtls.mode", false)
	if mode == "STRICT" {
		for _, port := range in.FindValues([]string{"portLevelMtls", "*", "mode"}) {
			if text, _ := port.Value.(string); text != "STRICT" {
				weaken(text, strings.Join(port.Path, "."), true)
				break
			}
		}
	}
	return []protect.Gate{g}
}
