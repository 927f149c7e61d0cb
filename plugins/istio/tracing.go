package istio

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// foldTracing folds the section: what a later entry says replaces what is there, tags as a whole.
func (t telemetryFold) foldTracing(entries []sectionEntry) {
	defaults, known := t.world.defaultProviders("tracing")
	if len(entries) == 0 && len(defaults) == 0 {
		return
	}
	for _, mode := range modes {
		at := func(field string) merge.Path { return merge.KeyPath("tracing", mode, field) }
		t.setValue(at("disabled"), false, tracingLayer)
		t.setValue(at("useRequestIdForTraceSampling"), true, tracingLayer)
		t.setValue(at("enableIstioTags"), true, tracingLayer)
		provider, from, chosen := "", providersLayer, false
		if len(defaults) > 0 {
			provider = t.findProvider(defaults[0], "tracing")
			t.setValue(at("provider"), provider, providersLayer)
		}
		for _, e := range entries {
			if !e.isForMode(mode) {
				continue
			}
			if names := e.providerNames(); len(names) > 0 {
				provider, from, chosen = t.findProvider(names[0], "tracing"), e.from, true
				if provider == "" {
					t.dropValue(at("provider"), e.from)
				} else {
					t.setValue(at("provider"), provider, e.from)
				}
			}
			for _, field := range []string{"disableSpanReporting", "randomSamplingPercentage",
				"useRequestIdForTraceSampling", "enableIstioTags", "disableContextPropagation"} {
				if v := e.Field(field); !v.IsNull() {
					t.setValue(at(strings.Replace(field, "disableSpanReporting", "disabled", 1)), v.Value(), e.from)
				}
			}
			if tags := e.Field("customTags"); !tags.IsNull() {
				names := []any{}
				for _, name := range sortFields(tags) {
					names = append(names, name)
				}
				t.setValue(at("customTags"), names, e.from)
			}
		}
		if provider == "" && (chosen || known) { // no provider receives spans
			t.dropValue(at("provider"), from)
			t.setValue(at("disabled"), true, from)
		}
	}
}
