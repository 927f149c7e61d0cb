package report

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Packed is a report for a page: the same document as its JSON, with everything that is alike in it written once.
type Packed struct {
	opening

	packer *packer
	root   object
}

// Pack is Gather for a page: a document is packed while the next question is asked, and then dropped, as all of them take several times the memory of
// the input. draw gets the topology, and returns what of it the picture shows.
func Pack(r *resolve.Resolution, q Query, facts Facts, draw func(*view.Topology) *view.Topology) (*Packed, error) {
	p := newPacked()
	documents, packed := make(chan any), make(chan error, 1)
	go func() {
		var failed error
		for d := range documents {
			failed = cmp.Or(failed, p.add(d))
		}
		packed <- failed
	}()
	opening, err := gather(r, q, facts, func(d any) {
		documents <- d
		if t, ok := d.(*view.Topology); ok {
			if drawn := draw(t); drawn != t {
				documents <- picture{drawn}
			}
		}
	})
	close(documents)
	if err := cmp.Or(<-packed, err); err != nil {
		return nil, err
	}
	return p, p.open(opening)
}

// picture is the topology that the picture in a page shows, where that is less than all.
type picture struct{ *view.Topology }

func newPacked() *Packed { return &Packed{packer: newPacker()} }

// text is the packed document.
func (p *Packed) text() ([]byte, error) { return p.packer.document(p.packer.object(p.root)) }

// open adds what the document begins with.
func (p *Packed) open(o opening) error {
	p.opening = o
	begin, err := p.packer.fields(o)
	for i, key := range begin.keys {
		p.root.set(key, begin.values[i])
	}
	return err
}

// add adds one of the documents of a report.
func (p *Packed) add(document any) error {
	d, err := taken(document)
	if err != nil {
		return err
	}
	packed, err := p.packer.part(d)
	p.root.set(p.packer.key(d.name), packed)
	return err
}

// part is a document of the contract, taken apart: head is the document with its lists empty.
type part struct {
	name  string
	head  any
	lists []list
}

// list is what belongs into a field of a head.
type list struct {
	name  string
	items iter.Seq[any]
}

// taken takes a document apart.
func taken(document any) (part, error) {
	switch d := document.(type) {
	case *view.Topology:
		return topologyPart("topology", *d), nil
	case picture:
		return topologyPart("picture", *d.Topology), nil
	case *view.EffectivePolicyList:
		head := *d
		return part{"effective", &head, []list{out("items", &head.Items)}}, nil
	case *view.OverriddenRuleList:
		head := *d
		return part{"overridden", &head, []list{out("items", &head.Items)}}, nil
	case *view.StatusList:
		head := *d
		return part{"status", &head, []list{out("items", &head.Items)}}, nil
	case *check.Report:
		head := *d
		return part{"findings", &head, []list{out("items", &head.Items)}}, nil
	case *view.RuleClassList:
		head := *d
		return part{"classes", &head, []list{out("items", &head.Items)}}, nil
	case *view.RuleProtectionList:
		head := *d
		return part{"protection", &head, []list{out("items", &head.Items)}}, nil
	case *audit.Report:
		head := *d
		return part{"dataplane", &head, []list{out("items", &head.Items), out("matched", &head.Matched)}}, nil
	}
	return part{}, fmt.Errorf("packing the report: it has no document of type %T", document)
}

func topologyPart(name string, t view.Topology) part {
	return part{name, &t, []list{out("nodes", &t.Nodes), out("edges", &t.Edges)}}
}

// out takes a list out of a head.
func out[T any](name string, field *[]T) list {
	items := *field
	*field = []T{}
	return list{name, each(items)}
}

// each hands out the items by reference: they are large.
func each[T any](items []T) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range items {
			if !yield(&items[i]) {
				return
			}
		}
	}
}

// shared are the parts of effective policies that many have.
type shared struct {
	stacks map[stack]object // what follows from a stack, and is alike for some of its targets
	paths  map[lane]ref
}

// stack tells what effective policies share apart: targets that see a stack alike have the same rules, with why they are in force.
type stack struct {
	policies *view.PolicyUse
	rules    *view.Rule
}

// lane tells lists of paths apart.
type lane struct {
	first *view.Path
	n     int
}

// item packs one item of a list. What effective policies share is packed once: all of a stack but where it is in force.
func (p *packer) item(v any) (ref, error) {
	e, ok := v.(*view.EffectivePolicy)
	if !ok || len(e.Policies) == 0 || len(e.Paths) == 0 {
		return p.value(v)
	}
	of := stack{policies: &e.Policies[0]}
	if len(e.Rules) > 0 {
		of.rules = &e.Rules[0]
	}
	common, known := p.shared.stacks[of]
	if !known {
		some := *e
		some.Paths, some.Unread = nil, nil
		var err error
		if common, err = p.fields(&some); err != nil {
			return 0, err
		}
		p.shared.stacks[of] = common
	}
	target, err := p.value(&e.Target)
	if err != nil {
		return 0, err
	}
	way := lane{&e.Paths[0], len(e.Paths)}
	paths, known := p.shared.paths[way]
	if !known {
		if paths, err = p.value(e.Paths); err != nil {
			return 0, err
		}
		p.shared.paths[way] = paths
	}
	own := common.clone()
	own.set(p.key("target"), target)
	own.set(p.key("paths"), paths)
	if len(e.Unread) > 0 {
		unread, err := p.value(e.Unread)
		if err != nil {
			return 0, err
		}
		own.set(p.key("unread"), unread)
	}
	return p.object(own), nil
}

func (p *packer) part(from part) (ref, error) {
	p.shared = shared{map[stack]object{}, map[lane]ref{}}
	head, err := p.fields(from.head)
	if err != nil {
		return 0, err
	}
	for _, l := range from.lists {
		var items []ref
		for item := range l.items {
			packed, err := p.item(item)
			if err != nil {
				return 0, err
			}
			items = append(items, packed)
		}
		head.set(p.key(l.name), p.list(items))
	}
	return p.object(head), nil
}
