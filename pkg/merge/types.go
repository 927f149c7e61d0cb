package merge

// BlockKind says which set of a policy a unit stands in.
type BlockKind uint8

// The blocks, in the order in which they are merged (engine E3).
const (
	Defaults BlockKind = iota
	Bare
	Overrides
)

// String is the word of the contract.
func (b BlockKind) String() string { return [...]string{"defaults", "bare", "overrides"}[b] }

// Source is where a unit was written: a layer of the stack, by position, and one of its blocks.
type Source struct {
	Layer  int
	Block  BlockKind
	Filled bool // the API server filled it in, nobody wrote it
}

// Condition decides whether a block applies. Doc is what is effective below the block, rendered as
// a bare policy (engine E6).
type Condition interface {
	Holds(doc any) (bool, error)
}

// Unit is a setting: a value at a path below the settings root.
type Unit struct {
	Path   Path
	Value  any       // JSON, perhaps Packed
	When   Condition // nil: always
	From   []Source  // set once, by the first step that takes the unit
	Choice string    // units of one choice exclude each other; "": it stands for itself
	Null   bool      // an RFC 7386 null: deletes, and is kept until the last step (gep713 P20)
	Filled bool      // the API server filled it in
	// a zero value, which counts only in the first set that is merged, and there as long as no
	// other has a value
	Zero  bool
	Parts []Unit // finer units, with sources of their own, that a coarser cut joined
	// of a list that a plan's function joined: whose its items are, if the function says so; nobody
	// but such functions reads it
	Items [][]Source

	cutBy *Pattern // the first pattern of the shape it was cut by: cutting by that again changes nothing
}

// Side says who wins where two units clash.
type Side uint8

// The sides of a strategy.
const (
	Lower   Side = iota // the challenger: defaults
	Higher              // the established: overrides
	Both                // nobody loses: union
	ByBlock             // of a plan's strategy: as the block says, the established in overrides, else the challenger
)

// Cut says at which grain two sides are compared.
type Cut uint8

// The cuts of a strategy.
const (
	Whole  Cut = iota // atomic
	Rules             // merge
	Leaves            // RFC 7386 merge patch
)

// Strategy decides one merge (engine E4).
type Strategy struct {
	Wins Side
	Cut  Cut
	// with cut Rules: where the lower side is cut instead of at the kind's rules; the incoming
	// units stand as they are
	Shape   Shape
	Rejects bool // none: an atomic override whose losers are rejected (Conflicted)
	Func    StrategyFunc
}

// forBlock returns s for a block of the given kind.
func (s Strategy) forBlock(b BlockKind) Strategy {
	if s.Wins == ByBlock {
		s.Wins = Lower
		if b == Overrides {
			s.Wins = Higher
		}
	}
	return s
}

// Name is the name of the strategy in the contract, without the side.
func (s Strategy) Name() string {
	switch {
	case s.Func != nil:
		return "custom"
	case s.Rejects:
		return "none"
	case s.Wins == Both:
		return "union"
	}
	return [...]string{"atomic", "merge", "patch"}[s.Cut]
}

// Block is one set of units of a layer with its own strategy.
type Block struct {
	Kind     BlockKind
	Units    []Unit
	Strategy Strategy
	When     Condition // nil: always
}

// Layer is one policy at one place of a path, or the result of a fold.
type Layer struct {
	Level            string  // the role at which it stands, or "filter"
	Target, Hop      int     // which target; which occurrence of a role that repeats along the path
	Blocks           []Block // in the order defaults, bare, overrides
	Unset            []string
	Builtin          bool       // a setting that no policy wrote: it is merged over the result of all plans
	Unwritten        bool       // no policy wrote it: what it loses is nobody's loss
	InError          bool       // its policy is in error, and voids what it is part of: it has no blocks
	Rejected         *Rejection // another layer keeps it out; nil: it takes part
	Written          []Block    // what its policy sets, where Blocks is not that
	DemandedStrategy *Strategy  // the strategy that it demands as the lower side of a merge
	// what stands for the layer's policy, for functions of plans that look beyond its units
	Meta   any
	Render func(settings any) any // the document {apiVersion, kind, metadata, spec} that conditions read
}

// Rejection says that a layer takes no part, and that all it sets is lost.
type Rejection struct {
	Reason Reason
	By     int // the layer to whose last block it is lost; -1: to nobody here
}

// Void says that nothing is in force, whatever the layers say: all that they set is lost as
// Invalid.
type Void struct {
	By int // the layer that is to blame, which loses to nobody; -1: something else is
}

// Stack is what is attached along one path, established (least specific) first.
type Stack struct {
	Name   string // what it is for alone, where what holds at a target is split by names; "": nothing in particular
	Layers []Layer
	Hops   []*Strategy // by hop: the strategy read at that hop's object
	Void   *Void
	Decide DecisionFunc // nil: losses carry no decisions
	// what the path says of a fact that a plan's function reads; nil: nothing
	Fact func(name string) string
}

// ListOrder says in which order the entries of a keyed list come out.
type ListOrder uint8

// The orders of a keyed list.
const (
	LowerOrder ListOrder = iota // the lower side's entries, then what the higher adds
	PatchOrder                  // as a strategic merge patch orders them
	KeyOrder                    // by their keys, once two sides are merged
)

