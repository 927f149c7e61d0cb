package decode

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// markZeros marks the zero values, or leaves them out where the kind takes them for unset.
func (d *decoder) markZeros(units []merge.Unit) []merge.Unit {
	if how := d.kind.Content.Zero; how != policy.ZeroUnset && how != policy.ZeroTail {
		return units
	}
	for i := range units {
		units[i].Zero = isZeroValue(merge.Unpack(units[i].Value))
	}
	if d.kind.Content.Zero == policy.ZeroTail {
		return units
	}
	return slices.DeleteFunc(units, func(u merge.Unit) bool { return u.Zero })
}

// isZeroValue reports whether a setting says no more than its type does.
func isZeroValue(v any) bool {
	switch v := v.(type) {
	case nil:
		return true
	case []any:
		return len(v) == 0
	case map[string]any:
		return false
	default:
		return v == false || v == "" || v == int64(0) || v == float64(0)
	}
}

// markChoices notes which choice units are one of.
func (d *decoder) markChoices(units []merge.Unit) []merge.Unit {
	if !slices.ContainsFunc(d.kind.Rules, func(p merge.Pattern) bool { return p.Choice != "" }) {
		return units
	}
	for i := range units {
		units[i].Choice = d.kind.Rules.ChoiceOf(units[i].Path)
	}
	return units
}

// stripNulls returns v without the nulls that are fields of objects, and its size: the API server
// takes them out before it validates. A value without nulls is not copied.
func stripNulls(v model.Body) (model.Body, model.Extent) {
	e := v.Extent()
	if !e.Nulls {
		return v, e
	}
	v = model.Pack(withoutNulls(v.Value()), nil)
	return v, v.Extent()
}

func withoutNulls(v any) any {
	switch t := v.(type) {
	case map[string]any:
		maps.DeleteFunc(t, func(_ string, below any) bool { return below == nil })
		for key := range t {
			t[key] = withoutNulls(t[key])
		}
	case []any:
		for i := range t {
			t[i] = withoutNulls(t[i])
		}
	}
	return v
}
