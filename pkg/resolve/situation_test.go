package resolve

import (
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// bells are a kind whose fold depends on the target: the target's own tone sounds where nobody says
// another, and the order of policies begins with those of the target's namespace.
const bells = `apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Bell.x.io
rules: whole
compare: [created, name]
parts: [{name: policy, settings: spec}]
scopes: [{name: in, family: x.none, effective: [workload], legs: [{name: all, find: {func: x.All}}], parts: [policy], situation: {func: x.Tone}, result: application}]
`

// ringing resolves the manifests, and lists by workload what sounds there: the tone that is built
// in, then those of policies in order.
func ringing(t *testing.T, manifests ...string) (*Resolution, map[string]string) {
	t.Helper()
	var in input
	in.add(t, manifests...)
	all := func(g *topology.Graph, _ *model.Snapshot, _ model.Settings) policy.PointFinder {
		return func(*policy.Policy) ([]topology.NodeID, []model.Problem) {
			return slices.DeleteFunc(slices.Clone(g.Order(topology.Namespaced)),
				func(id topology.NodeID) bool { return g.Node(id).Role != topology.Workload }), nil
		}
	}
	tone := func(g *topology.Graph, in *model.Snapshot, _ model.Settings) func(topology.NodeID) *policy.Situation {
		return func(id topology.NodeID) *policy.Situation {
			n := g.Node(id)
			own := policy.NewBuiltin("own tone", n.Object, []string{"metadata"}, nil)
			home := func(p *policy.Policy) int {
				return strings.Compare(n.Ref.Namespace, p.Ref().Namespace) * strings.Compare(n.Ref.Namespace,
					p.Ref().Namespace)
			}
			return &policy.Situation{Key: n.Ref.Namespace + n.Object.Labels["tone"], Builtins: []*policy.Policy{own},
				AlwaysInForce: n.Object.Labels["tone"] != "",
				Compare:       func(a, b *policy.Policy) int { return home(a) - home(b) },
				Place:         func(*policy.Policy) (topology.NodeID, topology.Role) { return id, topology.Workload },
				Fold: func(layers []*policy.Policy) merge.PlanFunc {
					return func(merge.Stack) (units []merge.Unit, effects []merge.Effect) {
						for i, p := range layers {
							name := p.Ref().Name
							if p.Builtin != "" {
								name = n.Object.Labels["tone"]
							}
							units = append(units, merge.Unit{Path: merge.KeyPath("tones", name), Value: name,
								From: []merge.Source{{Layer: i, Block: merge.Bare}}})
						}
						return units, nil
					}
				}}
		}
	}
	c, err := descriptor.NewCatalog([]form.Source{{Name: "kinds.yaml", Text: []byte(bells)}}, nil, nil,
		descriptor.Functions{Attaching: descriptor.Attaching{
			Links: []build.Linker{func(b *build.Builder) { b.AddWorkloads(model.GroupKind{Kind: "Pod"}) }},
			Legs:  map[string]policy.PointSearch{"x.All": all}},
			Merging: descriptor.Merging{Situations: map[string]policy.SituationMaker{"x.Tone": tone}}})
	if err != nil {
		t.Fatal(err)
	}
	s := model.NewSnapshot(in.objects, nil)
	r := Run(s, build.Graph(s, c.Settings(), c.Links()...), c)
	out := map[string]string{}
	k := r.Kind(model.GroupKind{Group: "x.io", Kind: "Bell"})
	k.EachContext(func(id topology.NodeID, s StackID) {
		var names []string
		for _, rule := range k.Verdict(s).Result.Rules {
			names = append(names, rule.Path[1].Name)
		}
		out[r.Node(id).Ref.Name] = strings.Join(names, " ")
	})
	return r, out
}

func bell(name, namespace, created string) string {
	return "apiVersion: x.io/v1\nkind: Bell\nmetadata: {name: " + name + ", namespace: " + namespace + created + "}\n"
}

func ringer(name, namespace, tone string) string {
	return "apiVersion: v1\nkind: Pod\nmetadata: {name: " + name + ", namespace: " + namespace + ", labels: {tone: '" +
		tone + "'}}\n"
}

func TestSituationOrdersByTarget(t *testing.T) { // engine E17
	_, got := ringing(t, ringer("p", "a", "c"), ringer("q", "b", "d"), bell("x", "a", ""), bell("y", "b", ""),
		bell("w", "b", ""))
	for name, want := range map[string]string{"p": "c x w y", "q": "d w y x"} {
		if got[name] != want {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}

func TestSituationWithoutPolicies(t *testing.T) {
	r, got := ringing(t, ringer("p", "a", "c"), ringer("mute", "a", ""))
	if got["p"] != "c" || len(got) != 1 {
		t.Errorf("got %v", got)
	}
	if k := r.Kind(model.GroupKind{Group: "x.io", Kind: "Bell"}); !k.IsInUse() {
		t.Error("the kind has an answer and is not in use")
	}
}

func TestSituationIgnoresAgeRunByRun(t *testing.T) { // engine E9: one without a time spoils its own namespace only
	const old, young = `, creationTimestamp: 2025-01-01T00:00:00Z`, `, creationTimestamp: 2026-01-01T00:00:00Z`
	_, got := ringing(t, ringer("p", "a", "c"), bell("z", "a", old), bell("m", "a", young), bell("b", "b", young),
		bell("k", "b", ""))
	if want := "c z m b k"; got["p"] != want {
		t.Errorf("got %q, want %q", got["p"], want)
	}
}

func TestSituationShares(t *testing.T) { // engine E12: one fold for targets with one key and the same policies
	r, _ := ringing(t, ringer("p", "a", "c"), ringer("q", "a", "c"), ringer("r", "a", "d"), bell("x", "a", ""))
	if n := len(r.Kind(model.GroupKind{Group: "x.io", Kind: "Bell"}).Stacks()); n != 2 {
		t.Errorf("%d stacks, want 2", n)
	}
}
