package istio

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// istioMetrics are the names that ALL_METRICS stands for.
var istioMetrics = []string{"GRPC_REQUEST_MESSAGES", "GRPC_RESPONSE_MESSAGES", "REQUEST_COUNT", "REQUEST_DURATION",
	"REQUEST_SIZE", "RESPONSE_SIZE",
	"TCP_CLOSED_CONNECTIONS", "TCP_OPENED_CONNECTIONS", "TCP_RECEIVED_BYTES", "TCP_SENT_BYTES"}

// foldMetrics folds the section by provider, mode and metric.
func (t telemetryFold) foldMetrics(entries []sectionEntry) {
	defaults, _ := t.world.defaultProviders("metrics")
	scope, by := defaults, providersLayer
	for _, e := range entries {
		if names := e.providerNames(); len(names) > 0 {
			scope, by = names, e.from
		}
	}
	if len(entries) == 0 {
		for _, p := range scope {
			if t.hasProvider(p, "metrics") {
				t.addProvider(p, providersLayer)
			}
		}
	}
	eachWithProviders(entries, defaults, func(e sectionEntry, names []string) {
		for _, p := range names {
			switch {
			case !slices.Contains(scope, p):
				t.addReplaced(merge.KeyPath("metrics", p), e.Value(), e.from, by)
			case !t.hasProvider(p, "metrics"):
				t.Lose(merge.KeyPath("metrics", p), e.Value(), e.from, merge.Invalid)
			default:
				t.foldEntry(p, e)
			}
		}
	})
	for _, p := range scope {
		// what is turned off has no metrics; what was turned on again has all that was ever said of
		// it
		for _, mode := range modes {
			end := func(field string) merge.Path { return merge.KeyPath("metrics", p, mode, field) }
			if t.isOn(end("disabled")) {
				t.dropBelow(end("overrides"), t.from[end("disabled").String()])
			}
		}
	}
}

// addProvider makes a provider one that gets metrics.
func (t telemetryFold) addProvider(provider string, from int) {
	for _, mode := range modes {
		if path := merge.KeyPath("metrics", provider, mode, "disabled"); t.paths[path.String()] == nil {
			t.setValue(path, false, from)
		}
	}
}

// foldEntry folds one entry for one of its providers.
func (t telemetryFold) foldEntry(provider string, e sectionEntry) {
	t.addProvider(provider, e.from)
	if every := e.Field("reportingInterval"); !every.IsNull() {
		t.setValue(merge.KeyPath("metrics", provider, "reportingInterval"), every.Value(), e.from)
	}
	for _, over := range e.Field("overrides").Items {
		o := sectionEntry{over, e.from}
		metrics := []string{over.At("match", "customMetric").Text()}
		if metrics[0] == "" {
			metrics[0] = over.At("match", "metric").Text()
		}
		all := metrics[0] == "" || metrics[0] == "ALL_METRICS"
		if all {
			metrics = istioMetrics
		}
		for _, mode := range modes {
			if !o.isForMode(mode) {
				continue
			}
			at := func(names ...string) merge.Path {
				return merge.KeyPath(append([]string{"metrics", provider, mode}, names...)...)
			}
			if off, _ := over.Field("disabled").Value().(bool); all && off {
				t.setValue(at("disabled"), true, e.from)
				continue
			}
			t.setValue(at("disabled"), false, e.from)
			for _, metric := range metrics {
				if v := over.Field("disabled"); !v.IsNull() {
					t.setValue(at("overrides", metric, "disabled"), v.Value(), e.from)
				}
				tags := over.Field("tagOverrides")
				for _, tag := range sortFields(tags) {
					t.setValue(at("overrides", metric, "tagOverrides", tag), tags.Field(tag).Value(), e.from)
				}
			}
		}
	}
}
