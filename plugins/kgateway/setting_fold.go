package kgateway

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// settingFold is a set of settings that others are merged into, with what became of them.
type settingFold struct {
	units   []merge.Unit
	effects []merge.Effect
	// who has first set useRemoteAddress to false, by the path of the settings around it
	localAddress map[string][]merge.Source
}

// findPath is the position of the setting at a path, or -1.
func (f *settingFold) findPath(p merge.Path) int {
	return slices.IndexFunc(f.units, func(u merge.Unit) bool { return slices.Equal(u.Path, p) })
}

// addEffective adds a setting.
func (f *settingFold) addEffective(u merge.Unit) {
	f.units = append(f.units, u)
	f.addEffects(u, merge.Taken, "", nil)
}

// addLost keeps a setting out.
func (f *settingFold) addLost(u merge.Unit, reason merge.Reason, to []merge.Source) {
	f.addEffects(u, merge.Dropped, reason, to)
}

// replaceSetting puts a setting in the place of another one.
func (f *settingFold) replaceSetting(at int, u merge.Unit, reason merge.Reason) {
	f.addEffects(f.units[at], merge.Replaced, reason, u.From)
	f.units[at] = u
	f.addEffects(u, merge.Taken, "", nil)
}

// joinSettings puts what two settings make together in the place of one of them.
func (f *settingFold) joinSettings(at int, u merge.Unit) {
	f.units[at] = u
	f.addEffects(u, merge.Joined, "", nil)
}

// addEffects records what became of a setting: of a lost one, for each of its writers.
func (f *settingFold) addEffects(u merge.Unit, o merge.Action, reason merge.Reason, to []merge.Source) {
	e := merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: o,
		Reason: reason, Other: to}
	if reason == "" {
		f.effects = append(f.effects, e)
		return
	}
	for i := range u.From {
		e.From = u.From[i : i+1 : i+1]
		f.effects = append(f.effects, e)
	}
}

// mergeSources unites writers, each once, in the order of the stack.
func mergeSources(a, b []merge.Source) []merge.Source {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y merge.Source) int { return x.Layer - y.Layer })
	return out
}

// settingName is the setting's name in the API, without the providers that several of one name are
// told apart by.
func settingName(p merge.Path) string {
	for i, seg := range p {
		if seg.Form == merge.Entry {
			return p[:i].String()
		}
	}
	return p.String()
}

// isPerProvider reports whether every provider of a setting is a filter of its own.
func isPerProvider(name string) bool {
	return slices.Contains([]string{"extAuth", "extProc", "jwtAuth", "oauth2", "rateLimit.global"}, name)
}

// setExtensionNamespaces writes the namespace into references to GatewayExtensions that leave it
// out: a setting keeps its meaning wherever it is in force.
func setExtensionNamespaces(o *model.Object, body any, _ model.Settings) any {
	root, ok := body.(map[string]any)
	if !ok {
		return body
	}
	spec := model.Map(root, "spec")
	if spec == nil {
		return body
	}
	out := maps.Clone(spec)
	for _, name := range []string{"extAuth", "extProc", "jwtAuth", "oauth2"} {
		if v := model.Map(spec, name); v != nil {
			out[name] = setNamespace(v, o.Ref.Namespace)
		}
	}
	if limit := model.Map(spec, "rateLimit"); model.Map(limit, "global") != nil {
		limit = maps.Clone(limit)
		limit["global"] = setNamespace(model.Map(limit, "global"), o.Ref.Namespace)
		out["rateLimit"] = limit
	}
	root = maps.Clone(root)
	root["spec"] = out
	return root
}

func setNamespace(v map[string]any, namespace string) map[string]any {
	ref := model.Map(v, "extensionRef")
	if ref == nil || ref["namespace"] != nil {
		return v
	}
	ref = maps.Clone(ref)
	ref["namespace"] = namespace
	v = maps.Clone(v)
	v["extensionRef"] = ref
	return v
}

// providerConfig is what a setting says for one provider, and who does.
type providerConfig struct {
	value map[string]any
	from  []merge.Source
}

func (c providerConfig) isSameProvider(d providerConfig) bool {
	return providerName(c.value) == providerName(d.value)
}

// listProviders are the configurations of a setting with a filter for each provider, in order.
func listProviders(u merge.Unit) []providerConfig {
	all := model.List(merge.Unpack(u.Value))
	if all == nil {
		return []providerConfig{{model.Map(merge.Unpack(u.Value)), u.From}}
	}
	out := make([]providerConfig, len(all))
	for i, one := range all {
		out[i] = providerConfig{model.Map(one), u.From}
		if i < len(u.Items) {
			out[i].from = u.Items[i]
		}
	}
	return out
}

// providerName is the namespace and name of the extension behind a configuration.
func providerName(v map[string]any) string {
	ref := model.Map(v, "extensionRef")
	return model.Ref{Namespace: model.Text(ref, "namespace"), Name: model.Text(ref, "name")}.FullName()
}

// isDisabled reports whether a setting turns itself off.
func isDisabled(v any) bool {
	m := model.Map(merge.Unpack(v))
	return m != nil && m["disable"] != nil
}
