package report

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
)

// TestItemsOfOneStack: what they share is packed once, and each is whole all the same.
func TestItemsOfOneStack(t *testing.T) {
	gateway := model.Ref{Group: "g", Kind: "Gateway", Name: "gw"}
	roads := []view.Path{{Gateway: "infra/gw", Listener: "a"}, {Gateway: "infra/gw", Listener: "b"}}
	one := view.EffectivePolicy{PolicyKind: "P.g", Paths: roads, Spec: map[string]any{"a": 1}, ID: "1",
		Policies: []view.PolicyUse{{Policy: &gateway, Target: &gateway, Role: "contributing"}},
		Rules:    []view.Rule{{Name: "a", Value: 1, Sources: []view.Source{{Target: &gateway}}}}}
	other := one
	other.ID, other.Policies = "2", []view.PolicyUse{{Target: &gateway, Role: "lost"}}
	seen := one // by another target, from which the policy stands elsewhere
	seen.Rules = []view.Rule{{Name: "a", Value: 1, Sources: one.Rules[0].Sources, Why: "default of Gateway"}}
	empty := view.EffectivePolicy{PolicyKind: "P.g"}
	r := hostileReport()
	r.Effective.Items = nil
	for i, item := range []view.EffectivePolicy{one, one, other, one, empty, other, empty, one, seen} {
		item.Target = model.Ref{Kind: "HTTPRoute", Name: fmt.Sprint("r", i), Section: "rule-1"}
		switch i {
		case 1:
			item.Unread = []string{"httproutes in a"}
		case 3:
			item.Paths = roads[:1]
		case 5:
			item.Paths = []view.Path{}
		}
		r.Effective.Items = append(r.Effective.Items, item)
	}
	r.Picture = &graph.Topology{Nodes: r.Topology.Nodes, Edges: []graph.GraphEdge{}}
	r.Classes = &prove.RuleClassList{Undecided: []prove.Undecided{}, LeftOut: []string{"b"}, Items: []prove.RuleClasses{
		{Rule: model.Ref{Name: "r0"}, Classes: []prove.RuleClass{{Class: "host a", Command: "curl http://a/"}},
			More: 1}}}
	text, err := packedOf(t, r).packText()
	if err != nil {
		t.Fatal(err)
	}
	if got := unpack(t, text); !reflect.DeepEqual(got, plain(t, r)) {
		t.Errorf("%v\nwant\n%v", got, plain(t, r))
	}
}
