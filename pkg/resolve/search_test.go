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

// parcels are brought to houses by roads, which are no targets. Stamps may say what is in them.
const parcels = `apiVersion: dopolicy.dev/v1alpha1
kind: Vendor
name: post
cluster: [House.x.io]
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Parcel.x.io
family: post.roads
effective: [cluster]
namespaces: any
refs: [{func: post.Deliver}]
members: [Stamp.x.io]
compare: [level, {func: post.StampsFirst}, namespacedName]
content: {blocks: {}}
strategy: merge defaults
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Stamp.x.io
namespaces: any
refs: [{func: post.Stick}]
content: {blocks: {overrides: spec.stamp}}
strategy: merge overrides
`

var (
	houses = model.GroupKind{Group: "x.io", Kind: "House"}
	roads  = model.GroupKind{Group: "x.io", Kind: "Road"}
)

// road links every road to the houses that it names.
func road(l *build.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	l.DeclareFamily("post.roads", topology.Binding, topology.Cluster)
	for _, o := range in.OfKind(houses) {
		l.AddObject(topology.Cluster, o)
	}
	for _, o := range in.OfKind(roads) {
		id := l.AddObject(topology.Binding, o)
		for _, h := range o.Body.At("spec", "to").Items {
			if house := in.Get(model.Ref{Group: "x.io", Kind: "House", Name: h.Text()}); house != nil {
				l.Connect("post.roads", id, l.AddObject(topology.Cluster, house))
			} else {
				l.Connect("post.roads", id, l.AddRef(topology.Cluster, model.Ref{Group: "x.io", Kind: "House",
					Name: h.Text()}))
			}
		}
	}
	return nil
}

// deliver attaches a parcel to the houses of its spec.to by the road spec.by; made counts the
// searches that are made.
func deliver(made *int) policy.Search {
	return func(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
		*made++
		house := func(name string) topology.NodeID {
			return g.Lookup(model.Ref{Group: "x.io", Kind: "House", Name: name})[0]
		}
		return policy.Finder{Find: func(p *policy.Policy) (out []policy.Attached, problems []model.Problem) {
			for _, to := range p.Object.Body.At("metadata", "annotations").Fields {
				a := policy.Attached{Policy: p, Node: house(to.Text()), Ref: -1}
				if by := p.Object.Labels["by"]; by != "" {
					a.Details = &policy.TargetDetails{Parents: g.Lookup(model.Ref{Group: "x.io", Kind: "Road",
						Namespace: "town", Name: by})}
				}
				out = append(out, a, a)
			}
			return out, nil
		}, FindUnattached: func(p *policy.Policy) []policy.UnattachedTarget {
			return []policy.UnattachedTarget{{Node: house("b"), Why: "it rained"}, {Node: house("a"), InForce: true,
				Why: "it waits there"}}
		}}
	}
}

