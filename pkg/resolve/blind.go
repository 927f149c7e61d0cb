package resolve

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// BlindSpot is something in the input that has to do with traffic and that nobody reads: an object of a kind that is not known, a filter,
// parameters, an annotation. What is in force where it matters is not known for sure.
type BlindSpot struct {
	At     []topology.NodeID // it may matter at these nodes and below; sorted
	Sends  []topology.NodeID // backends that get traffic by it: by which ways it comes there is not known
	Object *model.Object     // that says so
	Gates  bool              // it may keep requests out: a filter, or an object that could be a policy

	Hangs []topology.NodeID // of an object that hangs on these as routes do: requests may go its way
	Hosts []string          // of such an object: the hostnames that it is for; nil: any, or they are not known

	message, hint string
	origin        model.Origin
	alike         string // what many of them have in common, behind their number
	name          string // what tells it from those
}

// Problem says what is not read.
func (s *BlindSpot) Problem() model.Problem {
	p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: s.message, Hint: s.hint}.At(s.Object)
	p.Origin = &s.origin
	return p
}

// toldApart is how many blind spots of one sort are told one by one.
const toldApart = 8

// Tell says what is not read, many of one sort in one sentence.
func Tell(spots []*BlindSpot) []model.Problem {
	sorts := map[string][]*BlindSpot{}
	var order []string
	for _, s := range spots {
		if sorts[s.alike] == nil {
			order = append(order, s.alike)
		}
		sorts[s.alike] = append(sorts[s.alike], s)
	}
	var out []model.Problem
	for _, sort := range order {
		same := sorts[sort]
		if len(same) <= toldApart {
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
		p.Message = fmt.Sprintf("%d %s; they are %s", names.N, sort, names.String())
		out = append(out, p)
	}
	return out
}

// blindness is what of an input is not read.
type blindness struct {
	spots []*BlindSpot
	at    map[topology.NodeID][]int // by node: the positions of what may matter there
	sends map[topology.NodeID][]int // likewise, of what sends there
}

// BlindSpots lists what has to do with traffic and is not read, in a stable order.
func (r *Resolution) BlindSpots() []*BlindSpot { return r.blindness().spots }

func (r *Resolution) blindness() *blindness {
	r.looked.Do(func() {
		f := blindFinder{res: r, graph: r.Graph, in: r.Snapshot, known: r.knowledge}
		f.strangers()
		f.parameters()
		f.nodes()
		r.blind = blindness{spots: f.spots, at: map[topology.NodeID][]int{}, sends: map[topology.NodeID][]int{}}
		for i, s := range f.spots {
			for _, id := range s.At {
				r.blind.at[id] = append(r.blind.at[id], i)
			}
			for _, id := range s.Sends {
				r.blind.sends[id] = append(r.blind.sends[id], i)
			}
		}
	})
	return &r.blind
}

// BlindAt lists what is not read and may matter at some nodes: what is said of them or of anything above them.
func (r *Resolution) BlindAt(nodes []topology.NodeID) []*BlindSpot {
	return r.blindTo(nodes, true, r.Graph.Over)
}

// BlindOn is BlindAt for what takes one way: nodes is all of it.
func (r *Resolution) BlindOn(nodes []topology.NodeID) []*BlindSpot {
	return r.blindTo(nodes, false, r.Graph.Above)
}

// BlindFor lists what is not read and may matter to what becomes of a policy with these targets: at them, above them and below them.
func (r *Resolution) BlindFor(targets []topology.NodeID) []*BlindSpot {
	below := func(id topology.NodeID) []topology.NodeID { return append(r.Graph.Parts(id), r.Graph.Below(id)...) }
	return r.blindTo(targets, true, r.Graph.Over, below)
}

// blindTo lists what is said of nodes and of what is next to them in some directions, each followed to its end; with what sends there, if that
// is wanted.
func (r *Resolution) blindTo(nodes []topology.NodeID, sent bool, directions ...func(topology.NodeID) []topology.NodeID) []*BlindSpot {
	b := r.blindness()
	if len(b.spots) == 0 {
		return nil
	}
	found := make([]bool, len(b.spots))
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
	var out []*BlindSpot
	for i, s := range b.spots {
		if found[i] {
			out = append(out, s)
		}
	}
	return out
}

// blindFinder looks for what is not read.
type blindFinder struct {
	res   *Resolution
	graph *topology.Graph
	in    *model.Snapshot
	known *descriptor.Knowledge
	spots []*BlindSpot

	kinds  map[string]model.GroupKind                     // the kinds that make the graph, by their names in lower case
	byName map[model.GroupKind]map[string][]*model.Object // of kinds that were asked about
}

// add keeps a blind spot if it is about anything in the graph.
func (f *blindFinder) add(s BlindSpot, path ...string) {
	if len(s.At) == 0 {
		return
	}
	slices.Sort(s.At)
	s.At = slices.Compact(s.At)
	s.origin = s.Object.OriginOf(path...)
	f.spots = append(f.spots, &s)
}

// everywhere lists the objects of a kind with a name, in whichever namespace.
func (f *blindFinder) everywhere(gk model.GroupKind, name string) []*model.Object {
	known, ok := f.byName[gk]
	if !ok {
		known = map[string][]*model.Object{}
		for _, o := range f.in.Of(gk) {
			known[o.Ref.Name] = append(known[o.Ref.Name], o)
		}
		if f.byName == nil {
			f.byName = map[model.GroupKind]map[string][]*model.Object{}
		}
		f.byName[gk] = known
	}
	return known[name]
}
