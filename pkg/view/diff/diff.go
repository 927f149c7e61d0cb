package diff

import (
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
)

// The changes of an effective policy, or of the target and the path on which it is in force.
const (
	changeAdded   = "Added"
	changeRemoved = "Removed"
	changeChanged = "Changed"

	targetReached   = "Reached"   // the target was there, and no traffic came to it on these paths
	targetUnreached = "Unreached" // the target is there, and traffic no longer comes to it on these paths
)

// RuleChange is one setting that is not the same before and after. Before or After is null, and its
// sources are none, where it is not in force.
type RuleChange struct {
	Name          string        `json:"name"`          // dotted path under spec
	Before        any           `json:"before"`        // null where it was not in force
	After         any           `json:"after"`         // null where it is not in force
	SourcesBefore []view.Source `json:"sourcesBefore"` // who set it, weakest first
	SourcesAfter  []view.Source `json:"sourcesAfter"`  // who sets it, weakest first
	// Reason is why a setting that was in force is not any more, as far as its policy is still
	// there.
	Reason string `json:"reason,omitempty"`

	shortReason string // the same in few words
	path        merge.Path
}

// PolicyChange is one effective policy that is not the same before and after, for all ways on which
// the same becomes of it.
type PolicyChange struct {
	PolicyKind string       `json:"policyKind"` // Kind.group
	Target     model.Ref    `json:"target"`     // where it is or was in force
	Paths      []view.Path  `json:"paths"`      // the ways on which this becomes of it
	Change     string       `json:"change"`     // Added, Removed, Changed
	Rules      []RuleChange `json:"rules"`      // those that differ in value or in source
	// SourcesOnly: every setting has the value that it had, and some come from elsewhere.
	SourcesOnly bool `json:"sourcesOnly,omitempty"`
	// Reordered: the rules are a list whose order means something, and it is another order.
	Reordered bool `json:"reordered,omitempty"`
	// TargetChange tells what is added or removed with its target (Added, Removed), or because
	// traffic comes to the target on other ways (Reached, Unreached), from what is added to or
	// removed from a target that gets the same traffic as before ("").
	TargetChange string `json:"targetChange,omitempty"`
	// Unprotected: the target gets traffic on these ways, as before, or else on new ones
	// (Unreached), and no policy of the kind is in force there.
	Unprotected bool `json:"unprotected,omitempty"`
	// lists that a cluster refused and that may be all there is to the change
	Unread []string `json:"unread,omitempty"`

	before, after *view.EffectivePolicy
	onSomePaths   bool // of the ways to the target, not all
}

// KindCount counts targets by policy kind.
type KindCount struct {
	PolicyKind string `json:"policyKind"` // Kind.group
	Count      int    `json:"count"`      // how many
}

// Uncovered are targets on which no policy of a kind is in force though one is to be expected: new
// route rules behind the same Gateways or Services as others that mostly have one, or targets that
// get traffic on new ways.
type Uncovered struct {
	PolicyKind string      `json:"policyKind"` // Kind.group
	Targets    []model.Ref `json:"targets"`    // on which it is missing
}

// DiffSummary counts what changes.
type DiffSummary struct {
	RouteRules  int `json:"routeRules"`  // that change
	Targets     int `json:"targets"`     // that change, route rules included
	Namespaces  int `json:"namespaces"`  // that these are in
	Added       int `json:"added"`       // items, by change
	Removed     int `json:"removed"`     // items of what is no longer in force
	Changed     int `json:"changed"`     // items of what has other settings or sources
	SourcesOnly int `json:"sourcesOnly"` // of those changed, where no value does
	Uncertain   int `json:"uncertain"`   // items that what could not be read may explain
	Unchanged   int `json:"unchanged"`   // effective policies that are the same
	New         int `json:"new"`         // targets that are new
	Gone        int `json:"gone"`        // targets that are gone
	// Unprotected counts the targets that lose their only policy of a kind.
	Unprotected []KindCount `json:"unprotected"`
	// Bare are the new route rules on which no policy is in force.
	Bare      []model.Ref `json:"bare"`
	Uncovered []Uncovered `json:"uncovered"` // others on which one of a kind is missing
	// Exposed are targets that were under a policy of a kind on every way and are under none on a
	// way that is new.
	Exposed []Uncovered `json:"exposed"`
	// Protection counts the route rules by what becomes of the properties of their requests.
	Protection ProtectionSummary `json:"protection"`
}

