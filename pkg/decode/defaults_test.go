package decode

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

func TestDefaultsAreFilledInAndMarked(t *testing.T) {
	k := usual(t)
	k.Rules, k.Content.Blocks, k.Content.DeleteNulls = merge.LeafShape(), nil, true
	k.Defaults = []policy.Default{
		{Path: []string{"spec", "retry", "numRetries"}, Value: int64(2)},
		{Path: []string{"spec", "breaker", "max"}, Value: int64(1024)},
		{Path: []string{"spec", "absent", "x"}, Value: "never"},
		{Path: []string{"spec", "providers", "*", "cache"}, Value: "300s"},
	}
	p := NewReader(k, nil).ReadPolicy(painted(t,
		"{retry: {on: [a]}, breaker: {max: 5}, providers: [{name: a}, {name: b, cache: 1s}], gone: null}"))
	want := map[string]struct {
		value  any
		filled bool
		null   bool
	}{
		"retry.numRetries": {int64(2), true, false}, "retry.on": {[]any{"a"}, false, false}, "breaker.max": {int64(5),
			false, false}, "gone": {nil, false, true},
		"providers": {[]any{map[string]any{"name": "a", "cache": "300s"}, map[string]any{"name": "b", "cache": "1s"}},
			false, false},
	}
	units := p.Blocks[0].Units
	if len(units) != len(want) {
		t.Errorf("%v", units)
	}
	for _, u := range units {
		if w, ok := want[u.Path.String()]; !ok || !merge.Equal(u.Value, w.value) || u.Filled != w.filled ||
			u.Null != w.null {
			t.Errorf("%s: %v filled %v null %v, want %+v", u.Path, u.Value, u.Filled, u.Null, w)
		}
	}
}

func TestNormalizerSeesTheObjectAndDefaultsComeAfterIt(t *testing.T) {
	k := usual(t)
	k.Rules, k.Content.Blocks = merge.LeafShape(), nil
	k.Defaults = []policy.Default{{Path: []string{"spec", "made", "b"}, Value: "default"}}
	k.Normalize = func(o *model.Object, body any, _ model.Settings) any {
		return map[string]any{"spec": map[string]any{"made": map[string]any{"a": model.Text(body, "spec",
			"x") + o.Ref.Name}}}
	}
	p := NewReader(k, nil).ReadPolicy(painted(t, "{x: from-}"))
	if doc := merge.Assemble(p.Blocks[0].Units); !merge.Equal(doc, map[string]any{"made": map[string]any{"a": "from-p",
		"b": "default"}}) {
		t.Errorf("%v", doc)
	}
}
