package merge

import "reflect"

// Packed is a JSON value in a form that takes less memory than Go maps and lists. Values of units
// may be packed, and so values within what folds make of them. Whoever looks into a value asks
// Plain for it; a fold itself looks into objects only to cut them.
type Packed interface {
	Value() any                       // as Go maps and lists
	Size() (entries int, object bool) // of an object, or else of a list
	// iterates over the entries of an object, in any order; objects and lists among them are packed
	Parts(yield func(string, any) bool)
}

// Unpack returns v without anything packed in it, as Go maps and lists. The result is not to be
// changed: what holds nothing packed is not copied.
func Unpack(v any) any {
	if !holdsPacked(v) {
		return v
	}
	switch t := v.(type) {
	case Packed:
		return t.Value()
	case map[string]any:
		out := make(map[string]any, len(t))
		for key, inner := range t {
			out[key] = Unpack(inner)
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i, inner := range t {
			out[i] = Unpack(inner)
		}
		return out
	}
	return v
}

func holdsPacked(v any) bool {
	switch t := v.(type) {
	case Packed:
		return true
	case map[string]any:
		for _, inner := range t {
			if holdsPacked(inner) {
				return true
			}
		}
	case []any:
		for _, inner := range t {
			if holdsPacked(inner) {
				return true
			}
		}
	}
	return false
}

// Equal reports whether two values are the same JSON, packed or not.
func Equal(a, b any) bool { return reflect.DeepEqual(Unpack(a), Unpack(b)) }