// EffectivePolicyDiff answers `diff`.
type EffectivePolicyDiff struct {
	view.Envelope
	Summary DiffSummary `json:"summary"` // what changes, counted
	// what route rules lose or gain, whatever policies there are: losses first, then by property
	// and target
	Protection []ProtectionChange `json:"protection"`
	Items      []PolicyChange     `json:"items"` // sorted by target, policy kind and ways
	// what the API server keeps otherwise with the second versions of vendors' schemas, where such
	// are compared: what is refused first, then by object and field
	Schemas []SchemaChange `json:"schemas,omitempty"`

	news    []model.Problem    // problems of one side only, and those that make the answer incomplete
	unclear []ProtectionChange // properties of which it was not known whether they held, and that do not now
}

// Query is what is compared.
type Query struct {
	Kinds     []model.GroupKind // nil: every policy kind
	Namespace string            // of the targets; "": all
	// PoliciesOnly leaves out what requests are protected by.
	PoliciesOnly bool
	// Schemas: the sides are one input, read by two versions of schemas.
	Schemas bool
}

// comparedSide is one of the two inputs with its answer.
type comparedSide struct {
	input      view.Input
	res        *resolve.Resolution
	list       *effective.EffectivePolicyList
	collector  *collect.Collector // converts paths of nodes into those of the contract
	protection sideProtection     // what route rules are protected by

	missingKinds map[model.GroupKind]*resolve.Kind // kinds that only the other side has, as they are here
	// where paths through a mesh can begin and end; nil: not asked for yet
	meshEnds map[meshEnd]bool
}

// Compare compares what is in force in two inputs, target by target and path by path, and what
// protects route rules.
func Compare(before, after view.Input, q Query) *EffectivePolicyDiff {
	d := &policyComparer{query: q, before: &comparedSide{input: before, res: before.Resolution},
		after: &comparedSide{input: after, res: after.Resolution}, ruleCache: map[idPair][]RuleChange{}}
	var both sync.WaitGroup
	both.Go(func() { d.before.computeAnswer(q) })
	d.after.computeAnswer(q)
	both.Wait()
	d.findChanges()
	out := &EffectivePolicyDiff{Items: d.items, Summary: d.buildSummary(),
		Protection: findProtectionChanges(d.before.protection, d.after.protection, q.Kinds),
		unclear:    findUnclearChanges(d.before.protection, d.after.protection, q.Kinds)}
	slices.SortStableFunc(out.Items, compareChanges)
	if q.Schemas {
		out.Schemas = compareSchemas(before.Resolution.Snapshot, after.Resolution.Snapshot)
	}
	out.Summary.Protection = countProtection(out.Protection)
	problems, news := JoinProblems(append(d.before.list.Problems, d.before.protection.problems...),
		append(d.after.list.Problems, d.after.protection.problems...))
	beside := append(d.profileProblems(), MissingValueProblems(before.Resolution, after.Resolution)...)
	out.news = model.SortProblems(append(news, beside...))
	out.Finish("EffectivePolicyDiff", append(problems, beside...))
	return out
}

// countLacking returns how many targets lack a policy that similar targets, or they themselves on
// other paths, have.
func (s *DiffSummary) countLacking() int { return len(s.Bare) + len(s.Uncovered) + len(s.Exposed) }

// HasChanges reports whether anything changes, or a new target lacks a policy that similar targets
// have.
func (d *EffectivePolicyDiff) HasChanges() bool {
	return len(d.Items)+len(d.Protection)+len(d.Schemas)+d.Summary.countLacking() > 0
}

