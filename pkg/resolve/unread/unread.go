package unread

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Input is something in the input that has to do with traffic and that nobody reads: an object of a
// kind that is not known, a filter, parameters, an annotation. What is in force where it matters is
// not known for sure.
type Input struct {
	Nodes   []topology.NodeID // it may matter at these nodes and below; sorted
	SendsTo []topology.NodeID // backends that get traffic by it: by which ways it comes there is not known
	Object  *model.Object     // that says so
	MayDeny bool              // it may keep requests out: a filter, or an object that could be a policy

	AttachedTo []topology.NodeID // of an object that hangs on these as routes do: requests may go its way
	Hostnames  []string          // of such an object: the hostnames that it is for; nil: any, or they are not known

	message, hint string
	origin        model.Origin
	groupMessage  string // what many of them have in common, behind their number
	name          string // what tells it from those
}

// Problem says what is not read.
func (s *Input) Problem() model.Problem {
	p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: s.message, Hint: s.hint}.At(s.Object)
	p.Origin = &s.origin
	return p
}

// maxListed is how many blind spots of one sort are told one by one.
const maxListed = 8

// Summarize says what is not read, many of one sort in one sentence.
func Summarize(spots []*Input) []model.Problem {
	sorts := map[string][]*Input{}
	var order []string
	for _, s := range spots {
		if sorts[s.groupMessage] == nil {
			order = append(order, s.groupMessage)
		}
		sorts[s.groupMessage] = append(sorts[s.groupMessage], s)
	}
	var out []model.Problem
	for _, sort := range order {
		same := sorts[sort]
		if len(same) <= maxListed {
			for _, s := range same {
				out = append(out, s.Problem())
			}
			continue
		}
		var names model.Tally
		for _, s := range same {
			names.Add(s.name)
		}
		p := same[0].Problem()
		p.Message = fmt.Sprintf("%d %s; they are %s", names.Count, sort, names.String())
		out = append(out, p)
	}
	return out
}

// unreadSet is what of an input is not read.
type unreadSet struct {
	inputs []*Input
	at     map[topology.NodeID][]int // by node: the positions of what may matter there
	sends  map[topology.NodeID][]int // likewise, of what sends there
}

// Inputs lists what has to do with traffic and is not read, in a stable order.
func Inputs(r *resolve.Resolution) []*Input { return findUnread(r).inputs }

// unreadKey is under which a resolution keeps what is not read.
type unreadKey struct{}

// findUnread finds what is not read, once for a resolution.
func findUnread(r *resolve.Resolution) *unreadSet {
	return resolve.Memoize(r, unreadKey{}, func() *unreadSet {
		f := unreadFinder{res: r, graph: r.Graph, in: r.Snapshot, known: r.Knowledge}
		f.findUnknownObjects()
		f.findParameters()
		f.findOnNodes()
		out := &unreadSet{inputs: f.found, at: map[topology.NodeID][]int{}, sends: map[topology.NodeID][]int{}}
		for i, s := range f.found {
			for _, id := range s.Nodes {
				out.at[id] = append(out.at[id], i)
			}
			for _, id := range s.SendsTo {
				out.sends[id] = append(out.sends[id], i)
			}
		}
		return out
	})
}

// At lists what is not read and may matter at some nodes: what is said of them or of anything
// above them.
func At(r *resolve.Resolution, nodes []topology.NodeID) []*Input {
	return collectUnread(r, nodes, true, r.Graph.AllParents)
}

// OnPath is UnreadAt for what takes one way: nodes is all of it.
func OnPath(r *resolve.Resolution, nodes []topology.NodeID) []*Input {
	return collectUnread(r, nodes, false, r.Graph.Above)
}

// ForTargets lists what is not read and may matter to what becomes of a policy with these
// targets: at them, above them and below them.
func ForTargets(r *resolve.Resolution, targets []topology.NodeID) []*Input {
	below := func(id topology.NodeID) []topology.NodeID {
		return append(r.Graph.Parts(id), r.Graph.AllChildren(id)...)
	}
	return collectUnread(r, targets, true, r.Graph.AllParents, below)
}

// collectUnread lists what is said of nodes and of what is next to them in some directions, each
// followed to its end; with what sends there, if that is wanted.
func collectUnread(r *resolve.Resolution, nodes []topology.NodeID, sent bool,
	directions ...func(topology.NodeID) []topology.NodeID) []*Input {
	b := findUnread(r)
	if len(b.inputs) == 0 {
		return nil
	}
	found := make([]bool, len(b.inputs))
	for _, next := range directions {
		seen := map[topology.NodeID]bool{}
		for open := slices.Clone(nodes); len(open) > 0; {
			id := open[len(open)-1]
			open = open[:len(open)-1]
			if seen[id] || int(id) >= r.Graph.Len() {
				continue
			}
			seen[id] = true
			for _, i := range b.at[id] {
				found[i] = true
			}
			for _, i := range b.sends[id] {
				found[i] = found[i] || sent
			}
			open = append(open, next(id)...)
		}
	}
	var out []*Input
	for i, s := range b.inputs {
		if found[i] {
			out = append(out, s)
		}
	}
	return out
}

// unreadFinder looks for what is not read.
type unreadFinder struct {
	res   *resolve.Resolution
	graph *topology.Graph
	in    *model.Snapshot
	known *descriptor.Knowledge
	found []*Input

	kinds  map[string]model.GroupKind                     // the kinds that make the graph, by their names in lower case
	byName map[model.GroupKind]map[string][]*model.Object // of kinds that were asked about
}

// addUnread keeps a finding if it is about anything in the graph.
func (f *unreadFinder) addUnread(s Input, path ...string) {
	if len(s.Nodes) == 0 {
		return
	}
	slices.Sort(s.Nodes)
	s.Nodes = slices.Compact(s.Nodes)
	s.origin = s.Object.OriginOf(path...)
	f.found = append(f.found, &s)
}

// objectsNamed lists the objects of a kind with a name, in whichever namespace.
func (f *unreadFinder) objectsNamed(gk model.GroupKind, name string) []*model.Object {
	known, ok := f.byName[gk]
	if !ok {
		known = map[string][]*model.Object{}
		for _, o := range f.in.OfKind(gk) {
			known[o.Ref.Name] = append(known[o.Ref.Name], o)
		}
		if f.byName == nil {
			f.byName = map[model.GroupKind]map[string][]*model.Object{}
		}
		f.byName[gk] = known
	}
	return known[name]
}
