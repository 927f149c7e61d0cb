package policy

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Scope is one family of paths on which a kind has results. A kind with scopes has several, each with parts of the policies, places where
// they hold, and a fold of its own.
type Scope struct {
	Name      string // printed as the paths' direction
	Family    string // a part that holds at a node holds at what is below it here
	Effective []topology.Role
	Legs      []Leg
	Parts     []string
	Fold      merge.PlanFunc
	Situation Situator // makes the fold instead, for every target
	Compare   []Key    // nil: the kind's
	Split     Splitter
	Result    string // what the rules are: names, evaluation, application, display
}

// Ordered reports whether the order of the scope's rules means something (engine E17).
func (s *Scope) Ordered() bool { return ordered(s.Result) }

// resultWords are what the rules of a result can be.
func resultWords() []string { return []string{"names", "evaluation", "application", "display"} }

func ordered(result string) bool { return result != "" && result != "names" }

// Leg is one place that a part must fit: it is on a path if every leg has a node on it. The nodes of the last leg are the targets, or are
// above them; those of another one are who calls.
type Leg struct {
	Name   string
	Roles  []topology.Role // of the nodes that count here; nil: all
	Shared bool            // all parts of a policy have the same nodes
	Find   LegMaker        // nil: what the references of the policy's kind find
}

// Splitter prepares the split of what holds at a target into several results, one for each name: it says for which names a part is, nil if
// for none in particular. Parts that are for none make a result of their own.
type Splitter func(in *model.Snapshot, s model.Settings) func(part *Policy) []string

// LegMaker prepares the search for the nodes of a leg.
type LegMaker func(g *topology.Graph, in *model.Snapshot, s model.Settings) LegFinder

// LegFinder finds the nodes of one leg of a policy's part; of the policy itself where the leg is shared.
type LegFinder func(p *Policy) ([]topology.NodeID, []model.Problem)

// Part is one set of settings of several in one object: each entry of a list, or what stands at a path.
type Part struct {
	Name      string
	Each, At  []string  // neither: the whole object
	Settings  []string  // inside the entry
	Unless    []string  // read only where this path is absent
	As        string    // how parts are printed, if not by the name
	Not       [2]string // a setting and its value with which the part is not read
	Normalize PartNormalizer
}

// PartNormalizer makes of a part's settings, as they are written, what the vendor reads: types, defaults of the API. It may change them.
type PartNormalizer func(part *Policy, settings any, s model.Settings) any

// NoPart is what a PartNormalizer makes of what is no part after all.
type NoPart struct{}

// Labeler prepares the completion of labels: it says what those of an object are once its vendor has written them.
type Labeler func(in *model.Snapshot, s model.Settings) func(o *model.Object) map[string]string

// ScopeFunctions are what labels, scopes and parts may name.
type ScopeFunctions struct {
	Labels map[string]Labeler
	Legs   map[string]LegMaker
	Folds  map[string]merge.PlanFunc
	Splits map[string]Splitter
	Typed  map[string]PartNormalizer

	Situations map[string]Situator
}

// PartsOf cuts a policy into the parts that a scope reads, in their order.
func (k *Kind) PartsOf(p *Policy, s *Scope) []*Policy {
	var out []*Policy
	if p.Kind.GroupKind != k.GroupKind { // a member
		k = p.Kind.In(s)
	}
	for _, name := range s.Parts {
		i := slices.IndexFunc(k.Parts, func(part Part) bool { return part.Name == name })
		if i < 0 {
			continue
		}
		part := &k.Parts[i]
		body := p.Object.Body
		if part.Not[0] != "" && k.settings.Text(k.Vendor+"."+part.Not[0]) == part.Not[1] || part.Unless != nil && body.At(part.Unless...).Len() > 0 {
			continue
		}
		if part.Each == nil && part.At == nil { // also one without settings
			out = k.part(out, p, part, body, part.As, nil, len(out))
			continue
		}
		if part.Each == nil {
			if one := body.At(part.At...); part.Settings == nil && one.IsObject() || part.Settings != nil && one.Has(part.Settings[0]) {
				out = k.part(out, p, part, one, cmp.Or(part.As, part.Name), part.At, len(out))
			}
			continue
		}
		for i, entry := range body.At(part.Each...).Items {
			at := append(slices.Clone(part.Each), strconv.Itoa(i))
			out = k.part(out, p, part, entry, cmp.Or(part.As, part.Name)+"["+strconv.Itoa(i)+"]", at, i)
		}
	}
	return out
}

// part adds one part to a list, unless it is none.
func (k *Kind) part(to []*Policy, p *Policy, part *Part, entry model.Body, name string, at []string, index int) []*Policy {
	out := &Policy{Kind: k, Object: p.Object, Labels: p.Labels, Whole: p, Part: name, Index: index, Entry: entry, at: slices.Concat(at, part.Settings)}
	settings := entry.At(part.Settings...).Value()
	if part.Normalize != nil {
		settings = part.Normalize(out, settings, k.settings)
	}
	if settings == (NoPart{}) {
		return to
	}
	units, _ := k.Rules.CutAll(settings)
	if len(units) == 0 { // it takes part all the same
		units = []merge.Unit{{Value: map[string]any{}}}
	}
	strategy := k.Strategy.Default.on(merge.Bare)
	out.Blocks = []merge.Block{{Kind: merge.Bare, Units: units, Strategy: strategy}}
	out.words[merge.Bare] = strategy.Word()
	return append(to, out)
}

// Base is the whole policy of a part, and any other policy itself.
func (p *Policy) Base() *Policy {
	if p.Whole != nil {
		return p.Whole
	}
	return p
}

// In is the kind as one of its scopes has it.
func (k *Kind) In(s *Scope) *Kind {
	out := *k
	out.Scope, out.Family, out.Effective = s, s.Family, s.Effective
	if s.Compare != nil {
		out.Compare = s.Compare
	}
	if s.Result == "evaluation" || s.Result == "application" {
		out.Strategy.Default = Choice{Strategy: merge.Strategy{Wins: merge.Both}, Fixed: true}
	}
	strategy := out.Strategy.Default.on(merge.Bare)
	if s.Fold != nil {
		out.Plans = []merge.Plan{{Func: s.Fold, Ordered: s.Ordered(), Strategy: &strategy}}
	}
	return &out
}

// Tied reports whether nothing but their positions tells two policies apart by the kind's comparator: their order is left open.
func (k *Kind) Tied(a, b Attached) bool {
	if a.Policy.Base() == b.Policy.Base() {
		return false
	}
	for i := range k.Compare {
		if k.Compare[i].By != ByIndex && k.Compare[i].compare(&a, &b) != 0 {
			return false
		}
	}
	return true
}