// News returns the problems that only one of the inputs has, and those of both that make the answer
// incomplete.
func (d *EffectivePolicyDiff) News() []model.Problem { return d.news }

// computeAnswer finds out what is in force on this side.
func (s *comparedSide) computeAnswer(q Query) {
	query := view.Query{Kinds: q.Kinds}
	if q.Namespace != "" {
		query.Namespace = q.Namespace
		query.Targets = []topology.NodeID{}
		for id := range s.res.Len() {
			if n := s.res.Node(topology.NodeID(id)); n.Ref.Namespace == q.Namespace && n.Ref.Section == "" {
				query.Targets = append(query.Targets, topology.NodeID(id))
			}
		}
	}
	query.IsComparison = true
	if !q.PoliciesOnly {
		s.protection = judgeRuleProtection(s.input, query)
	}
	s.list = effective.List(s.res, query)
	if q.Namespace != "" {
		s.list.Items = slices.DeleteFunc(s.list.Items,
			func(i view.EffectivePolicy) bool { return i.Target.Namespace != q.Namespace })
	}
	s.collector = collect.New(s.res, query)
}

// profileProblems reports the kinds that are read in different profiles on the two sides: the
// profile is chosen by what is in the input, and a controller has one.
func (d *policyComparer) profileProblems() []model.Problem {
	var out []model.Problem
	for _, k := range d.before.collector.AskedKinds {
		other := d.after.matchingKind(k)
		if other == nil || len(other.Policies) == 0 || other.Profile == k.Profile {
			continue
		}
		out = append(out, model.Problem{Severity: model.Warning, Code: model.SettingMatters,
			Message: k.Name() + " is read in profile " + k.Profile + " before and in profile " + other.Profile +
				" after: this alone may cause many of the changes",
			Hint: "say which one the cluster has: --vendor-setting " + k.Vendor + ".profile=" + other.Profile})
	}
	return out
}

// MissingValueProblems says that values cannot be compared of inputs without them.
func MissingValueProblems(inputs ...*resolve.Resolution) []model.Problem {
	if !slices.ContainsFunc(inputs, func(r *resolve.Resolution) bool { return r.Snapshot.HasNoValues() }) {
		return nil
	}
	return []model.Problem{{Severity: model.Warning, Code: model.NotEvaluated,
		Message: "values of settings cannot be compared: they are left out (redacted)",
		Hint:    "compare inputs with their values, without --redact"}}
}

// JoinProblems joins the problems of both sides: those of both once, the others with the side that
// has them.
func JoinProblems(before, after []model.Problem) (all, news []model.Problem) {
	type text struct {
		severity model.Severity
		code     model.Code
		ref      model.Ref
		message  string
	}
	key := func(p model.Problem) text {
		t := text{severity: p.Severity, code: p.Code, message: p.Message}
		if p.Ref != nil {
			t.ref = *p.Ref
		}
		return t
	}
	there := map[text]int{}
	for _, p := range before {
		there[key(p)]++
	}
	for _, p := range after {
		if there[key(p)] > 0 {
			there[key(p)]--
			if p.IsIncomplete() {
				news = append(news, p)
			}
			all = append(all, p)
			continue
		}
		p.Message = "only after: " + p.Message
		all, news = append(all, p), append(news, p)
	}
	for _, p := range before {
		if there[key(p)] > 0 {
			there[key(p)]--
			p.Message = "only before: " + p.Message
			all, news = append(all, p), append(news, p)
		}
	}
	return all, news
}

// IsAbout reports whether a change is about a target, or about a rule of it.
func (c *PolicyChange) IsAbout(target model.Ref) bool {
	return c.Target == target || target.Section == "" && c.Target.WithoutSection() == target
}

// HasSameTarget reports whether two changes are about the same policy kind at the same target.
func (c *PolicyChange) HasSameTarget(other *PolicyChange) bool {
	return c.PolicyKind == other.PolicyKind && c.Target == other.Target
}
