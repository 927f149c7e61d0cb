package resolve

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/attach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Resolution is the answer to every question about one snapshot. Folds are done when a stack is
// first asked for, or all at once by Kind.Fold; until then it is not safe for concurrent use.
type Resolution struct {
	*attach.Targets
	Settings model.Settings
	Kinds    []*Kind // sorted; all known kinds, also those without policies

	attachmentGaps map[Gap]bool // what leaves open where routes are attached; nil: not looked for yet

	setGaps map[Gap]bool // the same of ListenerSets

	Knowledge *descriptor.Knowledge
	shared    model.Memo // what Memoize made
}

// Memoize returns what make gives for a key, made once for a resolution: several questions of one
// run often count the same. It is not to be changed.
func Memoize[T any](r *Resolution, key any, make func() T) T {
	return model.Recall(&r.shared, key, make)
}

// Kind is one policy kind with its policies, and where they meet.
type Kind struct {
	*policy.Kind
	attach.Attachments
	// of a kind whose policies are among those of another one: that kind, in its first scope; nil:
	// it stands for itself
	Leader *Kind

	res               *Resolution
	engine            engine             // nil: nothing is attached
	contexts          [][]StackID        // by node
	verdicts          []*Verdict         // by stack; nil: not folded yet
	emptyStacks       []bool             // by stack: no policy is in it
	stackNames        map[StackID]string // of stacks that are for one name only
	hasBuiltinResults bool               // something is in force where no policy holds
	conditional       *bool              // conditions have a say; nil: not looked at yet
}

// engine is how the policies of a kind meet: along the paths of traffic (routed), or by what the
// scopes of the kind select (scoped).
type engine interface {
	// layOut lays the policies of a stack out for the fold, with the plans of the fold.
	layOut(s StackID) (*Verdict, []merge.Plan)
	// pathsOf lists the ways to a node on which a stack holds, in a stable order.
	pathsOf(id topology.NodeID, s StackID) []Path
	// stacksHolding tells for every stack whether a policy holds in it, or is kept out of it by
	// another one.
	stacksHolding(p *policy.Policy) []bool
	// countSettings returns for every stack how many settings the policies in it write, and one more
	// for each policy.
	countSettings() []int
}

// Run decodes the policies of a snapshot, attaches them and walks the contexts of every kind.
func Run(in *model.Snapshot, g *topology.Graph, c *descriptor.Catalog) *Resolution {
	return StartDecoding(in, c).Attach(g)
}

// Attach attaches the policies to the targets in a graph of the snapshot, and walks the contexts of
// every kind.
func (d *Decoding) Attach(g *topology.Graph) *Resolution {
	<-d.done
	settings := d.catalog.Settings()
	r := &Resolution{Targets: attach.NewTargets(d.in, g, slices.Concat(d.in.Problems, g.Problems(), d.problems)),
		Settings: settings, Knowledge: d.catalog.Knowledge()}
	for i, pk := range d.kinds {
		if isMember(d.kinds, pk) {
			r.Kinds = append(r.Kinds, r.KindWithoutPolicies(pk))
			continue
		}
		policies := d.policies[i]
		if pk.Scopes != nil {
			for _, p := range policies {
				r.Problems = append(r.Problems, p.Problems...)
			}
			r.Kinds = append(r.Kinds, r.resolveScopes(pk, policies, settings)...)
			continue
		}
		k := r.KindWithoutPolicies(pk)
		k.Policies = policies
		r.Problems = append(r.Problems, inferredProblems(k)...)
		for _, p := range policies {
			r.Problems = append(r.Problems, p.Problems...)
		}
		k.Attach(r.Targets, pk, func(t policy.TargetRef) []string { return r.DescribeGaps(k.Gaps().OfRef(t)) })
		r.Kinds = append(r.Kinds, k)
	}
	r.linkMembers()
	for _, k := range r.Kinds {
		r.Problems = append(r.Problems, attach.ReportUnreferenced(r.Targets, k.Kind, &k.Attachments)...)
		if along, ok := k.engine.(*pathEngine); ok && !k.IsUnattached() {
			along.computeContexts()
			r.Problems = append(r.Problems, along.reportRefusedSteps()...)
			r.Problems = append(r.Problems, along.reportUnreached()...)
			r.Problems = append(r.Problems, along.reportListenerSets()...)
			r.Problems = append(r.Problems, along.reportUselessUnset()...)
		}
	}
	r.Problems = append(r.Problems, r.reportSetSwitch()...)
	r.reportVariables(d.variables())
	r.reportLocalReferences()
	return r
}

// Kind returns the resolved kind, or nil.
func (r *Resolution) Kind(gk model.GroupKind) *Kind {
	for _, k := range r.Kinds {
		if k.GroupKind == gk {
			return k
		}
	}
	return nil
}
