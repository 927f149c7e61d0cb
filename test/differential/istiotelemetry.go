package main

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// telemetry draws entries of one or two sections. Names of providers that nobody has, and that are spelled in another way, are among them.
func (g *istioInput) telemetry(object) object {
	out := object{}
	for _, section := range draw.Some(g.Source, 35, "tracing", "metrics", "accessLogging") {
		var entries []object
		for range draw.Pick(g.Source, 1, 1, 2) {
			switch section {
			case "tracing":
				entries = append(entries, g.tracing())
			case "metrics":
				entries = append(entries, g.metrics())
			default:
				entries = append(entries, g.accessLogging())
			}
		}
		out[section] = entries
	}
	return out
}

// providers adds providers to an entry, more often than not.
func (g *istioInput) providers(entry object, percent int, names ...string) {
	if !g.Chance(60) {
		return
	}
	var out []object
	for _, name := range draw.Some(g.Source, percent, names...) {
		out = append(out, object{"name": name})
	}
	entry["providers"] = out
}

// mode adds the end that an entry is about.
func (g *istioInput) mode(match object, percent int) object {
	if g.Chance(percent) {
		match["mode"] = draw.Pick(g.Source, "CLIENT", "SERVER", "CLIENT_AND_SERVER")
	}
	return match
}

// tracing draws an entry. A tag says its own name, since effective policies name tags only.
func (g *istioInput) tracing() object {
	out := object{}
	g.providers(out, 5, "trace-a", "trace-b", "Trace-B", "nowhere")
	if match := g.mode(object{}, 40); len(match) > 0 {
		out["match"] = match
	}
	for _, flag := range []string{"disableSpanReporting", "useRequestIdForTraceSampling", "enableIstioTags", "disableContextPropagation"} {
		if g.Chance(20) {
			out[flag] = g.Chance(50)
		}
	}
	if g.Chance(40) {
		out["randomSamplingPercentage"] = g.IntN(101)
	}
	if g.Chance(30) {
		tags := object{}
		for _, name := range draw.Some(g.Source, 40, "x", "y", "z") {
			tags[name] = tagOf(name)
		}
		out["customTags"] = tags
	}
	return out
}

func tagOf(name string) object { return object{"literal": object{"value": name}} }

func (g *istioInput) metrics() object {
	out := object{}
	g.providers(out, 30, "prometheus", "prom-b", "Prom-B", "log-a", "nowhere")
	var overrides []object
	for range g.Between(0, 3) {
		over := object{}
		if match := g.match(); len(match) > 0 {
			over["match"] = match
		}
		said := g.Between(1, 3) // one that says nothing is listed in the filter, and means nothing
		if said&1 != 0 {
			over["disabled"] = g.Chance(60)
		}
		if said&2 != 0 {
			tags := object{}
			for _, name := range draw.Some(g.Source, 40, "x", "y") {
				tags[name] = draw.Pick(g.Source, object{"operation": "REMOVE"}, object{"operation": "UPSERT", "value": fmt.Sprintf("'v%d'", g.value())}, object{"value": fmt.Sprintf("'v%d'", g.value())})
			}
			over["tagOverrides"] = tags
		}
		overrides = append(overrides, over)
	}
	if overrides != nil {
		out["overrides"] = overrides
	}
	if g.Chance(20) {
		out["reportingInterval"] = fmt.Sprintf("%ds", g.Between(1, 9))
	}
	return out
}

// match draws the metric that an override is about.
func (g *istioInput) match() object {
	out := g.mode(object{}, 50)
	switch g.IntN(4) {
	case 0:
		out["metric"] = "ALL_METRICS"
	case 1, 2:
		out["metric"] = draw.Pick(g.Source, "REQUEST_COUNT", "REQUEST_DURATION")
	default:
		if g.Chance(50) {
			out["customMetric"] = "my_metric"
		}
	}
	return out
}

func (g *istioInput) accessLogging() object {
	out := object{}
	g.providers(out, 30, "log-a", "log-b", "Log-B", "envoy", "prometheus", "nowhere")
	if match := g.mode(object{}, 40); len(match) > 0 {
		out["match"] = match
	}
	if g.Chance(40) {
		out["disabled"] = g.Chance(60)
	}
	if g.Chance(40) {
		out["filter"] = object{"expression": fmt.Sprintf("response.code > %d", g.value())}
	}
	return out
}
