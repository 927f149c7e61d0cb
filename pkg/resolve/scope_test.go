package resolve

import (
	"fmt"
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

const twoLegs = `apiVersion: dopolicy.dev/v1alpha1
kind: Vendor
name: x
settings:
- {name: more, like: {item: Paint.x.io}, doc: more kinds}
---
apiVersion: dopolicy.dev/v1alpha1
kind: PolicyKind
for: Paint.x.io
compare: [{label: rank, type: number}, name, index]
rules: ["**"]
strategy: {default: patch}
parts: [{name: item, each: spec.items, settings: set}]
scopes:
- name: out
  family: x.out
  effective: [house, room]
  legs:
  - {name: caller, roles: [dataplane], find: {func: x.Callers}}
  - {name: place, of: part, find: {func: x.Places}}
  parts: [item]
  fold: {func: x.Last}
`

// linkHouses makes callers of Walkers, and houses with their rooms. Every walker whose label says
// so uses the attic through the kitchen.
func linkHouses(l *build.Extender, in *model.Snapshot, _ model.Settings) []model.Problem {
	l.DeclareFamily("x.out", "house", "room")
	var by []topology.NodeID
	for _, o := range in.OfKind(model.GroupKind{Group: "x.io", Kind: "Walker"}) {
		id := l.AddObject(topology.Proxy, o)
		if o.Labels["climbs"] != "" {
			by = append(by, id)
		}
	}
	for _, o := range in.OfKind(model.GroupKind{Group: "x.io", Kind: "House"}) {
		house := l.AddObject("house", o)
		rooms := l.AddSections(house, "room", []string{"kitchen", "attic"})
		for _, room := range rooms {
			l.Connect("x.out", house, room)
		}
		l.AddUse(rooms[1], topology.NodeUse{At: rooms[0], By: by})
	}
	return nil
}

// scopes resolves manifests with the kind above: items are for the walkers with the policy's label,
// in the places that they name.
func scopes(t *testing.T, settings []string, manifests ...string) *Resolution {
	t.Helper()
	var in input
	in.add(t, manifests...)
	callers := func(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.PointFinder {
		return func(p *policy.Policy) (out []topology.NodeID, _ []model.Problem) {
			for _, o := range in.OfKind(model.GroupKind{Group: "x.io", Kind: "Walker"}) {
				if want := p.Label("for"); want == "" || o.Labels[want] != "" {
					out = append(out, g.Lookup(o.Ref)...)
				}
			}
			return out, nil
		}
	}
	places := func(g *topology.Graph, in *model.Snapshot, _ model.Settings) policy.PointFinder {
		return func(p *policy.Policy) (out []topology.NodeID, _ []model.Problem) {
			for _, o := range in.OfKind(model.GroupKind{Group: "x.io", Kind: "House"}) {
				out = append(out, g.Lookup(o.Ref.WithSection(p.Entry.Field("room").Text()))...)
			}
			return out, nil
		}
	}
	last := func(s merge.Stack) (units []merge.Unit, effects []merge.Effect) {
		for i, l := range s.Layers {
			for _, u := range l.Blocks[0].Units {
				u.From = []merge.Source{{Layer: i, Block: merge.Bare}}
				outcome := merge.Dropped
				if i == len(s.Layers)-1 {
					units, outcome = append(units, u), merge.Taken
				}
				effects = append(effects, merge.Effect{Path: u.Path, Rule: u.Path.String(), Value: u.Value,
					From: u.From, Action: outcome, Reason: merge.MoreSpecificWins,
					Other: []merge.Source{{Layer: len(s.Layers) - 1, Block: merge.Bare}}})
			}
		}
		return units, effects
	}
	f := descriptor.Functions{Attaching: descriptor.Attaching{Legs: map[string]policy.PointSearch{"x.Callers": callers,
		"x.Places": places}},
		Merging: descriptor.Merging{Folds: map[string]merge.PlanFunc{"x.Last": last}}}
	c, err := descriptor.NewCatalog([]form.Source{{Name: "kinds.yaml", Text: []byte(twoLegs)}}, nil, settings, f)
	if err != nil {
		t.Fatal(err)
	}
	s := model.NewSnapshot(in.objects, nil)
	return Run(s, build.Graph(s, c.Settings(), func(b *build.Builder) { b.AddExtension(linkHouses) }), c)
}

func walker(name, label string) string {
	return fmt.Sprintf("apiVersion: x.io/v1\nkind: Walker\nmetadata: {name: %s, namespace: app, labels: {%s: 'y'}}\n",
		name, label)
}

func items(kind, name, rank, label, rooms string) string {
	var list []string
	for _, room := range strings.Fields(rooms) {
		list = append(list, fmt.Sprintf("{room: %s, set: {wall: %s-%s}}", room, name, strings.Trim(room, "'")))
	}
	return fmt.Sprintf(
		"apiVersion: x.io/v1\nkind: %s\nmetadata: {name: %s, namespace: app, labels: {rank: '%s', for: '%s'}}\nspec: {items: [%s]}\n", kind, name, rank, label, strings.Join(list, ", "))
}

// answers are what is in force at a house and its rooms, for whom: "kitchen a,b: wall".
func (r *Resolution) answers(kind string) []string {
	var out []string
	for _, k := range r.Kinds {
		if k.GroupKind.Kind != kind {
			continue
		}
		k.EachContext(func(id topology.NodeID, s StackID) {
			var callers []string
			for _, way := range k.Paths(id, s) {
				word := ""
				for _, step := range way {
					switch n := r.Node(step); n.Role {
					case topology.Proxy:
						word += n.Ref.Name
					case "room":
						word += "@" + n.Ref.Section
					}
				}
				callers = append(callers, word)
			}
			slices.Sort(callers)
			out = append(out, fmt.Sprintf("%s %s: %v", r.Node(id).Ref.Section, strings.Join(callers, ","),
				k.Verdict(s).Result.Rules[0].Value))
		})
	}
	slices.Sort(out)
	return out
}

const house = "apiVersion: x.io/v1\nkind: House\nmetadata: {name: h, namespace: app}\n"

func TestTwoLegs(t *testing.T) {
	world := []string{walker("a", "climbs"), walker("b", "runs"), house}
	for _, c := range []struct {
		name     string
		policies []string
		want     []string
	}{
		{"what is above holds below, and who is not selected has nothing",
			[]string{items("Paint", "p", "1", "climbs", "''")},
			[]string{" a: p-", "attic a@kitchen: p-", "kitchen a: p-"}},
		{"the order of the kind decides, not depth", []string{items("Paint", "p", "2", "", "''"),
			items("Paint", "q", "1", "", "kitchen")},
			[]string{" a,b: p-", "attic a@kitchen: p-", "kitchen a,b: p-"}},
		{"for each group of callers its own", []string{items("Paint", "p", "1", "", "''"),
			items("Paint", "q", "2", "runs", "kitchen")},
			[]string{" a,b: p-", "attic a@kitchen: p-", "kitchen a: p-", "kitchen b: q-kitchen"}},
		{"a place with something of its own keeps it, also where nobody uses it",
			[]string{items("Paint", "p", "1", "", "kitchen"), items("Paint", "q", "2", "", "attic")},
			[]string{"attic a@kitchen,b: q-attic", "kitchen a,b: p-kitchen"}},
		{"items of one policy in their order", []string{items("Paint", "p", "1", "", "kitchen ''")},
			[]string{" a,b: p-", "attic a@kitchen: p-", "kitchen a,b: p-"}},
	} {
		if got := scopes(t, nil, slices.Concat(world, c.policies)...).answers("Paint"); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.name, got, c.want)
		}
	}
}

// A setting may name kinds that are like a described one.
func TestKindsAlike(t *testing.T) {
	r := scopes(t, []string{`x.more=[{"group":"x.io","kind":"Tint","scope":"item"}]`}, walker("a", "climbs"), house,
		items("Tint", "p", "1", "", "kitchen"))
	if got := r.answers("Tint"); !slices.Equal(got, []string{"attic a@kitchen: p-kitchen", "kitchen a: p-kitchen"}) {
		t.Errorf("%q", got)
	}
}

// Two policies that only their positions tell apart have no order, and that is said where they
// differ.
func TestTies(t *testing.T) {
	other := strings.Replace(items("Paint", "p", "1", "", "kitchen"), "namespace: app", "namespace: web", 1)
	r := scopes(t, nil, walker("a", "climbs"), house, items("Paint", "p", "1", "", "kitchen"),
		strings.Replace(other, "p-kitchen", "other", 1))
	n := 0
	for _, k := range r.Kinds {
		k.EachStackInForce(func(s StackID) { n += len(k.Verdict(s).Problems) })
	}
	if n == 0 {
		t.Error("a tie is not said")
	}
}
