package istio

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

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
			provider = t.named(defaults[0], "tracing")
			t.set(at("provider"), provider, providersLayer)
		}
		for _, e := range entries {
			if !e.in(mode) {
				continue
			}
			if names := e.providers(); len(names) > 0 {
				provider, from, chosen = t.named(names[0], "tracing"), e.from, true
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
