package expression

import (
	"reflect"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// celObject is an object of a body as expressions see it. What they ask for by key is read from the packed form; for all else a map is made.
type celObject struct{ model.Body }

var _ traits.Mapper = celObject{}

// celValue is a part of a body as expressions see it.
func celValue(b model.Body) ref.Val {
	if b.IsObject() {
		return celObject{b}
	}
	return types.DefaultTypeAdapter.NativeToValue(b.Value())
}

func (o celObject) plain() traits.Mapper {
	return types.DefaultTypeAdapter.NativeToValue(o.Value()).(traits.Mapper)
}

// ConvertToNative implements ref.Val.
func (o celObject) ConvertToNative(t reflect.Type) (any, error) { return o.plain().ConvertToNative(t) }

// ConvertToType implements ref.Val.
func (o celObject) ConvertToType(t ref.Type) ref.Val { return o.plain().ConvertToType(t) }

// Equal implements ref.Val.
func (o celObject) Equal(other ref.Val) ref.Val { return o.plain().Equal(other) }

// Type implements ref.Val.
func (o celObject) Type() ref.Type { return types.MapType }

// Find implements traits.Mapper.
func (o celObject) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return o.plain().Find(key)
	}
	inner, ok := o.Entry(string(name))
	if !ok {
		return nil, false
	}
	return celValue(inner), true
}

// Get implements traits.Indexer.
func (o celObject) Get(key ref.Val) ref.Val {
	if v, ok := o.Find(key); ok {
		return v
	}
	return o.plain().Get(key)
}

// Contains implements traits.Container.
func (o celObject) Contains(key ref.Val) ref.Val {
	if name, ok := key.(types.String); ok {
		return types.Bool(o.Has(string(name)))
	}
	_, ok := o.Find(key)
	return types.Bool(ok)
}

// Iterator implements traits.Iterable.
func (o celObject) Iterator() traits.Iterator { return o.plain().Iterator() }

// Size implements traits.Sizer.
func (o celObject) Size() ref.Val { return types.Int(o.Len()) }

// bindings are the names that an object binds in expressions: its fields, and self for all of it.
func bindings(body model.Body) map[string]any {
	vars := map[string]any{"self": celValue(body)}
	for key, value := range body.Fields {
		vars[key] = celValue(value)
	}
	return vars
}
