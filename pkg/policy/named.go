package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Naming says that objects of a kind name policies, and where: a policy has no reference of its own then and holds where they stand.
type Naming struct {
	Kind       model.GroupKind
	At         []string // a reference, a name, or a list of such, in the object
	Annotation string   // names in an annotation, separated by commas, each as NAME or NAMESPACE:NAME; "": At
	Explicit   bool     // the reference says the namespace itself, or names nothing; else it is the object's own
	By         []Naming // who names the object in turn, if it is no place itself: the policy holds where those stand
}

// naming is one place where a policy is named.
type naming struct {
	node  topology.NodeID
	by    *model.Object // the object in which the name stands
	index int           // of the name among those of its kind in the object
}

// NamedBy finds the policies of a kind where objects name them.
func NamedBy(k *Kind, by []Naming) Search {
	return func(g *topology.Graph, in *model.Snapshot, _ model.Settings) Finder {
		found := named(k.GroupKind, by, g, in)
		return Finder{Find: func(p *Policy) ([]Attached, []model.Problem) {
			var out []Attached
			for _, at := range found[p.Ref()] {
				a := Attached{Policy: p, Node: at.node, Ref: -1, Index: at.index}
				if how := k.Strategy.By(at.by); how != nil {
					a.Here = &Here{How: how}
				}
				out = append(out, a)
			}
			if out == nil && len(p.Refs) == 0 && k.Filters == nil {
				return nil, []model.Problem{unnamed(p, by)}
			}
			return out, k.unknownNamers(p, by, out, g)
		}}
	}
}

// named is where the objects of a kind are named, by what they are called.
func named(gk model.GroupKind, by []Naming, g *topology.Graph, in *model.Snapshot) map[model.Ref][]naming {
	out := map[model.Ref][]naming{}
	for _, n := range by {
		var above map[model.Ref][]naming
		if n.By != nil {
			above = named(n.Kind, n.By, g, in)
		}
		for _, o := range in.Of(n.Kind) {
			for i, ref := range n.Names(gk, o) {
				if ref.Namespace != o.Ref.Namespace && n.Annotation != "" && !g.Granted(n.Kind, o.Ref.Namespace, ref) {
					continue
				}
				if n.By != nil {
					for _, at := range above[o.Ref] {
						out[ref] = append(out[ref], naming{at.node, o, i})
					}
					continue
				}
				for _, id := range g.Lookup(o.Ref) {
					out[ref] = append(out[ref], naming{id, o, i})
				}
			}
		}
	}
	return out
}

// Names are the objects of a kind that an object names, in its order.
func (n Naming) Names(gk model.GroupKind, o *model.Object) []model.Ref {
	own := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: o.Ref.Namespace} // of kinds with namespaces
	var out []model.Ref
	if n.Annotation != "" {
		for _, name := range strings.Split(o.Annotations[n.Annotation], ",") {
			ref := own
			ref.Name = strings.TrimSpace(name)
			if ns, rest, ok := strings.Cut(ref.Name, ":"); ok {
				ref.Namespace, ref.Name = ns, rest
			}
			if ref.Name != "" {
				out = append(out, ref)
			}
		}
		return out
	}
	at := o.Body.At(n.At...)
	all := []model.Body{at}
	if at.IsList() {
		all = nil
		for _, e := range at.Items {
			all = append(all, e)
		}
	}
	for _, e := range all {
		ref := own
		switch {
		case e.IsText():
			ref.Name = e.Text()
		case e.Text("group") != gk.Group || e.Text("kind") != gk.Kind:
			continue
		case n.Explicit:
			ref.Namespace, ref.Name = e.Text("namespace"), e.Text("name")
		default:
			ref.Name = e.Text("name")
		}
		if ref.Name != "" && (ref.Namespace != "" || !n.Explicit) {
			out = append(out, ref)
		}
	}
	return out
}

// unknownNamers says that objects above a policy's places, which may name others of its kind, are not in the input.
func (k *Kind) unknownNamers(p *Policy, by []Naming, at []Attached, g *topology.Graph) []model.Problem {
	kinds := map[model.GroupKind]bool{}
	var roots func([]Naming)
	roots = func(by []Naming) {
		for _, n := range by {
			kinds[n.Kind] = kinds[n.Kind] || n.By == nil
			roots(n.By)
		}
	}
	roots(by)
	var missing []string
	for _, a := range at {
		for _, above := range g.Parents(topology.Traffic, a.Node) {
			if n := g.Node(above); n.Object == nil && kinds[n.Ref.GroupKind()] {
				missing = append(missing, n.Ref.String())
			}
		}
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	return []model.Problem{model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
		Message: strings.Join(slices.Compact(missing), ", ") + " is not in the input: whether it names another " + k.GroupKind.Kind + ", and which of them wins, is not known",
		Hint:    "add its manifest"}.At(p.Object)}
}

// unnamed says that nobody names a policy that has no reference of its own.
func unnamed(p *Policy, by []Naming) model.Problem {
	var places []string
	for _, n := range by {
		places = append(places, cmp.Or(n.Annotation, strings.Join(n.At, "."))+" of a "+n.Kind.Kind)
	}
	return model.Problem{Severity: model.Info, Code: model.NotReached,
		Message: fmt.Sprintf("%s is named nowhere (%s): it is in force nowhere", p.Ref(), strings.Join(places, ", "))}.At(p.Object)
}

// By is the strategy that the object which names a policy states; nil if none is read there.
func (r StrategyRule) By(o *model.Object) *Choice {
	for _, place := range r.Read {
		if !place.By {
			continue
		}
		if c, ok := r.Values[o.Body.Text(place.Path...)]; ok {
			return &c
		}
		return &r.Default
	}
	return nil
}
