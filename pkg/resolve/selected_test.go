package resolve

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
	manifests := append(shop(), paint("app/p", "HTTPRoute/shop", ""))
	for i := range 60 {
		manifests = append(manifests, fmt.Sprintf("apiVersion: v1\nkind: Service\nmetadata: {name: s%d, namespace: ns%d, labels: {app: a%d, %s: ''}}\n", i, i%3, i%4, []string{"x", "y"}[i%2]))
	}
	r := resolved(t, manifests...)
	k := &attacher{Kind: r.paints()}
	for _, text := range []string{"", "app=a1", "app==a2,x=", "app in (a1)", "app in (a1,a3)", "app", "!x", "app!=a1", "y=,app notin (a3)", "app=none", "none=", "z in ()"} {
		selector, err := labels.Parse(text)
		if err != nil {
			selector = labels.Nothing()
		}
		for _, from := range []string{"", "Same", "All"} {
			ref := policy.TargetRef{Ref: model.Ref{Kind: "Service", Namespace: "ns1"}, Selection: &policy.Selection{Labels: selector, Unlabelled: true, From: from}}
			picked := func(objects []*model.Object) (names []string) {
				for _, o := range objects {
					if ref.Selection.SelectsObject(o) && ref.Selection.IncludesNamespace(o.Ref.Namespace == "ns1", nil) {
						names = append(names, o.Ref.FullName())
					}
				}
				return names
			}
			if got, want := picked(k.selectorCandidates(ref)), picked(r.Snapshot.OfKind(ref.Ref.GroupKind())); !slices.Equal(got, want) {
				t.Errorf("%q from %q: %v, want %v", text, from, got, want)
			}
		}
	}
}
