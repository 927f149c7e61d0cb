package istio

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// customUse is what a provider is for that answers CUSTOM rules; what else one can be for are the
// sections of Telemetry.
const customUse = "custom"

// providerTypes are the types of extension providers that can do what one is named for. Istio takes
// any other for none.
var providerTypes = map[string][]string{
	"tracing":       {"zipkin", "datadog", "lightstep", "skywalking", "opentelemetry"},
	"metrics":       {"prometheus"},
	"accessLogging": {"envoyFileAccessLog", "envoyHttpAls", "envoyTcpAls", "envoyOtelAls"},
	customUse:       {"envoyExtAuthzHttp", "envoyExtAuthzGrpc"},
	"":              {"opencensus", "stackdriver", "sds"}, // nothing of these
}

// builtinProviders are in every mesh. One of the same name in the mesh's configuration takes the
// place of one.
var builtinProviders = []any{
	map[string]any{"name": "prometheus", "prometheus": map[string]any{}},
	map[string]any{"name": "stackdriver", "stackdriver": map[string]any{}},
	map[string]any{"name": "envoy", "envoyFileAccessLog": map[string]any{}},
}

// withBuiltins adds the providers that every mesh has, which come first.
func withBuiltins(providers []any) []any {
	named := func(name string) func(any) bool { return func(p any) bool { return providerName(p) == name } }
	var out []any
	for _, p := range builtinProviders {
		if i := slices.IndexFunc(providers, named(providerName(p))); i >= 0 {
			p = providers[i]
		}
		out = append(out, p)
	}
	for _, p := range providers {
		if !slices.ContainsFunc(builtinProviders, named(providerName(p))) {
			out = append(out, p)
		}
	}
	return out
}

// canServe reports whether a provider is of a type that can do what it is named for. What is only a
// name, or of a type that is not known here, is believed to.
func canServe(provider any, use string) bool {
	fields, _ := provider.(map[string]any)
	known := false
	for name, can := range providerTypes {
		for field := range fields {
			if !slices.Contains(can, field) {
				continue
			}
			if name == use {
				return true
			}
			known = true
		}
	}
	return !known
}

// hasAuthorizer reports whether a provider can be asked about CUSTOM rules, whose name is matched
// literally; known is false where nobody says which providers there are.
func (m *meshConfig) hasAuthorizer(name string) (found, known bool) {
	return slices.ContainsFunc(m.providers, func(p any) bool {
		return providerName(p) == name &&
			canServe(p, customUse)
	}), m.providers != nil
}

func providerName(p any) string {
	if name, ok := p.(string); ok {
		return name
	}
	return model.Text(p, "name")
}

// failsOpen reports whether requests get in while a provider does not answer.
func failsOpen(r *resolve.Resolution, provider string) bool {
	m := readMeshConfig(r.Snapshot, r.Settings)
	for _, p := range m.providers {
		if providerName(p) != provider {
			continue
		}
		for _, form := range providerTypes[customUse] {
			if open, _ := model.Get(p, form, "failOpen").(bool); open {
				return true
			}
		}
	}
	return false
}
