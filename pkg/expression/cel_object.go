package expression

import (
	"reflect"

	"github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// celObject is an object of a body as expressions see it. What they ask for by key is read from the
// packed form, and the first answers are kept, as rules ask for the same few fields again and
// again; for all else a map is made. It is not safe for concurrent use.
type celObject struct {
	model.Body
	answers []answer
}

// answer is what an object has at a key; nil: nothing.
type answer struct {
	key   string
	value ref.Val
}

// maxAnswers is how many answers an object keeps: more take longer to search than the object.
const maxAnswers = 16

var _ traits.Mapper = &celObject{}

// toCELValue returns a part of a body as expressions see it.
func toCELValue(b model.Body) ref.Val {
	if b.IsObject() {
		return &celObject{Body: b}
	}
	return types.DefaultTypeAdapter.NativeToValue(b.Value())
}

func (o *celObject) toMap() traits.Mapper {
	return types.DefaultTypeAdapter.NativeToValue(o.Value()).(traits.Mapper)
}

// ConvertToNative implements ref.Val.
func (o *celObject) ConvertToNative(t reflect.Type) (any, error) { return o.toMap().ConvertToNative(t) }

// ConvertToType implements ref.Val.
func (o *celObject) ConvertToType(t ref.Type) ref.Val { return o.toMap().ConvertToType(t) }

// Equal implements ref.Val.
func (o *celObject) Equal(other ref.Val) ref.Val { return o.toMap().Equal(other) }

// Type implements ref.Val.
func (o *celObject) Type() ref.Type { return types.MapType }

// Find implements traits.Mapper.
func (o *celObject) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return o.toMap().Find(key)
	}
	v := o.valueAt(string(name))
	return v, v != nil
}

// valueAt returns the value at a key, or nil.
func (o *celObject) valueAt(key string) (v ref.Val) {
	for i := range o.answers {
		if o.answers[i].key == key {
			return o.answers[i].value
		}
	}
	if inner, ok := o.Entry(key); ok {
		v = toCELValue(inner)
	}
	if len(o.answers) < maxAnswers {
		o.answers = append(o.answers, answer{key, v})
	}
	return v
}

// Get implements traits.Indexer.
func (o *celObject) Get(key ref.Val) ref.Val {
	if v, ok := o.Find(key); ok {
		return v
	}
	return o.toMap().Get(key)
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
func (o *celObject) Iterator() traits.Iterator { return o.toMap().Iterator() }

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
	v := b.valueAt(name)
	return v, v != nil
}

// Parent implements cel.Activation.
func (b bindings) Parent() cel.Activation { return nil }

// bindObject makes the bindings of an object; anything else binds self alone.
func bindObject(body model.Body) any {
	if o, ok := toCELValue(body).(*celObject); ok {
		return bindings{o}
	}
	return map[string]any{"self": toCELValue(body)}
}
