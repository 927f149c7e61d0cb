package requirement

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// jsonObject is a JSON object as expressions see it. Its keys have an order, so that what is made
// of them does not depend on chance.
type jsonObject struct {
	keys   []string // sorted; nil: those of values
	values map[string]ref.Val
	lazy   map[string]func() ref.Val // instead of values: made when they are first asked for
}

// newLazyObject is an object of values that are made when they are first asked for.
func newLazyObject(values map[string]func() any) *jsonObject {
	o := &jsonObject{keys: slices.Sorted(maps.Keys(values)), lazy: make(map[string]func() ref.Val, len(values))}
	for key, value := range values {
		o.lazy[key] = sync.OnceValue(func() ref.Val { return toCELValue(value()) })
	}
	return o
}

var _ traits.Mapper = (*jsonObject)(nil)

// toCELValue is a JSON value as expressions see it.
func toCELValue(v any) ref.Val {
	switch t := v.(type) {
	case ref.Val:
		return t
	case map[string]any:
		o := &jsonObject{values: make(map[string]ref.Val, len(t))}
		for key, inner := range t {
			o.values[key] = toCELValue(inner)
		}
		return o
	case []any:
		entries := make([]ref.Val, len(t))
		for i, inner := range t {
			entries[i] = toCELValue(inner)
		}
		return types.NewRefValList(types.DefaultTypeAdapter, entries)
	}
	return types.DefaultTypeAdapter.NativeToValue(v)
}

// sortedKeys returns the keys in their order. Few expressions ask for them.
func (o *jsonObject) sortedKeys() []string {
	if o.keys == nil {
		return slices.Sorted(maps.Keys(o.values))
	}
	return o.keys
}

func (o *jsonObject) toMapper() traits.Mapper {
	names := o.sortedKeys()
	all := make(map[ref.Val]ref.Val, len(names))
	for _, key := range names {
		all[types.String(key)], _ = o.Find(types.String(key))
	}
	return types.NewRefValMap(types.DefaultTypeAdapter, all)
}

// ConvertToNative implements ref.Val.
func (o *jsonObject) ConvertToNative(t reflect.Type) (any, error) {
	return o.toMapper().ConvertToNative(t)
}

// ConvertToType implements ref.Val.
func (o *jsonObject) ConvertToType(t ref.Type) ref.Val { return o.toMapper().ConvertToType(t) }

// Equal implements ref.Val.
func (o *jsonObject) Equal(other ref.Val) ref.Val { return o.toMapper().Equal(other) }

// Type implements ref.Val.
func (o *jsonObject) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (o *jsonObject) Value() any { return o.toMapper().Value() }

// Find implements traits.Mapper.
func (o *jsonObject) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	if value := o.lazy[string(name)]; value != nil {
		return value(), true
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
	return types.NewStringList(types.DefaultTypeAdapter, o.sortedKeys()).Iterator()
}

// Size implements traits.Sizer.
func (o *jsonObject) Size() ref.Val { return types.Int(max(len(o.values), len(o.lazy))) }

// inForceObject is the policies in force at a place, by kind: by Kind, or by Kind.group where the
// policies of several groups share it. By Kind.group they are always found.
type inForceObject struct {
	jsonObject
	byGroup   map[string]ref.Val
	ambiguous map[string][]string // the kinds of several groups, by Kind
}

// newInForceObject takes the policies in force, each with its Kind.group.
func newInForceObject(policies map[string]ref.Val) *inForceObject {
	f := &inForceObject{jsonObject{values: map[string]ref.Val{}}, policies, map[string][]string{}}
	names := slices.Sorted(maps.Keys(policies))
	for _, name := range names {
		kind := model.ParseGroupKind(name).Kind
		f.ambiguous[kind] = append(f.ambiguous[kind], name)
	}
	for _, name := range names {
		if kind := model.ParseGroupKind(name).Kind; len(f.ambiguous[kind]) == 1 {
			f.values[kind] = policies[name]
			delete(f.ambiguous, kind)
		} else {
			f.values[name] = policies[name]
		}
	}
	f.keys = slices.Sorted(maps.Keys(f.values))
	return f
}

// Find implements traits.Mapper.
func (f *inForceObject) Find(key ref.Val) (ref.Val, bool) {
	name, _ := key.Value().(string)
	if v, ok := f.byGroup[name]; ok {
		return v, true
	}
	if groups := f.ambiguous[name]; groups != nil {
		return types.NewErr(
			"%s is a policy kind of several groups, which are in force together: write effective['%s']", name,
			strings.Join(groups, "'] or effective['")), false
	}
	return f.jsonObject.Find(key)
}

// Get implements traits.Indexer.
func (f *inForceObject) Get(key ref.Val) ref.Val {
	v, ok := f.Find(key)
	if ok || types.IsError(v) {
		return v
	}
	return f.jsonObject.Get(key)
}

// Contains implements traits.Container.
func (f *inForceObject) Contains(key ref.Val) ref.Val {
	v, ok := f.Find(key)
	if types.IsError(v) {
		return v
	}
	return types.Bool(ok)
}