// stick attaches a stamp to house a, where it says of every parcel what its own spec says of none.
func stick(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.Finder {
	return policy.Finder{Find: func(p *policy.Policy) ([]policy.Attached, []model.Problem) {
		units := []merge.Unit{{Path: merge.KeyPath("fragile"), Value: "of " + p.Ref().Name}}
		return []policy.Attached{{Policy: p, Node: g.Lookup(model.Ref{Group: "x.io", Kind: "House", Name: "a"})[0],
			Ref: -1, Level: topology.Binding, Details: &policy.TargetDetails{Units: units}}}, nil
	}}
}

func posted(t *testing.T, manifests ...string) (*Resolution, int) {
	t.Helper()
	var in input
	in.add(t, manifests...)
	made := 0
	rank := func(a *policy.Attached) int { return strings.Index("SP", a.Policy.Ref().Kind[:1]) }
	c, err := descriptor.NewCatalog([]form.Source{{Name: "kinds.yaml", Text: []byte(parcels)}}, nil, nil,
		descriptor.Functions{Attaching: descriptor.Attaching{
			Links:  []build.Linker{func(b *build.Builder) { b.AddExtension(road) }},
			Search: map[string]policy.Search{"post.Deliver": deliver(&made), "post.Stick": stick}},
			Merging: descriptor.Merging{Compare: map[string]policy.Comparator{"post.StampsFirst": func(a,
				b *policy.Attached) int {
				return rank(a) - rank(b)
			}}}})
	if err != nil {
		t.Fatal(err)
	}
	s := model.NewSnapshot(in.objects, nil)
	return Run(s, build.Graph(s, c.Settings(), c.Links()...), c), made
}

const town = `apiVersion: x.io/v1
kind: House
metadata: {name: a}
---
apiVersion: x.io/v1
kind: House
metadata: {name: b}
---
apiVersion: x.io/v1
kind: Road
metadata: {name: high, namespace: town}
spec: {to: [a, c]}
---
apiVersion: x.io/v1
kind: Road
metadata: {name: low, namespace: town}
spec: {to: [a]}
`

func parcel(name, labels, to string) string {
	return "apiVersion: x.io/v1\nkind: Parcel\nmetadata: {name: " + name + ", namespace: town, labels: " + labels +
		", annotations: " + to + "}\nspec: {fragile: 'no', " + name + ": 1}\n"
}

// in a family of a vendor, once for an input, with a member that says something of its own at a
// target
func TestSearch(t *testing.T) {
	stamp := "apiVersion: x.io/v1\nkind: Stamp\nmetadata: {name: red, namespace: town}\nspec: {stamp: {fragile: never}}\n"
	documents := strings.Split(town, "---\n")
	r, made := posted(t, append(documents, parcel("book", "{}", "{x: a, y: c}"), parcel("vase", "{by: high}",
		"{x: a}"), stamp)...)
	if made != 1 {
		t.Errorf("%d searches were made", made)
	}
	k := r.Kind(model.GroupKind{Group: "x.io", Kind: "Parcel"})
	var got []string
	k.EachContext(func(id topology.NodeID, s StackID) {
		words := r.Node(id).Ref.Name + ":"
		for _, rule := range k.Verdict(s).Result.Rules {
			words += " " + rule.Name + "=" + k.Verdict(s).Layers[rule.From[0].Layer].Policy.Ref().Name
			for _, l := range rule.Lost {
				words += "(" + string(l.Reason) + " " + k.Verdict(s).Layers[l.From.Layer].Policy.Ref().Name + ")"
			}
		}
		got = append(got, words)
	})
	want := []string{"a: book=book fragile=red(SameLevelOrder book)(LessSpecificOverrides vase) vase=vase",
		"c: book=book fragile=book"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	a := r.Graph.Lookup(model.Ref{Group: "x.io", Kind: "House", Name: "a"})[0]
	all := k.Paths(a, k.Contexts(a)[0])
	book, vase := k.Policies[0], k.Policies[1]
	if len(all) != 2 || len(k.PathsVia(book, a, all)) != 2 {
		t.Errorf("%d ways lead to a, %d for the book", len(all), len(k.PathsVia(book, a, all)))
	}
	if ways := k.PathsVia(vase, a, all); len(ways) != 1 || r.Node(ways[0][0]).Ref.Name != "high" {
		t.Errorf("the vase comes by %v", ways)
	}
	if apart := k.UnattachedTargets(book); len(apart) != 2 || apart[0].Node != a || !apart[0].InForce ||
		apart[1].Why != "it rained" {
		t.Errorf("%+v", apart)
	}
}

func TestSearchFindsNothing(t *testing.T) {
	r, made := posted(t, strings.Split(town, "---\n")...)
	if k := r.Kind(model.GroupKind{Group: "x.io", Kind: "Parcel"}); made != 0 || len(k.Policies) != 0 ||
		len(r.Problems) != 0 {
		t.Errorf("%d searches for %d policies, %v", made, len(k.Policies), r.Problems)
	}
	r, _ = posted(t, parcel("lost", "{}", "{}"))
	if len(r.Problems) != 0 {
		t.Error(r.Problems)
	}
}
