package check

import (
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// jsonObject is a JSON object as expressions see it. Its keys have an order, so that what is made of them does not depend on chance.
type jsonObject struct {
	keys   []string // sorted
	values map[string]ref.Val
}

var _ traits.Mapper = (*jsonObject)(nil)

// celValue is a JSON value as expressions see it.
func celValue(v any) ref.Val {
	switch t := v.(type) {
	case ref.Val:
		return t
	case map[string]any:
		o := &jsonObject{slices.Sorted(maps.Keys(t)), make(map[string]ref.Val, len(t))}
		for key, inner := range t {
			o.values[key] = celValue(inner)
		}
		return o
	case []any:
		entries := make([]ref.Val, len(t))
		for i, inner := range t {
			entries[i] = celValue(inner)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, entries)
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

func (o *jsonObject) plain() traits.Mapper {
	all := make(map[ref.Val]ref.Val, len(o.values))
	for key, value := range o.values {
		all[types.String(key)] = value
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, all)
}

// ConvertToNative implements ref.Val.
func (o *jsonObject) ConvertToNative(t reflect.Type) (any, error) {
	return o.plain().ConvertToNative(t)
}

// ConvertToType implements ref.Val.
func (o *jsonObject) ConvertToType(t ref.Type) ref.Val { return o.plain().ConvertToType(t) }

// Equal implements ref.Val.
func (o *jsonObject) Equal(other ref.Val) ref.Val { return o.plain().Equal(other) }

// Type implements ref.Val.
func (o *jsonObject) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (o *jsonObject) Value() any { return o.plain().Value() }

// Find implements traits.Mapper.
func (o *jsonObject) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	v, ok := o.values[string(name)]
	return v, ok
}

// Get implements traits.Indexer.
func (o *jsonObject) Get(key ref.Val) ref.Val {
	if v, ok := o.Find(key); ok {
		return v
	}
	return types.NewErr("no such key: %v", key.Value())
}

// Contains implements traits.Container.
func (o *jsonObject) Contains(key ref.Val) ref.Val {
	_, ok := o.Find(key)
	return types.Bool(ok)
}

// Iterator implements traits.Iterable.
func (o *jsonObject) Iterator() traits.Iterator {
	return types.NewStringList(types.DefaultTypeAdapter, o.keys).Iterator()
}

// Size implements traits.Sizer.
func (o *jsonObject) Size() ref.Val { return types.Int(len(o.keys)) }

// inForce is the policies in force at a place, by kind: by Kind, or by Kind.group where the policies of several groups share it. By
// Kind.group they are found always.
type inForce struct {
	jsonObject
	byGroup map[string]ref.Val
	several map[string][]string // the kinds of several groups, by Kind
}

// newInForce takes the policies in force, each with its Kind.group.
func newInForce(policies map[string]ref.Val) *inForce {
	f := &inForce{jsonObject{values: map[string]ref.Val{}}, policies, map[string][]string{}}
	names := slices.Sorted(maps.Keys(policies))
	for _, name := range names {
		kind := model.ParseGroupKind(name).Kind
		f.several[kind] = append(f.several[kind], name)
	}
	for _, name := range names {
		if kind := model.ParseGroupKind(name).Kind; len(f.several[kind]) == 1 {
			f.values[kind] = policies[name]
			delete(f.several, kind)
		} else {
			f.values[name] = policies[name]
		}
	}
	f.keys = slices.Sorted(maps.Keys(f.values))
	return f
}

// Find implements traits.Mapper.
func (f *inForce) Find(key ref.Val) (ref.Val, bool) {
	name, _ := key.Value().(string)
	if v, ok := f.byGroup[name]; ok {
		return v, true
	}
	if groups := f.several[name]; groups != nil {
		return types.NewErr("%s is a policy kind of several groups, which are in force together: write effective['%s']", name, strings.Join(groups, "'] or effective['")), false
	}
	return f.jsonObject.Find(key)
}

// Get implements traits.Indexer.
func (f *inForce) Get(key ref.Val) ref.Val {
	v, ok := f.Find(key)
	if ok || types.IsError(v) {
		return v
	}
	return f.jsonObject.Get(key)
}

// Contains implements traits.Container.
func (f *inForce) Contains(key ref.Val) ref.Val {
	v, ok := f.Find(key)
	if types.IsError(v) {
		return v
	}
	return types.Bool(ok)
}

type keys = map[string]any

// policyValue is an effective policy as expressions see it, in the shape of the contract. All texts and lists are there.
func policyValue(e *view.EffectivePolicy) keys {
	out := keys{"policyKind": e.PolicyKind, "profile": e.Profile, "id": e.ID, "ordered": e.Ordered, "rules": ruleValues(e.Rules)}
	out["spec"] = merge.Plain(e.Spec)
	if e.Spec == nil {
		out["spec"] = keys{}
	}
	policies, lost, groups := []any{}, []any{}, []any{}
	for i := range e.Policies {
		policies = append(policies, useValue(&e.Policies[i]))
	}
	for i := range e.Lost {
		lost = append(lost, lossValue(e.Lost[i].Rule, &e.Lost[i].Loss))
	}
	for _, g := range e.Groups {
		groups = append(groups, keys{"name": g.Name, "rules": ruleValues(g.Rules)})
	}
	out["policies"], out["lost"], out["groups"] = policies, lost, groups
	out["sources"] = allSources(e)
	return out
}

// allSources is every block of a policy that sets something in force, once, and every policy that has a say without setting anything
// itself. Values that no policy wrote have none.
func allSources(e *view.EffectivePolicy) []any {
	out := []any{}
	seen, heard := map[view.Source]bool{}, map[model.Ref]bool{}
	add := func(rules []view.Rule) {
		for _, r := range rules {
			for _, s := range r.Sources {
				if s.Policy == nil {
					continue
				}
				key := s
				key.Policy, key.Target, key.Origin = nil, nil, nil
				key.Builtin = s.Policy.String() + "\x00" + s.Target.String()
				if !seen[key] {
					seen[key], heard[*s.Policy] = true, true
					out = append(out, sourceValue(&s))
				}
			}
		}
	}
	add(e.Rules)
	for _, g := range e.Groups {
		add(g.Rules)
	}
	for _, u := range e.Policies {
		if u.Policy != nil && (u.Role == "contributing" || u.Role == "partial") && !heard[*u.Policy] {
			out = append(out, sourceValue(&view.Source{Policy: u.Policy, Target: u.Target, Level: u.Level, Strategy: u.Strategy, Part: u.Part}))
		}
	}
	return out
}

func ruleValues(rules []view.Rule) []any {
	out := make([]any, len(rules))
	for i, r := range rules {
		lost := make([]any, len(r.Lost))
		for j := range r.Lost {
			lost[j] = lossValue(r.Name, &r.Lost[j])
		}
		out[i] = keys{"name": r.Name, "value": merge.Plain(r.Value), "sources": sourceValues(r.Sources), "lost": lost}
	}
	return out
}

func sourceValues(sources []view.Source) []any {
	out := make([]any, len(sources))
	for i := range sources {
		out[i] = sourceValue(&sources[i])
	}
	return out
}

// sourceValue has no policy where no policy wrote the value.
func sourceValue(s *view.Source) keys {
	out := keys{"target": refValue(s.Target), "level": s.Level, "block": s.Block, "strategy": s.Strategy, "condition": s.Condition,
		"builtin": s.Builtin, "part": s.Part}
	if s.Policy != nil {
		out["policy"] = refValue(s.Policy)
	}
	return out
}

func lossValue(rule string, l *view.Loss) keys {
	out := sourceValue(&l.Source)
	out["rule"], out["reason"], out["message"] = rule, l.Reason, l.Message
	out["value"], out["lostTo"] = merge.Plain(l.Value), sourceValues(l.LostTo)
	return out
}

func useValue(u *view.PolicyUse) keys {
	out := keys{"target": refValue(u.Target), "level": u.Level, "strategy": u.Strategy, "builtin": u.Builtin, "part": u.Part, "role": u.Role}
	if u.Policy != nil {
		out["policy"] = refValue(u.Policy)
	}
	return out
}

func refValue(r *model.Ref) keys {
	return keys{"group": r.Group, "kind": r.Kind, "namespace": r.Namespace, "name": r.Name, "section": r.Section}
}

func pathValue(p view.Path) keys {
	return keys{"gatewayClass": p.GatewayClass, "gateway": p.Gateway, "listenerSet": p.ListenerSet, "listener": p.Listener, "direction": p.Direction,
		"mesh": p.Mesh, "dataplane": p.Dataplane, "destination": p.Destination, "hostname": p.Hostname, "binding": p.Binding,
		"delegatedFrom": textValues(p.DelegatedFrom), "delegatedRules": textValues(p.DelegatedRules)}
}

func textValues(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}

func labelValues(labels map[string]string) keys {
	out := make(keys, len(labels))
	for key, value := range labels {
		out[key] = value
	}
	return out
}
