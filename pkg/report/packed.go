package report

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// Packed is a report for a page: the same document as its JSON, with everything that is alike in it
// written once.
type Packed struct {
	opening

	packer *packer
	root   object
}

// Pack is Gather for a page: a document is packed while the next question is asked, and then
// dropped, as all of them take several times the memory of the input. draw gets the topology, and
// returns what of it the picture shows.
func Pack(r *resolve.Resolution, q Query, facts Facts, draw func(*graph.Topology) *graph.Topology) (*Packed, error) {
	p := newPacked()
	documents, packed := make(chan any), make(chan error, 1)
	go func() {
		var failed error
		for d := range documents {
			failed = cmp.Or(failed, p.addDocument(d))
		}
		packed <- failed
	}()
	opening, err := askAll(r, q, facts, func(d any) {
		documents <- d
		if t, ok := d.(*graph.Topology); ok {
			if drawn := draw(t); drawn != t {
				documents <- pictureTopology{drawn}
			}
		}
	})
	close(documents)
	if err := cmp.Or(<-packed, err); err != nil {
		return nil, err
	}
	return p, p.addOpening(opening)
}

// pictureTopology is the topology that the picture in a page shows, where that is less than all.
type pictureTopology struct{ *graph.Topology }

func newPacked() *Packed { return &Packed{packer: newPacker()} }

// packText is the packed document.
func (p *Packed) packText() ([]byte, error) {
	return p.packer.encodeDocument(p.packer.addObject(p.root))
}

// addOpening adds what the document begins with.
func (p *Packed) addOpening(o opening) error {
	p.opening = o
	begin, err := p.packer.packFields(o)
	for i, key := range begin.keys {
		p.root.setField(key, begin.values[i])
	}
	return err
}

// addDocument adds one of the documents of a report.
func (p *Packed) addDocument(document any) error {
	d, err := takeApart(document)
	if err != nil {
		return err
	}
	packed, err := p.packer.packPart(d)
	p.root.setField(p.packer.numberOfKey(d.name), packed)
	return err
}

// documentPart is a document of the contract, taken apart: head is the document with its lists
// empty.
type documentPart struct {
	name  string
	head  any
	lists []documentList
}

// documentList is what belongs into a field of a head.
type documentList struct {
	name  string
	items iter.Seq[any]
}

// takeApart takes a document apart.
func takeApart(document any) (documentPart, error) {
	switch d := document.(type) {
	case *graph.Topology:
		return newTopologyPart("topology", *d), nil
	case pictureTopology:
		return newTopologyPart("picture", *d.Topology), nil
	case *effective.EffectivePolicyList:
		head := *d
		return documentPart{"effective", &head, []documentList{takeList("items", &head.Items)}}, nil
	case *overridden.OverriddenRuleList:
		head := *d
		return documentPart{"overridden", &head, []documentList{takeList("items", &head.Items)}}, nil
	case *status.StatusList:
		head := *d
		return documentPart{"status", &head, []documentList{takeList("items", &head.Items)}}, nil
	case *check.Report:
		head := *d
		return documentPart{"findings", &head, []documentList{takeList("items", &head.Items)}}, nil
	case *prove.RuleClassList:
		head := *d
		return documentPart{"classes", &head, []documentList{takeList("items", &head.Items)}}, nil
	case *protection.RuleProtectionList:
		head := *d
		return documentPart{"protection", &head, []documentList{takeList("items", &head.Items)}}, nil
	case *audit.Report:
		head := *d
		return documentPart{"dataplane", &head, []documentList{takeList("items", &head.Items),
			takeList("matched", &head.Matched)}}, nil
	}
	return documentPart{}, fmt.Errorf("packing the report: it has no document of type %T", document)
}

func newTopologyPart(name string, t graph.Topology) documentPart {
	return documentPart{name, &t, []documentList{takeList("nodes", &t.Nodes), takeList("edges", &t.Edges)}}
}

// takeList takes a list out of a head.
func takeList[T any](name string, field *[]T) documentList {
	items := *field
	*field = []T{}
	return documentList{name, eachItem(items)}
}

// eachItem hands out the items by reference: they are large.
func eachItem[T any](items []T) iter.Seq[any] {
	return func(yield func(any) bool) {
		for i := range items {
			if !yield(&items[i]) {
				return
			}
		}
	}
}

// sharedParts are the parts of effective policies that many have.
type sharedParts struct {
	stacks map[stackKey]object // what follows from a stack, and is alike for some of its targets
	paths  map[pathsKey]valueRef
}

// stackKey tells what effective policies share apart: targets that see a stack alike have the same
// rules, with why they are in force.
type stackKey struct {
	policies *view.PolicyUse
	rules    *view.Rule
}

// pathsKey tells lists of paths apart.
type pathsKey struct {
	first  *view.Path
	length int
}

// packItem packs one item of a list. What effective policies share is packed once: all of a stack
// but where it is in force.
func (p *packer) packItem(v any) (valueRef, error) {
	e, ok := v.(*view.EffectivePolicy)
	if !ok || len(e.Policies) == 0 || len(e.Paths) == 0 {
		return p.packValue(v)
	}
	of := stackKey{policies: &e.Policies[0]}
	if len(e.Rules) > 0 {
		of.rules = &e.Rules[0]
	}
	common, known := p.shared.stacks[of]
	if !known {
		some := *e
		some.Paths, some.Unread = nil, nil
		var err error
		if common, err = p.packFields(&some); err != nil {
			return 0, err
		}
		p.shared.stacks[of] = common
	}
	target, err := p.packValue(&e.Target)
	if err != nil {
		return 0, err
	}
	way := pathsKey{&e.Paths[0], len(e.Paths)}
	paths, known := p.shared.paths[way]
	if !known {
		if paths, err = p.packValue(e.Paths); err != nil {
			return 0, err
		}
		p.shared.paths[way] = paths
	}
	own := common.clone()
	own.setField(p.numberOfKey("target"), target)
	own.setField(p.numberOfKey("paths"), paths)
	if len(e.Unread) > 0 {
		unread, err := p.packValue(e.Unread)
		if err != nil {
			return 0, err
		}
		own.setField(p.numberOfKey("unread"), unread)
	}
	return p.addObject(own), nil
}

func (p *packer) packPart(from documentPart) (valueRef, error) {
	p.shared = sharedParts{map[stackKey]object{}, map[pathsKey]valueRef{}}
	head, err := p.packFields(from.head)
	if err != nil {
		return 0, err
	}
	for _, l := range from.lists {
		var items []valueRef
		for item := range l.items {
			packed, err := p.packItem(item)
			if err != nil {
				return 0, err
			}
			items = append(items, packed)
		}
		head.setField(p.numberOfKey(l.name), p.addList(items))
	}
	return p.addObject(head), nil
}
