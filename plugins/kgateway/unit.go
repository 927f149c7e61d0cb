package kgateway

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// fold is a set of settings that others are merged into, with what became of them.
type fold struct {
	units   []merge.Unit
	effects []merge.Effect
	local   map[string][]merge.From // who has first set useRemoteAddress to false, by the path of the settings around it
}

// find is the position of the setting at a path, or -1.
func (f *fold) find(p merge.Path) int {
	return slices.IndexFunc(f.units, func(u merge.Unit) bool { return slices.Equal(u.Path, p) })
}

// take adds a setting.
func (f *fold) take(u merge.Unit) {
	f.units = append(f.units, u)
	f.note(u, merge.Taken, "", nil)
}

// drop keeps a setting out.
func (f *fold) drop(u merge.Unit, reason merge.Reason, to []merge.From) {
	f.note(u, merge.Dropped, reason, to)
}

// replace puts a setting in the place of another one.
func (f *fold) replace(at int, u merge.Unit, reason merge.Reason) {
	f.note(f.units[at], merge.Replaced, reason, u.From)
	f.units[at] = u
	f.note(u, merge.Taken, "", nil)
}

// join puts what two settings make together in the place of one of them.
func (f *fold) join(at int, u merge.Unit) {
	f.units[at] = u
	f.note(u, merge.Joined, "", nil)
}

// note writes down what became of a setting: of a lost one, for each of its writers.
func (f *fold) note(u merge.Unit, o merge.Action, reason merge.Reason, to []merge.From) {
	e := merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value, From: u.From, Action: o, Reason: reason, Other: to}
	if reason == "" {
		f.effects = append(f.effects, e)
		return
	}
	for i := range u.From {
		e.From = u.From[i : i+1 : i+1]
		f.effects = append(f.effects, e)
	}
}

// sources unites writers, each once, in the order of the stack.
func sources(a, b []merge.From) []merge.From {
	out := slices.Clone(a)
	for _, x := range b {
		if !slices.Contains(out, x) {
			out = append(out, x)
		}
	}
	slices.SortStableFunc(out, func(x, y merge.From) int { return x.Layer - y.Layer })
	return out
}

// rule is the setting's name in the API, without the providers that several of one name are told apart by.
func rule(p merge.Path) string {
	for i, seg := range p {
		if seg.Form == merge.Entry {
			return p[:i].String()
		}
	}
	return p.String()
}

// perProvider are the settings of which every provider is a filter of its own.
func perProvider(name string) bool {
	return slices.Contains([]string{"extAuth", "extProc", "jwtAuth", "oauth2", "rateLimit.global"}, name)
}

// extensions writes the namespace into references to GatewayExtensions that leave it out: a setting keeps its meaning wherever it is in force.
func extensions(o *model.Object, body any, _ model.Settings) any {
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
			out[name] = withNamespace(v, o.Ref.Namespace)
		}
	}
	if limit := model.Map(spec, "rateLimit"); model.Map(limit, "global") != nil {
		limit = maps.Clone(limit)
		limit["global"] = withNamespace(model.Map(limit, "global"), o.Ref.Namespace)
		out["rateLimit"] = limit
	}
	root = maps.Clone(root)
	root["spec"] = out
	return root
}

func withNamespace(v map[string]any, namespace string) map[string]any {
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

// configuration is what a setting says for one provider, and who does.
type configuration struct {
	value map[string]any
	from  []merge.From
}

func (c configuration) same(d configuration) bool { return provider(c.value) == provider(d.value) }

// configured are the configurations of a setting with a filter for each provider, in order.
func configured(u merge.Unit) []configuration {
	all := model.List(merge.Plain(u.Value))
	if all == nil {
		return []configuration{{model.Map(merge.Plain(u.Value)), u.From}}
	}
	out := make([]configuration, len(all))
	for i, one := range all {
		out[i] = configuration{model.Map(one), u.From}
		if i < len(u.Items) {
			out[i].from = u.Items[i]
		}
	}
	return out
}

// provider is the namespace and name of the extension behind a configuration.
func provider(v map[string]any) string {
	ref := model.Map(v, "extensionRef")
	return model.Ref{Namespace: model.Text(ref, "namespace"), Name: model.Text(ref, "name")}.FullName()
}

// disabled reports whether a setting turns itself off.
func disabled(v any) bool {
	m := model.Map(merge.Plain(v))
	return m != nil && m["disable"] != nil
}
