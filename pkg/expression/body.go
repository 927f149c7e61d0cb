package expression

import (
	"reflect"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// celObject is an object of a body as expressions see it. What they ask for by key is read from the packed form, and the first answers are kept,
// as rules ask for the same few fields again and again; for all else a map is made. It is not safe for concurrent use.
type celObject struct {
	model.Body
	asked []answer
}

// answer is what an object has at a key; nil: nothing.
type answer struct {
	key   string
	value ref.Val
}

// kept is how many answers an object keeps: more take longer to search than the object.
const kept = 16

var _ traits.Mapper = &celObject{}

// celValue is a part of a body as expressions see it.
func celValue(b model.Body) ref.Val {
	if b.IsObject() {
		return &celObject{Body: b}
	}
	return types.DefaultTypeAdapter.NativeToValue(b.Value())
}

func (o *celObject) plain() traits.Mapper {
	return types.DefaultTypeAdapter.NativeToValue(o.Value()).(traits.Mapper)
}

// ConvertToNative implements ref.Val.
func (o *celObject) ConvertToNative(t reflect.Type) (any, error) { return o.plain().ConvertToNative(t) }

// ConvertToType implements ref.Val.
func (o *celObject) ConvertToType(t ref.Type) ref.Val { return o.plain().ConvertToType(t) }

// Equal implements ref.Val.
func (o *celObject) Equal(other ref.Val) ref.Val { return o.plain().Equal(other) }

// Type implements ref.Val.
func (o *celObject) Type() ref.Type { return types.MapType }

// Find implements traits.Mapper.
func (o *celObject) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return o.plain().Find(key)
	}
	v := o.at(string(name))
	return v, v != nil
}

// at is the value at a key, or nil.
func (o *celObject) at(key string) (v ref.Val) {
	for i := range o.asked {
		if o.asked[i].key == key {
			return o.asked[i].value
		}
	}
	if inner, ok := o.Entry(key); ok {
		v = celValue(inner)
	}
	if len(o.asked) < kept {
		o.asked = append(o.asked, answer{key, v})
	}
	return v
}

// Get implements traits.Indexer.
func (o *celObject) Get(key ref.Val) ref.Val {
	if v, ok := o.Find(key); ok {
		return v
	}
	return o.plain().Get(key)
}

// Contains implements traits.Container.
func (o *celObject) Contains(key ref.Val) ref.Val {
	if name, ok := key.(types.String); ok {
		return types.Bool(o.Has(string(name)))
	}
	_, ok := o.Find(key)
	return types.Bool(ok)
}

// Iterator implements traits.Iterable.
func (o *celObject) Iterator() traits.Iterator { return o.plain().Iterator() }

// Size implements traits.Sizer.
func (o *celObject) Size() ref.Val { return types.Int(o.Len()) }

// bindings are the names that an object binds in expressions: its fields, and self for all of it.
type bindings struct{ *celObject }

var _ cel.Activation = bindings{}

// ResolveName implements cel.Activation.
func (b bindings) ResolveName(name string) (any, bool) {
	if name == "self" {
		return b.celObject, true
	}
	v := b.at(name)
	return v, v != nil
}

// Parent implements cel.Activation.
func (b bindings) Parent() cel.Activation { return nil }

// bind makes the bindings of an object; anything else binds self alone.
func bind(body model.Body) any {
	if o, ok := celValue(body).(*celObject); ok {
		return bindings{o}
	}
	return map[string]any{"self": celValue(body)}
}
