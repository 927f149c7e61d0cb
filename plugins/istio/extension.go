package istio

import (
	"cmp"
	"math"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// phases are where extensions stand in the chain, in order.
var phases = []string{"AUTHN", "AUTHZ", "STATS", unspecified}

const unspecified = "UNSPECIFIED_PHASE"

// readPhase is the phase of an extension. The word for none differs between TrafficExtensions and
// WasmPlugins; they share the phase.
func readPhase(o *model.Object) string {
	phase := o.Text("spec", "phase")
	if phase == "" || phase == "UNSPECIFIED" {
		return unspecified
	}
	return phase
}

// extensionSituation is what WasmPlugins, or TrafficExtensions, make of a target: filters by phase,
// in the order of their priorities.
func extensionSituation(at foldTarget) *policy.Situation {
	if at.proxy == nil {
		return nil
	}
	proxy, service := at.policyNamespaces()
	near := compareByNamespace(proxy, at.world.root, service)
	return &policy.Situation{Key: joinKey(proxy, service), Compare: func(a, b *policy.Policy) int {
		return cmp.Or(cmp.Compare(slices.Index(phases, readPhase(a.Object)), slices.Index(phases, readPhase(b.Object))),
			cmp.Compare(extensionPriority(b.Object), extensionPriority(a.Object)), near(a, b))
	}, Fold: func(layers []*policy.Policy) merge.PlanFunc {
		return func(merge.Stack) ([]merge.Unit, []merge.Effect) { return at.foldExtensions(layers) }
	}}
}

// extensionPriority is the priority of an extension: the highest first, and without one it is
// behind all.
func extensionPriority(o *model.Object) float64 {
	if o.Body.At("spec", "priority").IsNull() {
		return math.Inf(-1)
	}
	return readPriority(o)
}

// foldExtensions lists the extensions that are in the chain.
func (at foldTarget) foldExtensions(layers []*policy.Policy) ([]merge.Unit, []merge.Effect) {
	var m foldRecorder
	for i, p := range layers {
		path := merge.KeyPath(readPhase(p.Object), p.Ref().Namespace, p.Ref().Name)
		value := p.Object.Get("spec")
		if settings, ok := value.(map[string]any); ok {
			for _, field := range []string{"selector", "targetRef", "targetRefs", "phase"} {
				delete(settings, field)
			}
		}
		switch {
		case explainDiscarded(p.Object) != "":
			m.Lose(path, value, i, merge.Invalid)
		case !at.isInChain(p.Object) || !at.matchesListener(p.Object):
			m.Lose(path, value, i, merge.Ignored)
		default:
			m.Take(path, value, i)
		}
	}
	return m.Units, m.Effects
}

// maxLuaCode is how long inline code may be.
const maxLuaCode = 65536

// explainDiscarded is why Istio silently discards an extension; "": it does not.
func explainDiscarded(o *model.Object) string {
	spec := o.Body.Field("spec")
	wasm, lua := spec.Field("wasm"), spec.Field("lua")
	if o.Ref.Kind == "WasmPlugin" {
		wasm, lua = spec, model.Body{}
	}
	switch code := lua.Text("inlineCode"); {
	case lua.IsObject() && !wasm.IsObject() && code == "":
		return "its Lua code is empty"
	case lua.IsObject() && len(code) > maxLuaCode:
		return "its Lua code is longer than " + strconv.Itoa(maxLuaCode) + " characters"
	case lua.IsObject():
		return ""
	case !wasm.IsObject():
		return "it has neither wasm nor lua"
	case wasm.Text("url") == "":
		return "the URL of its module is empty"
	}
	if _, err := url.Parse(wasm.Text("url")); err != nil {
		return "the URL of its module cannot be read"
	}
	return ""
}

// isInChain reports whether an extension is of the kind of filter chain that is asked about.
func (at foldTarget) isInChain(o *model.Object) bool {
	network := o.Text("spec", "wasm", "type") == "NETWORK" || o.Ref.Kind == "WasmPlugin" &&
		o.Text("spec", "type") == "NETWORK"
	switch at.settings.Text("istio.filterChain") {
	case "ANY":
		return true
	case "NETWORK":
		return network
	}
	return !network
}

// readListenerClass is the class of the listener that is asked about, any for one that is not
// known. Istio's own names mean the same.
func readListenerClass(s model.Settings) (class string, known bool) {
	class = strings.ToLower(s.Text("istio.listenerClass"))
	for _, filler := range []string{"-", "_", "listenerclass", "sidecar"} {
		class = strings.ReplaceAll(class, filler, "")
	}
	switch class {
	case "inbound", "outbound", "gateway", "any":
		return class, true
	}
	return "any", class == "" || class == "undefined"
}

// matchesListener reports whether one of the extension's matches is for the listener that is asked
// about; what is not said of it matches.
func (at foldTarget) matchesListener(o *model.Object) bool {
	matches := o.Body.At("spec", "match")
	if matches.Len() == 0 {
		return true
	}
	port := at.settings.Text("istio.listenerPort")
	class, _ := readListenerClass(at.settings)
	for _, match := range matches.Items {
		mode := match.Text("mode")
		fits := mode == "" || mode == "UNDEFINED" || mode == "CLIENT_AND_SERVER" || class == "any" ||
			strings.EqualFold(mode, map[bool]string{true: "SERVER", false: "CLIENT"}[class == "inbound"])
		ports := match.Field("ports")
		onPort := ports.Len() == 0 || port == ""
		for _, p := range ports.Items {
			onPort = onPort || p.Field("number").String() == port
		}
		if fits && onPort {
			return true
		}
	}
	return false
}

// findExtended finds the targets of an extension, and says why Istio discards it.
func findExtended(w *proxyIndex, p *policy.Policy) (attachPoints, []model.Problem) {
	out, problems := findAttached(w, p)
	if why := explainDiscarded(p.Object); why != "" {
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.InvalidObject,
			Message: "Istio discards it without a word: " + why}.At(p.Object))
	}
	if _, known := readListenerClass(p.Kind.Settings); !known && p.Object.Body.At("spec", "match").Len() > 0 {
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: "it is for some listeners only, and istio.listenerClass is none of any, inbound, outbound and gateway: it is listed whatever the mode of its matches"}.At(p.Object))
	}
	return out, problems
}
