package istio

import (
	"maps"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// configAnnotation is where a Pod has its own ProxyConfig.
const configAnnotation = "proxy.istio.io/config"

// findConfigured finds where a ProxyConfig holds: at proxies.
func findConfigured(w *proxyIndex, p *policy.Policy) (attachPoints, []model.Problem) {
	selector := readPolicyTargets(p.Object).selector
	if selector.Len() == 0 && p.Object.Body.At("spec", "selector").IsObject() {
		return attachPoints{}, []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotReached,
			Message: "its selector is empty, which to Istio is neither a namespace nor a workload: it holds nowhere",
			Hint:    "leave the selector out"}.At(p.Object)}
	}
	out, problems := w.findSelected(p, selector, true, "ProxyConfig")
	out.namespaces = nil
	return out, problems
}

// The levels of proxy configuration: what is later wins, field by field.
const (
	meshConfigLevel = iota
	rootLevel
	namespaceLevel
	annotationLevel
	workloadLevel
)

const annotationLabel = "annotation " + configAnnotation

// proxyConfigSituation is what ProxyConfigs make of a proxy, with the defaults of the mesh and the
// annotation of the Pod.
func proxyConfigSituation(at foldTarget) *policy.Situation {
	if at.proxy == nil || at.service != nil || at.membership == ztunnelMember {
		return nil
	}
	var builtins []*policy.Policy
	own := ""
	if units := readConfigUnits(at.world.config); len(units) > 0 {
		o := at.world.configMap
		if o == nil {
			o = &model.Object{}
		}
		builtins = append(builtins, policy.NewBuiltin("MeshConfig.defaultConfig", o, nil, units))
	}
	var written map[string]any
	if text := at.annotations[configAnnotation]; text != "" && yaml.Unmarshal([]byte(text), &written) == nil {
		if units := readConfigUnits(written); len(units) > 0 {
			own = at.object.Ref.String()
			builtins = append(builtins, policy.NewBuiltin(annotationLabel, at.object,
				[]string{"metadata", "annotations", configAnnotation}, units))
		}
	}
	root := at.world.root
	level := func(p *policy.Policy) int {
		switch {
		case p.Builtin == annotationLabel:
			return annotationLevel
		case p.Builtin != "":
			return meshConfigLevel
		case readPolicyTargets(p.Object).selector.Len() > 0:
			return workloadLevel
		case p.Ref().Namespace != root:
			return namespaceLevel
		}
		return rootLevel
	}
	return &policy.Situation{Key: own, Builtins: builtins, AlwaysInForce: len(builtins) > 0,
		Compare: func(a, b *policy.Policy) int { return level(a) - level(b) },
		Fold: func(layers []*policy.Policy) merge.PlanFunc {
			return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return foldProxyConfig(layers, level) }
		}}
}

// readConfigUnits are the settings of a proxy's configuration that a ProxyConfig can have too.
func readConfigUnits(config map[string]any) []merge.Unit {
	var out []merge.Unit
	if v, ok := config["concurrency"]; ok {
		out = append(out, merge.Unit{Path: merge.KeyPath("concurrency"), Value: toInteger(v)})
	}
	for _, field := range []string{"environmentVariables", "image", "proxyMetadata"} {
		values, _ := config[field].(map[string]any)
		name := field
		if field == "proxyMetadata" {
			name = "environmentVariables"
		}
		for _, k := range slices.Sorted(maps.Keys(values)) {
			out = append(out, merge.Unit{Path: merge.KeyPath(name, k), Value: values[k]})
		}
	}
	return out
}

// toInteger is an integer as the contents of objects have it.
func toInteger(v any) any {
	switch n := v.(type) {
	case int:
		return int64(n)
	case float64:
		if n == float64(int64(n)) {
			return int64(n)
		}
	}
	return v
}

// foldProxyConfig lays the levels over each other; the oldest policy of each counts.
func foldProxyConfig(layers []*policy.Policy, level func(*policy.Policy) int) ([]merge.Unit, []merge.Effect) {
	order := make([]int, len(layers))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return level(layers[a]) - level(layers[b]) })
	b := newOverlay()
	seen := -1
	for _, i := range order {
		p := layers[i]
		if seen >= 0 && p.Builtin == "" && level(layers[seen]) == level(p) {
			b.addAllLost(p, i, seen)
			continue
		}
		seen = i
		units := p.Blocks[0].Units
		if p.Builtin == "" {
			spec, _ := p.Object.Get("spec").(map[string]any)
			units = readConfigUnits(spec)
		}
		for _, u := range units {
			b.setValue(u.Path, u.Value, i)
		}
	}
	return b.buildUnits(layers)
}
