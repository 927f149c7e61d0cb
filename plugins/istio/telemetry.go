package istio

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// The levels of Telemetry: what is later wins.
const (
	telemetryDefaults = iota
	telemetryRoot
	telemetryNamespace
	telemetryService
	telemetryWorkload
)

// modes are the two ends at which a proxy measures.
var modes = []string{"CLIENT", "SERVER"}

// Labels of what no Telemetry says.
const (
	tracingLabel   = "Istio's default"
	providersLabel = "MeshConfig.defaultProviders"
)

// findObserved finds where a Telemetry holds. One that is for a whole namespace holds for waypoints
// too; of the others only those of the proxy's namespace count, or of the Service's where a
// waypoint serves one.
func findObserved(w *proxyIndex, p *policy.Policy) (attachPoints, []model.Problem) {
	s := readPolicyTargets(p.Object)
	ns := p.Ref().Namespace
	var out attachPoints
	var problems []model.Problem
	other := false // it would hold, but for what Istio documents and does not do
	for _, t := range w.targetsNear(ns) {
		if s.isNamespaceWide() {
			out.targets = append(out.targets, t)
			continue
		}
		holds, split := w.isAttached(ns, s, t)
		switch home := t.representativeObject().Ref.Namespace; {
		case holds && ns == home:
			out.targets = append(out.targets, t)
		case holds:
			other = true
		}
		if split {
			problems = append(problems, splitProblem(p, t))
		}
	}
	problems = append(problems, w.defaultProviderProblems(p, out.targets)...)
	switch {
	case len(out.targets) == 0 && other:
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached, Message: fmt.Sprintf(
			"Istio looks for Telemetry with a selector or a reference in the namespace of the workload, or of the Service behind a waypoint, and nowhere else: in %s it holds nowhere", ns)}.At(p.Object))
	case len(out.targets) == 0:
		problems = append(problems, w.explainUnattached(p, s)...)
	}
	return out, problems
}

// telemetrySituation is what Telemetry policies make of a target: tracing, metrics and access logs,
// each by a rule of its own.
func telemetrySituation(at foldTarget) *policy.Situation {
	if at.proxy == nil || at.membership == ztunnelMember {
		return nil
	}
	proxy, service := at.policyNamespaces()
	root := at.world.root
	level := func(p *policy.Policy) int {
		switch s := readPolicyTargets(p.Object); {
		case p.Builtin != "":
			return telemetryDefaults
		case !s.isNamespaceWide():
			return telemetryWorkload
		case p.Ref().Namespace == root && service == root && proxy != root:
			// Istio takes it as the mesh's first, and once more as that of the Service's namespace,
			// which is what counts
			return telemetryService
		case p.Ref().Namespace == root:
			return telemetryRoot
		case p.Ref().Namespace == proxy:
			return telemetryNamespace
		}
		return telemetryService
	}
	source := at.world.configMap
	if source == nil {
		source = &model.Object{}
	}
	builtins := []*policy.Policy{policy.NewBuiltin(tracingLabel, &model.Object{}, nil, nil),
		policy.NewBuiltin(providersLabel, source, nil, nil)}
	bare := false
	for _, section := range sections {
		names, _ := at.world.defaultProviders(section)
		bare = bare || len(names) > 0
	}
	return &policy.Situation{Key: joinKey(proxy, service), Builtins: builtins, AlwaysInForce: bare,
		Compare: func(a, b *policy.Policy) int { return level(a) - level(b) },
		Fold: func(layers []*policy.Policy) merge.PlanFunc {
			return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return at.foldTelemetry(layers, level) }
		}}
}

// sectionEntry is an entry of one section of a Telemetry.
type sectionEntry struct {
	model.Body
	from int
}

// providerNames are the names in an entry.
func (e sectionEntry) providerNames() []string {
	var out []string
	for _, p := range e.Field("providers").Items {
		out = append(out, p.Text("name"))
	}
	return out
}

// isForMode reports whether an entry is for a mode.
func (e sectionEntry) isForMode(mode string) bool {
	want := e.At("match", "mode").Text()
	return want != "CLIENT" && want != "SERVER" || want == mode
}

// foldTelemetry folds the sections.
func (at foldTarget) foldTelemetry(layers []*policy.Policy, level func(*policy.Policy) int) ([]merge.Unit,
	[]merge.Effect) {
	b := newOverlay()
	entries := map[string][]sectionEntry{}
	seen := -1
	for i, p := range layers {
		if p.Builtin != "" {
			continue
		}
		if seen >= 0 && level(p) != telemetryWorkload && level(layers[seen]) == level(p) {
			b.addAllLost(p, i, seen)
			continue
		}
		seen = i
		for _, section := range sections {
			for _, e := range p.Object.Body.At("spec", section).Items {
				entries[section] = append(entries[section], sectionEntry{e, i})
			}
		}
	}
	t := telemetryFold{overlay: b, world: at.world}
	t.foldTracing(entries["tracing"])
	t.foldMetrics(entries["metrics"])
	t.foldAccessLogging(entries["accessLogging"])
	return b.buildUnits(layers)
}

// Positions of the layers that no policy wrote.
const (
	tracingLayer = iota
	providersLayer
)

// telemetryFold is what the folds of the sections have in common.
type telemetryFold struct {
	*overlay
	world *proxyIndex
}

// hasProvider reports whether a provider of the mesh can do what a section is about. Where nobody
// says which providers there are, every name is one.
func (t telemetryFold) hasProvider(name, section string) bool {
	return t.findProvider(name, section) != ""
}

// findProvider is the provider that a name means, by its own spelling; "" if there is none that can
// do what the section is about.
func (t telemetryFold) findProvider(name, section string) string {
	if t.world.providers == nil {
		return name
	}
	for _, p := range t.world.providers {
		if strings.EqualFold(providerName(p), name) {
			if canServe(p, section) {
				return providerName(p)
			}
			break
		}
	}
	return ""
}

// addReplaced accounts for what is said of a provider that a later policy did away with by naming
// others.
func (t telemetryFold) addReplaced(path merge.Path, value any, from, by int) {
	if from == by {
		t.Lose(path, value, from, merge.NoEffect)
		return
	}
	t.Lose(path, value, from, merge.MoreSpecificWins, by)
}

// eachWithProviders calls see for every entry with its providers: those of the entry before where
// it names none, and for the first the defaults.
func eachWithProviders(entries []sectionEntry, providers []string, see func(e sectionEntry, providers []string)) {
	for _, e := range entries {
		if own := e.providerNames(); len(own) > 0 {
			providers = own
		}
		see(e, providers)
	}
}
