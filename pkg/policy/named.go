package policy

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// NamingRule says that objects of a kind name policies, and where: such a policy has no reference
// of its own and holds where they stand.
type NamingRule struct {
	Kind       model.GroupKind
	At         []string // a reference, a name, or a list of such, in the object
	Annotation string   // names in an annotation, separated by commas, each as NAME or NAMESPACE:NAME; "": At
	Explicit   bool     // the reference says the namespace itself, or names nothing; else it is the object's own
	// who names the object in turn, if it is no place itself: the policy holds where those stand
	NamedBy []NamingRule
	// the object is no place of traffic: the policy is in force for some requests, and the vendor
	// says whether that matters. Text that says for which; "": it is a place
	Apart string
}

// namedPlace is one place where a policy is named.
type namedPlace struct {
	node  topology.NodeID
	by    *model.Object // the object in which the name stands
	index int           // of the name among those of its kind in the object
}

// NewNamedSearch returns a Search that finds the policies of a kind where objects name them.
func NewNamedSearch(k *Kind, by []NamingRule) Search {
	return func(g *topology.Graph, in *model.Snapshot, _ model.Settings) Finder {
		places := slices.DeleteFunc(slices.Clone(by), func(n NamingRule) bool { return n.Apart != "" })
		found, apart := findNamedPlaces(k.GroupKind, places, g, in), findApartNamers(k.GroupKind, by, g, in)
		return Finder{Find: func(p *Policy) ([]Attached, []model.Problem) {
			var out []Attached
			for _, at := range found[p.Ref()] {
				a := Attached{Policy: p, Node: at.node, Ref: -1, Index: at.index}
				if how := k.Strategy.StatedBy(at.by); how != nil {
					a.Details = &TargetDetails{Strategy: how}
				}
				out = append(out, a)
			}
			var problems []model.Problem
			for _, text := range apart[p.Ref()] {
				p.NamedApart = true
				problems = append(problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
					Message: text}.At(p.Object))
			}
			if out == nil && len(p.Refs) == 0 && k.Filters == nil && !p.NamedApart {
				return nil, []model.Problem{unnamedProblem(p, places, in)}
			}
			return out, append(problems, k.reportMissingNamers(p, places, out, g)...)
		}}
	}
}

// findApartNamers returns what to say of policies that objects apart from traffic name.
func findApartNamers(gk model.GroupKind, by []NamingRule, g *topology.Graph,
	in *model.Snapshot) map[model.Ref][]string {
	out := map[model.Ref][]string{}
	for _, n := range by {
		if n.Apart == "" {
			continue
		}
		for _, o := range in.OfKind(n.Kind) {
			for _, ref := range n.ReadNames(gk, o) {
				if ref.Namespace == o.Ref.Namespace || n.Annotation == "" || g.IsGranted(n.Kind, o.Ref.Namespace, ref) {
					out[ref] = append(out[ref], fmt.Sprintf("%s names %s: it is in force for %s",
						o.Ref, ref, n.Apart))
				}
			}
		}
	}
	return out
}

// findNamedPlaces returns where the objects of a kind are named, by their references.
func findNamedPlaces(gk model.GroupKind, by []NamingRule, g *topology.Graph,
	in *model.Snapshot) map[model.Ref][]namedPlace {
	out := map[model.Ref][]namedPlace{}
	for _, n := range by {
		var above map[model.Ref][]namedPlace
		if n.NamedBy != nil {
			above = findNamedPlaces(n.Kind, n.NamedBy, g, in)
		}
		for _, o := range in.OfKind(n.Kind) {
			for i, ref := range n.ReadNames(gk, o) {
				if ref.Namespace != o.Ref.Namespace && n.Annotation != "" &&
					!g.IsGranted(n.Kind, o.Ref.Namespace, ref) {
					continue
				}
				if n.NamedBy != nil {
					for _, at := range above[o.Ref] {
						out[ref] = append(out[ref], namedPlace{at.node, o, i})
					}
					continue
				}
				for _, id := range g.Lookup(o.Ref) {
					out[ref] = append(out[ref], namedPlace{id, o, i})
				}
			}
		}
	}
	return out
}

// ReadNames returns the objects of a kind that an object names, in its order.
func (n NamingRule) ReadNames(gk model.GroupKind, o *model.Object) []model.Ref {
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

// reportMissingNamers says that objects above a policy's places, which may name others of its kind,
// are not in the input.
func (k *Kind) reportMissingNamers(p *Policy, by []NamingRule, at []Attached, g *topology.Graph) []model.Problem {
	kinds := map[model.GroupKind]bool{}
	var roots func([]NamingRule)
	roots = func(by []NamingRule) {
		for _, n := range by {
			kinds[n.Kind] = kinds[n.Kind] || n.NamedBy == nil
			roots(n.NamedBy)
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
		Message: strings.Join(slices.Compact(missing), ", ") + " is not in the input: whether it names another " +
			k.GroupKind.Kind + ", and which of them wins, is not known",
		Hint: "add its manifest"}.At(p.Object)}
}

// unnamedProblem says that nobody names a policy that has no reference of its own.
func unnamedProblem(p *Policy, by []NamingRule, in *model.Snapshot) model.Problem {
	var places []string
	for _, n := range by {
		places = append(places, cmp.Or(n.Annotation, strings.Join(n.At, "."))+" of a "+n.Kind.Kind)
	}
	for _, n := range by {
		if o := in.FindOmission(n.Kind, p.Ref().Namespace); o != nil {
			return model.Problem{Severity: model.Info, Code: model.NotEvaluated, Message: fmt.Sprintf(
				"nothing that was read names %s (%s); %s, and may name it", p.Ref(), strings.Join(places, ", "),
				o)}.At(p.Object)
		}
	}
	return model.Problem{Severity: model.Info, Code: model.NotReached,
		Message: fmt.Sprintf("%s is named nowhere (%s): it is in force nowhere", p.Ref(),
			strings.Join(places, ", "))}.At(p.Object)
}

// StatedBy returns the strategy that the object which names a policy states; nil if none is read
// there.
func (r StrategyRule) StatedBy(o *model.Object) *StrategyChoice {
	for _, place := range r.Read {
		if !place.InNamer {
			continue
		}
		if c, ok := r.Values[o.Body.Text(place.Path...)]; ok {
			return &c
		}
		return &r.Default
	}
	return nil
}
