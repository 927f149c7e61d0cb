package istio

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// The levels of Telemetry: what is later wins (spec §8).
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

// observed finds where a Telemetry holds. One that is for a whole namespace holds for waypoints too; of the others only those of the proxy's
// namespace count, or of the Service's where a waypoint serves one (spec §2).
func observed(w *world, p *policy.Policy) (found, []model.Problem) {
	s := selectionOf(p.Object)
	ns := p.Ref().Namespace
	var out found
	var problems []model.Problem
	other := false // it would hold, but for what Istio documents and does not do
	for _, t := range w.near(ns) {
		if s.plain() {
			out.targets = append(out.targets, t)
			continue
		}
		holds, split := w.attaches(ns, s, t)
		switch home := t.of().Ref.Namespace; {
		case holds && ns == home:
			out.targets = append(out.targets, t)
		case holds:
			other = true
		}
		if split {
			problems = append(problems, splitProblem(p, t))
		}
	}
	switch {
	case len(out.targets) == 0 && other:
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached, Message: fmt.Sprintf(
			"Istio looks for Telemetry with a selector or a reference in the namespace of the workload, or of the Service behind a waypoint, and nowhere else: in %s it holds nowhere", ns)}.At(p.Object))
	case len(out.targets) == 0:
		problems = append(problems, w.unattached(p, s)...)
	}
	return out, problems
}

// telemetry is what Telemetry policies make of a target: tracing, metrics and access logs, each by a rule of its own.
func telemetry(at place) *policy.Situation {
	if at.proxy == nil {
		return nil
	}
	proxy, service := at.spaces()
	root := at.world.root
	level := func(p *policy.Policy) int {
		switch s := selectionOf(p.Object); {
		case p.Builtin != "":
			return telemetryDefaults
		case !s.plain():
			return telemetryWorkload
		case p.Ref().Namespace == root:
			return telemetryRoot
		case p.Ref().Namespace == proxy:
			return telemetryNamespace
		}
		return telemetryService
	}
	source := at.world.source
	if source == nil {
		source = &model.Object{}
	}
	builtins := []*policy.Policy{policy.NewBuiltin(tracingLabel, &model.Object{}, nil, nil), policy.NewBuiltin(providersLabel, source, nil, nil)}
	bare := false
	for _, section := range []string{"tracing", "metrics", "accessLogging"} {
		names, _ := at.world.defaultProviders(section)
		bare = bare || len(names) > 0
	}
	return &policy.Situation{Key: key(proxy, service), Builtins: builtins, Bare: bare, Compare: func(a, b *policy.Policy) int { return level(a) - level(b) },
		Fold: func(layers []*policy.Policy) merge.PlanFunc {
			return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return at.observe(layers, level) }
		}}
}

// entry is an entry of one section of a Telemetry.
type entry struct {
	model.Body
	from int
}

// providers are the names in an entry.
func (e entry) providers() []string {
	var out []string
	for _, p := range e.Field("providers").Items {
		out = append(out, p.Text("name"))
	}
	return out
}

// in reports whether an entry is for a mode.
func (e entry) in(mode string) bool {
	want := e.At("match", "mode").Text()
	return want != "CLIENT" && want != "SERVER" || want == mode
}

// observe folds the sections.
func (at place) observe(layers []*policy.Policy, level func(*policy.Policy) int) ([]merge.Unit, []merge.Effect) {
	b := newBoard()
	sections := map[string][]entry{}
	seen := -1
	for i, p := range layers {
		if p.Builtin != "" {
			continue
		}
		if seen >= 0 && level(p) != telemetryWorkload && level(layers[seen]) == level(p) {
			b.loseAll(p, i, seen)
			continue
		}
		seen = i
		for _, section := range []string{"tracing", "metrics", "accessLogging"} {
			for _, e := range p.Object.Body.At("spec", section).Items {
				sections[section] = append(sections[section], entry{e, i})
			}
		}
	}
	t := telemetryFold{board: b, world: at.world}
	t.tracing(sections["tracing"])
	t.metrics(sections["metrics"])
	t.accessLogging(sections["accessLogging"])
	return b.result(layers)
}

// Positions of the layers that no policy wrote.
const (
	tracingLayer = iota
	providersLayer
)

// telemetryFold is what the folds of the sections share.
type telemetryFold struct {
	*board
	world *world
}

// named is the provider that a name means, by its own spelling; "" if there is none.
func (t telemetryFold) named(name string) string {
	for _, p := range t.world.providers {
		if strings.EqualFold(providerName(p), name) {
			return providerName(p)
		}
	}
	if t.world.providers == nil {
		return name
	}
	return ""
}

