package istio

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// peers finds where a PeerAuthentication holds: at workloads, and in Namespaces. Its selector means nothing in the root namespace (spec §7).
func peers(w *world, p *policy.Policy) (found, []model.Problem) {
	out, problems := w.selectedBy(p, selectionOf(p.Object).selector, false, "PeerAuthentication")
	if switchesOff(p.Object) && slices.ContainsFunc(out.targets, func(t target) bool { return t.member == tunneled }) {
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "ztunnel does not know the mode DISABLE, and takes traffic with and without TLS: where it takes the traffic of a workload the mode is shown as it is written"}.At(p.Object))
	}
	return out, problems
}

// switchesOff reports whether a PeerAuthentication has the mode DISABLE.
func switchesOff(o *model.Object) bool {
	if o.Text("spec", "mtls", "mode") == "DISABLE" {
		return true
	}
	ports := o.Body.At("spec", "portLevelMtls")
	return slices.ContainsFunc(fieldsOf(ports), func(port string) bool { return ports.At(port, "mode").Text() == "DISABLE" })
}

// selectedBy finds where a policy of a kind without references holds.
func (w *world) selectedBy(p *policy.Policy, selector model.Body, gateways bool, kind string) (found, []model.Problem) {
	ns := p.Ref().Namespace
	if selector.Len() > 0 && ns == w.root && !gateways {
		return found{}, []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: "a " + kind + " with a selector has no effect in the root namespace " + ns}.At(p.Object)}
	}
	var out found
	var problems []model.Problem
	for _, t := range w.near(ns) {
		if t.service != nil || !gateways && !t.takesPeers() || selector.Len() > 0 && ns != t.namespace() {
			continue
		}
		picked, split := t.selected(selector)
		if picked || selector.Len() == 0 {
			out.targets = append(out.targets, t)
		}
		if split {
			problems = append(problems, splitProblem(p, t))
		}
	}
	switch {
	case selector.Len() > 0 && len(out.targets) == 0:
		problems = append(problems, w.unattached(p, selection{selector: selector})...)
	case selector.Len() == 0:
		out.namespaces = w.within(ns)
	}
	return out, problems
}

// takesPeers reports whether PeerAuthentications are about a proxy: they are about workloads, and no gateway asks them.
func (p *proxy) takesPeers() bool {
	return p.form == sidecar && !slices.Contains(strings.Split(p.notes["inject.istio.io/templates"], ","), "gateway")
}

// permissive is the mode of a mesh that says nothing.
const permissive = "PERMISSIVE"

// mutualTLS is what PeerAuthentications make of a workload or a Namespace: the mode of the most specific level that has one.
func mutualTLS(at place) *policy.Situation {
	if at.service != nil || at.proxy != nil && !at.takesPeers() {
		return nil
	}
	mode := policy.NewBuiltin("Istio's default", &model.Object{}, nil, []merge.Unit{{Path: merge.Keys("mtls", "mode"), Value: permissive}})
	root := at.world.root
	level := func(p *policy.Policy) int {
		switch {
		case p.Builtin != "":
			return 0
		case selectionOf(p.Object).selector.Len() > 0:
			return 3
		case p.Ref().Namespace != root:
			return 2
		}
		return 1
	}
	return &policy.Situation{Builtins: []*policy.Policy{mode}, Bare: at.permits(), Compare: func(a, b *policy.Policy) int { return level(a) - level(b) },
		Fold: func(layers []*policy.Policy) merge.PlanFunc {
			return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return peerModes(layers, level) }
		}}
}

// permits reports whether the mode of a mesh that says nothing is in force at a workload: it has to be in the mesh, as its labels or its namespace
// say, or else as whoever sets something about the mesh does.
func (at place) permits() bool {
	return at.proxy != nil && (at.member == within || at.member == tunneled || at.member == untold && describes(at.settings))
}

// peerModes folds the modes of the levels: the oldest policy of each counts, and a port without a mode of its own has the workload's.
func peerModes(layers []*policy.Policy, level func(*policy.Policy) int) ([]merge.Unit, []merge.Effect) {
	var m merger
	at, mode, seen := 0, any(permissive), -1
	modePath := merge.Keys("mtls", "mode")
	var ports []merge.Unit
	for i, p := range layers {
		if p.Builtin != "" {
			continue
		}
		own := p.Object.Body.At("spec", "mtls", "mode")
		if seen >= 0 && level(layers[seen]) == level(p) {
			m.loseAll(p, i, seen)
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
		for _, port := range fieldsOf(listed) {
			u := merge.Unit{Path: merge.Keys("portLevelMtls", port), Value: listed.At(port, "mode").Text(), From: merge.BareLayers(i)}
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

// fieldsOf lists the keys of an object, sorted.
func fieldsOf(b model.Body) []string {
	var out []string
	for name := range b.Fields {
		out = append(out, name)
	}
	slices.Sort(out)
	return out
}

// loseAll accounts for a policy of which nothing counts because an older one of its level does.
func (m *merger) loseAll(p *policy.Policy, at, to int) {
	for _, b := range p.Blocks {
		for _, u := range b.Units {
			if len(u.Path) == 0 || u.Path[0].Name == "selector" || u.Path[0].Name == "targetRefs" || u.Path[0].Name == "targetRef" {
				continue
			}
			m.Lose(u.Path, u.Value, at, merge.SameLevelOrder, to)
		}
	}
}
