package policy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Scope is one family of paths on which a kind has results. A kind with scopes has several, each
// with parts of the policies, places where they hold, and a fold of its own.
type Scope struct {
	Name      string // printed as the paths' direction
	Family    string // a part that holds at a node holds at what is below it here
	Effective []topology.Role
	Points    []PathPoint
	Parts     []string
	Fold      merge.PlanFunc
	Situation SituationMaker // makes the fold instead, for every target
	Compare   []Key          // nil: the kind's
	Split     Splitter
	Result    Result
}

// Result says what the rules of a result are: names, evaluation, application, display; "": names.
type Result string

// IsOrdered reports whether the order of the rules means something (engine E17).
func (r Result) IsOrdered() bool { return r != "" && r != "names" }

// PathPoint is one point of a path that a part must fit: the part is on a path if each of its
// points has a node on it. The nodes of the last point are the targets, or are above them; those of
// another one are who calls.
type PathPoint struct {
	Name   string
	Roles  []topology.Role // of the nodes that count here; nil: all
	Shared bool            // all parts of a policy have the same nodes
	Search PointSearch     // nil: what the references of the policy's kind find
}

// Splitter prepares the split of what holds at a target into several results, one for each name: it
// says for which names a part is, nil if for none in particular. Parts that are for none make a
// result of their own.
type Splitter func(in *model.Snapshot, s model.Settings) func(part *Policy) []string

// PointSearch prepares the search for the nodes of a point.
type PointSearch func(g *topology.Graph, in *model.Snapshot, s model.Settings) PointFinder

// PointFinder finds the nodes of one point for a policy's part; for the policy itself where the
// point is shared.
type PointFinder func(p *Policy) ([]topology.NodeID, []model.Problem)

// InScope returns the kind as one of its scopes has it.
func (k *Kind) InScope(s *Scope) *Kind {
	out := *k
	out.Scope, out.Family, out.Effective = s, s.Family, s.Effective
	if s.Compare != nil {
		out.Compare = s.Compare
	}
	if s.Result == "evaluation" || s.Result == "application" {
		out.Strategy.Default = StrategyChoice{Strategy: merge.Strategy{Wins: merge.Both}, Fixed: true}
	}
	strategy := out.Strategy.Default.ForBlock(merge.Bare)
	if s.Fold != nil {
		out.Plans = []merge.Plan{{Func: s.Fold, Ordered: s.Result.IsOrdered(), Strategy: &strategy}}
	}
	return &out
}

// SituationMaker prepares what the fold of a scope has to know of its targets, beside the parts
// that hold there. It returns nil where the input has nothing of the vendor: then nothing is in
// force without policies.
type SituationMaker func(g *topology.Graph, in *model.Snapshot,
	s model.Settings) func(target topology.NodeID) *Situation

// Situation is what a fold has to know of its target. Targets with the same key at which the same
// parts hold share their result.
type Situation struct {
	Key           string
	Builtins      []*Policy // what no policy of the kind wrote, as layers before those of policies
	AlwaysInForce bool      // something is in force even where no policy holds

	// Compare says which of two parts comes first, before the kind's comparator is asked; nil: it
	// alone decides.
	Compare func(a, b *Policy) int

	// Place is the node where a part or a built-in layer stands, and its level.
	Place func(p *Policy) (topology.NodeID, topology.Role)

	// Fold makes the fold of the layers, which are in order: what is built in, then the parts.
	Fold func(layers []*Policy) merge.PlanFunc
}

// NewBuiltin makes a layer of settings that no policy wrote: what to call them, the object in which
// they stand and where in it.
func NewBuiltin(label string, o *model.Object, at []string, units []merge.Unit) *Policy {
	return &Policy{Builtin: label, Object: o, at: at, Blocks: []merge.Block{{Kind: merge.Bare, Units: units}}}
}

// NewSettings makes a layer, like those of policies, of settings that stand in an object which is
// no policy of the kind, such as annotations. It has the name of the object.
func NewSettings(o *model.Object, at []string, units []merge.Unit) *Policy {
	return &Policy{Object: o, at: at, Blocks: []merge.Block{{Kind: merge.Bare, Units: units}}}
}

// HasResultsWithoutPolicies reports whether the kind has results where it has no policies: the
// situation of a target alone makes them.
func (k *Kind) HasResultsWithoutPolicies() bool {
	return slices.ContainsFunc(k.Scopes, func(s Scope) bool { return s.Situation != nil })
}