// tracing folds the section: what a later entry says replaces what is there, tags as a whole.
func (t telemetryFold) tracing(entries []entry) {
	defaults, known := t.world.defaultProviders("tracing")
	if len(entries) == 0 && len(defaults) == 0 {
		return
	}
	for _, mode := range modes {
		at := func(field string) merge.Path { return merge.Keys("tracing", mode, field) }
		t.set(at("disabled"), false, tracingLayer)
		t.set(at("useRequestIdForTraceSampling"), true, tracingLayer)
		t.set(at("enableIstioTags"), true, tracingLayer)
		provider, from, chosen := "", providersLayer, false
		if len(defaults) > 0 {
			provider = t.named(defaults[0])
			t.set(at("provider"), provider, providersLayer)
		}
		for _, e := range entries {
			if !e.in(mode) {
				continue
			}
			if names := e.providers(); len(names) > 0 {
				provider, from, chosen = t.named(names[0]), e.from, true
				if provider == "" {
					t.drop(at("provider"), e.from)
				} else {
					t.set(at("provider"), provider, e.from)
				}
			}
			for _, field := range []string{"disableSpanReporting", "randomSamplingPercentage", "useRequestIdForTraceSampling", "enableIstioTags", "disableContextPropagation"} {
				if v := e.Field(field); !v.IsNull() {
					t.set(at(strings.Replace(field, "disableSpanReporting", "disabled", 1)), v.Value(), e.from)
				}
			}
			if tags := e.Field("customTags"); !tags.IsNull() {
				names := []any{}
				for _, name := range fieldsOf(tags) {
					names = append(names, name)
				}
				t.set(at("customTags"), names, e.from)
			}
		}
		if provider == "" && (chosen || known) { // there is nobody to send spans to
			t.drop(at("provider"), from)
			t.set(at("disabled"), true, from)
		}
	}
}

// istioMetrics are the names that ALL_METRICS stands for.
var istioMetrics = []string{"GRPC_REQUEST_MESSAGES", "GRPC_RESPONSE_MESSAGES", "REQUEST_COUNT", "REQUEST_DURATION", "REQUEST_SIZE", "RESPONSE_SIZE",
	"TCP_CLOSED_CONNECTIONS", "TCP_OPENED_CONNECTIONS", "TCP_RECEIVED_BYTES", "TCP_SENT_BYTES"}

// metrics folds the section by provider, mode and metric.
func (t telemetryFold) metrics(entries []entry) {
	defaults, _ := t.world.defaultProviders("metrics")
	scope := defaults
	for _, e := range entries {
		if names := e.providers(); len(names) > 0 {
			scope = names
		}
	}
	if len(entries) == 0 {
		for _, p := range scope {
			t.measured(p, providersLayer)
		}
	}
	inherit(entries, defaults, func(e entry, names []string) {
		for _, p := range names {
			if slices.Contains(scope, p) {
				t.provided(p, e)
			}
		}
	})
}

// inherit calls see for every entry with its providers: those of the entry before where it names none, and for the first the defaults.
func inherit(entries []entry, providers []string, see func(e entry, providers []string)) {
	for _, e := range entries {
		if own := e.providers(); len(own) > 0 {
			providers = own
		}
		see(e, providers)
	}
}

// measured makes a provider one that gets metrics.
func (t telemetryFold) measured(provider string, from int) {
	for _, mode := range modes {
		if path := merge.Keys("metrics", provider, mode, "disabled"); t.paths[path.String()] == nil {
			t.set(path, false, from)
		}
	}
}

// provided folds one entry for one of its providers.
func (t telemetryFold) provided(provider string, e entry) {
	t.measured(provider, e.from)
	if every := e.Field("reportingInterval"); !every.IsNull() {
		t.set(merge.Keys("metrics", provider, "reportingInterval"), every.Value(), e.from)
	}
	for _, over := range e.Field("overrides").Items {
		o := entry{over, e.from}
		metrics := []string{over.At("match", "customMetric").Text()}
		if metrics[0] == "" {
			metrics[0] = over.At("match", "metric").Text()
		}
		all := metrics[0] == "" || metrics[0] == "ALL_METRICS"
		if all {
			metrics = istioMetrics
		}
		for _, mode := range modes {
			if !o.in(mode) {
				continue
			}
			at := func(names ...string) merge.Path {
				return merge.Keys(append([]string{"metrics", provider, mode}, names...)...)
			}
			if off, _ := over.Field("disabled").Value().(bool); all && off {
				t.set(at("disabled"), true, e.from)
				t.dropBelow(at("overrides"), e.from)
				continue
			}
			t.set(at("disabled"), false, e.from)
			for _, metric := range metrics {
				if v := over.Field("disabled"); !v.IsNull() {
					t.set(at("overrides", metric, "disabled"), v.Value(), e.from)
				}
				tags := over.Field("tagOverrides")
				for _, tag := range fieldsOf(tags) {
					t.set(at("overrides", metric, "tagOverrides", tag), tags.Field(tag).Value(), e.from)
				}
			}
		}
	}
}
