package resolve

import (
	"slices"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Resolution is the answer to every question about one snapshot. Folds are done when a stack is first asked for, or all at once by
// Kind.Fold; until then it is not safe for concurrent use.
type Resolution struct {
	Snapshot *model.Snapshot
	Graph    *topology.Graph
	Settings model.Settings
	Kinds    []*Kind // sorted; all known kinds, also those without policies
	Problems []model.Problem

	virtual        []topology.Node // targets outside the graph, numbered after its nodes
	byRef          map[model.Ref]topology.NodeID
	attachmentGaps map[Gap]bool // what leaves open where routes are attached; nil: not looked for yet

	setGaps map[Gap]bool // the same of ListenerSets

	findersByKind map[*policy.Kind][]policy.Finder // by kind and reference form; made when asked for

	knowledge  *descriptor.Knowledge
	unreadOnce sync.Once // for what is not read
	unread     unreadInputs

	shared sync.Map // what Shared made, by key
}

// Memoize returns what make gives for a key, made once for a resolution: several questions of one
// run often count the same. It is not to be changed.
func Memoize[T any](r *Resolution, key any, make func() T) T {
	once, _ := r.shared.LoadOrStore(key, sync.OnceValue(make))
	return once.(func() T)()
}

// Kind is one policy kind with its policies, and where they meet.
type Kind struct {
	*policy.Kind
	Policies []*policy.Policy // sorted by reference
	Rejected []Rejection

	Leader *Kind // of a kind whose policies are among those of another one: that kind, in its first scope; nil: it stands for itself

	res *Resolution
	attachments
	engine            engine                      // nil: nothing is attached
	seesNamespace     func(namespace string) bool // the namespaces that the implementation sees; nil: all
	contexts          [][]StackID                 // by node
	verdicts          []*Verdict                  // by stack; nil: not folded yet
	emptyStacks       []bool                      // by stack: no policy is in it
	stackNames        map[StackID]string          // of stacks that are for one name only
	hasBuiltinResults bool                        // something is in force where no policy holds
	conditional       *bool                       // conditions have a say; nil: not looked at yet
}

// engine is how the policies of a kind meet: along the paths of traffic (routed), or by what the scopes of the kind select (scoped).
type engine interface {
	// layOut lays the policies of a stack out for the fold, with the plans of the fold.
	layOut(s StackID) (*Verdict, []merge.Plan)
	// pathsOf lists the ways to a node on which a stack holds, in a stable order.
	pathsOf(id topology.NodeID, s StackID) []Path
	// stacksHolding tells for every stack whether a policy holds in it, or is kept out of it by another one.
	stacksHolding(p *policy.Policy) []bool
}

// nodePolicies is what is attached to one node, established first.
type nodePolicies struct {
	policies   []policy.Attached
	ageIgnored bool
	void       string // why nothing of the kind is in force here and below; "": nothing says so
}

// Rejection is a policy that another one on the same target keeps out whole (engine E8).
type Rejection struct {
	Attached policy.Attached
	By       *policy.Policy
	Decision merge.Decision // what put the other policy first
	Silent   bool           // the kind reports nothing about it
}

// Run decodes the policies of a snapshot, attaches them and walks the contexts of every kind.
func Run(in *model.Snapshot, g *topology.Graph, c *descriptor.Catalog) *Resolution {
	return StartDecoding(in, c).Attach(g)
}

// Attach attaches the policies to the targets in a graph of the snapshot, and walks the contexts of every kind.
func (d *Decoding) Attach(g *topology.Graph) *Resolution {
	<-d.done
	settings := d.catalog.Settings()
	r := &Resolution{Snapshot: d.in, Graph: g, Settings: settings, byRef: map[model.Ref]topology.NodeID{}, knowledge: d.catalog.Knowledge()}
	r.Problems = slices.Concat(d.in.Problems, g.Problems(), d.problems)
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
		(&attacher{Kind: k}).attachAll()
		targetContest{k}.rejectLosers()
		r.Kinds = append(r.Kinds, k)
	}
	r.linkMembers()
	for _, k := range r.Kinds {
		r.Problems = append(r.Problems, (&attacher{Kind: k}).reportUnreferenced()...)
		if along, ok := k.engine.(*pathEngine); ok && len(k.attached)+len(k.backendRules) > 0 {
			along.computeContexts()
			r.Problems = append(r.Problems, along.reportRefusedSteps()...)
			r.Problems = append(r.Problems, along.reportUnreached()...)
			r.Problems = append(r.Problems, along.reportListenerSets()...)
			r.Problems = append(r.Problems, along.reportUselessUnset()...)
		}
	}
	r.Problems = append(r.Problems, r.reportSetSwitch()...)
	r.reportVariables(d.variables())
	return r
}

// Node returns a target by its id: of the graph, or one that no graph knows.
func (r *Resolution) Node(id topology.NodeID) *topology.Node {
	if n := int(id) - r.Graph.Len(); n >= 0 {
		return &r.virtual[n]
	}
	return r.Graph.Node(id)
}

// Len returns the number of nodes, those outside the graph included.
func (r *Resolution) Len() int { return r.Graph.Len() + len(r.virtual) }

// Kind returns the resolved kind, or nil.
func (r *Resolution) Kind(gk model.GroupKind) *Kind {
	for _, k := range r.Kinds {
		if k.GroupKind == gk {
			return k
		}
	}
	return nil
}

// opaqueNode returns the node of a target that has none in the graph (gep713 P14).
func (r *Resolution) opaqueNode(ref model.Ref, o *model.Object) topology.NodeID {
	if id, ok := r.byRef[ref]; ok {
		return id
	}
	id := topology.NodeID(r.Graph.Len() + len(r.virtual))
	r.virtual = append(r.virtual, topology.Node{Role: topology.Opaque, Ref: ref, Object: o})
	r.byRef[ref] = id
	return id
}
