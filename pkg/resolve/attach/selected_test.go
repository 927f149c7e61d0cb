package attach

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// Looking only at candidates finds what looking at all objects finds, in the same order.
func TestCandidates(t *testing.T) {
	var objects []*model.Object
	for i := range 60 {
		ref := model.Ref{Kind: "Service", Namespace: fmt.Sprintf("ns%d", i%3), Name: fmt.Sprintf("s%d", i)}
		objects = append(objects, &model.Object{Ref: ref, Labels: map[string]string{"app": fmt.Sprintf("a%d", i%4),
			[]string{"x", "y"}[i%2]: ""}})
	}
	r := NewTargets(model.NewSnapshot(objects, nil), nil, nil)
	k := &attacher{res: r}
	for _, text := range []string{"", "app=a1", "app==a2,x=", "app in (a1)", "app in (a1,a3)", "app", "!x", "app!=a1",
		"y=,app notin (a3)", "app=none", "none=", "z in ()"} {
		selector, err := labels.Parse(text)
		if err != nil {
			selector = labels.Nothing()
		}
		for _, from := range []string{"", "Same", "All"} {
			ref := policy.TargetRef{Ref: model.Ref{Kind: "Service", Namespace: "ns1"},
				Selection: &policy.Selection{Labels: selector, Unlabelled: true, From: from}}
			picked := func(objects []*model.Object) (names []string) {
				for _, o := range objects {
					if ref.Selection.SelectsObject(o) &&
						ref.Selection.IncludesNamespace(o.Ref.Namespace == "ns1", nil) {
						names = append(names, o.Ref.FullName())
					}
				}
				return names
			}
			if got, want := picked(k.selectorCandidates(ref)),
				picked(r.Snapshot.OfKind(ref.Ref.GroupKind())); !slices.Equal(got, want) {
				t.Errorf("%q from %q: %v, want %v", text, from, got, want)
			}
		}
	}
}
