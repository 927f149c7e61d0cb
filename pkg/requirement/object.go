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

// lazyObject is an object whose values are made when they are first asked for.
type lazyObject struct{ fields map[string]*lazyField }

type lazyField struct {
	once  sync.Once
	value func() any
	made  ref.Val
}

var _ traits.Mapper = (*lazyObject)(nil)

func (o *lazyObject) all() *jsonObject {
	out := &jsonObject{slices.Sorted(maps.Keys(o.fields)), map[string]ref.Val{}}
	for name := range o.fields {
		out.values[name], _ = o.Find(types.String(name))
	}
	return out
}

// ConvertToNative implements ref.Val.
func (o *lazyObject) ConvertToNative(t reflect.Type) (any, error) { return o.all().ConvertToNative(t) }

// ConvertToType implements ref.Val.
func (o *lazyObject) ConvertToType(t ref.Type) ref.Val { return o.all().ConvertToType(t) }

// Equal implements ref.Val.
func (o *lazyObject) Equal(other ref.Val) ref.Val { return o.all().Equal(other) }

// Type implements ref.Val.
func (o *lazyObject) Type() ref.Type { return types.MapType }

// Value implements ref.Val.
func (o *lazyObject) Value() any { return o.all().Value() }

// Find implements traits.Mapper.
func (o *lazyObject) Find(key ref.Val) (ref.Val, bool) {
	name, _ := key.(types.String)
	f := o.fields[string(name)]
	if f == nil {
		return nil, false
	}
	f.once.Do(func() { f.made = celValue(f.value()) })
	return f.made, true
}

// Get implements traits.Indexer.
func (o *lazyObject) Get(key ref.Val) ref.Val {
	if v, ok := o.Find(key); ok {
		return v
	}
	return types.NewErr("no such key: %v", key.Value())
}

// Contains implements traits.Container.
func (o *lazyObject) Contains(key ref.Val) ref.Val {
	name, _ := key.(types.String)
	return types.Bool(o.fields[string(name)] != nil)
}

// Iterator implements traits.Iterable.
func (o *lazyObject) Iterator() traits.Iterator { return o.all().Iterator() }

// Size implements traits.Sizer.
func (o *lazyObject) Size() ref.Val { return types.Int(len(o.fields)) }
