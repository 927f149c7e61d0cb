package decode

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/paint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// catalog reads the descriptors of a user, without any vendor.
func catalog(t testing.TB, text string, settings ...string) *descriptor.Catalog {
	t.Helper()
	c, err := descriptor.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: []byte(text)}}, settings,
		descriptor.Functions{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// described is the kind that a descriptor with the given lines describes.
func described(t testing.TB, lines ...string) *policy.Kind {
	t.Helper()
	return catalog(t, paint.Kind(lines...)).Kind(paint.GroupKind)
}

// usual is a kind without a descriptor.
func usual(t testing.TB) *policy.Kind {
	t.Helper()
	k := *described(t)
	k.Vendor = ""
	return &k
}

// painted is a policy with the given spec, in flow style.
func painted(t testing.TB, spec string) *model.Object {
	t.Helper()
	return paint.Read(t, paint.Policy(spec))
}

// discovered lists the kinds of the manifests that have no descriptor.
func discovered(t testing.TB, manifests string, settings ...string) ([]*policy.Kind, *model.Snapshot) {
	t.Helper()
	in := model.NewSnapshot(paint.Objects(manifests), nil)
	kinds, _ := catalog(t, "", settings...).Discover(in)
	return kinds, in
}

// decoded is the only policy of the manifests, by its kind.
func decoded(t testing.TB, manifests string, settings ...string) (*policy.Kind, *policy.Policy) {
	t.Helper()
	kinds, in := discovered(t, manifests, settings...)
	if len(kinds) != 1 {
		t.Fatalf("kinds %v", kinds)
	}
	return kinds[0], NewReader(kinds[0], &expression.Conditions{}).ReadPolicy(in.OfKind(kinds[0].GroupKind)[0])
}
