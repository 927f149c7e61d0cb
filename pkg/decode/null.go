package decode

import (
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// stripped is v without the nulls that are fields of objects: the API server takes them out before it validates. What has none is not
// copied.
func stripped(v model.Body) model.Body {
	if !hasNull(v) {
		return v
	}
	return model.Pack(withoutNulls(v.Value()), nil)
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

// hasNull reports whether an object within v has a field that is null.
func hasNull(v model.Body) bool {
	for _, below := range v.Fields {
		if below.IsNull() || hasNull(below) {
			return true
		}
	}
	for _, entry := range v.Items {
		if hasNull(entry) {
			return true
		}
	}
	return false
}