// Pattern says where to cut, and what is special about the units there. A segment may be Any; the
// last may be Deep.
type Pattern struct {
	Path Path
	Keys []string // the value is a list whose entries are told apart by these fields
	// the value is a list whose entries are told apart by their numbers, which a plan's function
	// gives them
	Numbers bool
	As      Form // Entry or ListEntry: how entries are printed
	Order   ListOrder
	Append  bool   // lists are joined, not replaced
	Choice  string // units with this choice exclude each other
	Filler  bool   // such a unit does not make a set non-empty
	Combine CombineFunc
}

// cutsList reports whether the pattern cuts a list into its entries.
func (pt *Pattern) cutsList() bool { return pt.Keys != nil || pt.Numbers }

// Shape is how the settings of a kind are cut into rules.
type Shape []Pattern

// SameTarget says what several layers on one target are to each other (engine E8). Models that
// reject policies run before the fold.
type SameTarget uint8

// The same-target models of a fold.
const (
	Stacked SameTarget = iota // each is a layer of its own
	Fill                      // rule by rule, the established one first
	Union                     // all apply, in order
)

// Plan is a tree of folds (engine E16). A leaf folds the layers of its levels, an inner plan the
// results of its members.
type Plan struct {
	Name             string
	Only             Shape // nil: every unit that no earlier plan took
	Rules            Shape // nil: the kind's
	Levels           []string
	EachRole         string // a role: one member per occurrence of it
	Members          []Plan // least specific first; beside Func only for the names of members
	SameTarget       SameTarget
	OwnTarget        bool      // SameTarget is the plan's own, not the kind's
	Strategy         *Strategy // nil: each block's own
	FromLower        bool      // the challenger's Asks decides; Strategy if it has none
	Func             PlanFunc
	KeepsEmptyLayers bool // a layer all of whose units other plans take holds its place in this one, empty
	Ordered          bool // the order of its units means something
}

// StrategyFunc merges two sides by an algorithm of its own, with the same duty of provenance.
type StrategyFunc func(established, lower []Unit) ([]Unit, []Effect)

// CombineFunc merges two units at one path into one, whose sources it states; one without sources
// leaves the two to the strategy.
type CombineFunc func(established, lower Unit, wins Side) (Unit, []Effect)

// PlanFunc replaces the fold of a plan. Sources are positions in the stack that it is given; Output
// collects what it returns.
type PlanFunc func(s Stack) ([]Unit, []Effect)

// Reason says why a unit lost; the words are the contract's.
type Reason string

// The reasons of losses.
const (
	MoreSpecificWins      Reason = "MoreSpecificWins"
	LessSpecificOverrides Reason = "LessSpecificOverrides"
	AtomicReplaced        Reason = "AtomicReplaced"
	AtomicOverridden      Reason = "AtomicOverridden"
	Unset                 Reason = "Unset"
	ConditionFalse        Reason = "ConditionFalse"
	Conflicted            Reason = "Conflicted"
	SameLevelOrder        Reason = "SameLevelOrder"
	BuiltInWins           Reason = "BuiltInWins"
	NoEffect              Reason = "NoEffect"
	Invalid               Reason = "Invalid" // the policy is in error
	Ignored               Reason = "Ignored"
	Shadowed              Reason = "Shadowed"     // an entry of an ordered list that is never reached
	NotEvaluated          Reason = "NotEvaluated" // whether it is in force beside the winner is not known
)

// Action is what a step did to a unit.
type Action uint8

// The actions of a step on one unit.
const (
	Taken    Action = iota // an incoming unit entered the result
	Kept                   // a unit of the result stood against an incoming one
	Joined                 // both sides are in one unit now
	Replaced               // a unit left the result: lost
	Dropped                // an incoming unit did not enter: lost
	Renamed                // an incoming unit entered the result under another name, which another effect has
)

// Effect is what one step did to one unit.
type Effect struct {
	Path   Path
	Rule   string // Path, printed
	Value  any
	From   []Source // whose unit
	Action Action
	Reason Reason   // of a loss
	Other  []Source // who won, or lost, against it

	code string // Path.code()
}

// Step is one merge: an incoming block, or a member of a plan, against everything below it.
type Step struct {
	Plan     string
	Layer    int // -1: a member's result
	Block    BlockKind
	Strategy Strategy
	When     Condition // the block's
	Closing  bool      // no merge: it accounts for what is left at the end
	Skipped  Reason    // ConditionFalse: the block did not apply
	Err      error     // why a condition could not be judged
	Partners []int     // the layers that met in a merge for which the most specific one asked
	Effects  []Effect
	After    []string // of Replay: the rules in force after the step, sorted
}

// Rule is one rule in force, cut finer than the kind's rules only where its parts have different
// sources (engine E11).
type Rule struct {
	Name  string
	Path  Path
	Value any
	From  []Source // least specific first
	Lost  []Loss   // who else set a rule of this name
}

// Loss is a unit that is nowhere in the result.
type Loss struct {
	Rule   string // Path, printed
	Path   Path
	Value  any
	From   Source
	Reason Reason
	To     []Winner  // when it lost, least specific first
	When   Condition // of ConditionFalse: what was not met, if it is the block's
	Step   int       // index into the trace; -1: it took no part in the fold
}

// Group is the result of a plan's named member.
type Group struct {
	Name  string
	Rules []Rule
}

// Result is what a fold computed.
type Result struct {
	Rules   []Rule // sorted by name, or in the order that means something if Ordered
	Ordered bool
	Lost    []Loss // rules that are nowhere in the result
	Groups  []Group
	Trace   []Step

	units  []Unit // in force
	decide DecisionFunc
}
