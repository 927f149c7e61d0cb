package report

import (
	"iter"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// pack packs a report: the same document as its JSON. It takes an item at a time, so that memory does not hold the text of all.
func pack(r *Report) (*packer, ref, error) {
	p := newPacker()
	root, err := p.fields(opening{r.Envelope, r.Facts})
	if err != nil {
		return nil, 0, err
	}
	for _, part := range r.parts() {
		packed, err := p.part(part)
		if err != nil {
			return nil, 0, err
		}
		root.set(p.key(part.name), packed)
	}
	return p, p.object(root.keys, root.refs), nil
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

// parts are the documents of a report, in the order of its fields.
func (r *Report) parts() []part {
	effective, overridden, statuses, findings := *r.Effective, *r.Overridden, *r.Status, *r.Findings
	effective.Items, overridden.Items, statuses.Items = []view.EffectivePolicy{}, []view.OverriddenRule{}, []view.ObjectStatus{}
	findings.Items = findings.Items[:0:0]
	out := []part{
		topologyPart("topology", *r.Topology),
		{"effective", &effective, []list{{"items", each(r.Effective.Items)}}},
		{"overridden", &overridden, []list{{"items", each(r.Overridden.Items)}}},
		{"status", &statuses, []list{{"items", each(r.Status.Items)}}},
		{"findings", &findings, []list{{"items", each(r.Findings.Items)}}},
	}
	if r.Drawn != nil {
		out = append(out, topologyPart("picture", *r.Drawn))
	}
	return out
}

func topologyPart(name string, t view.Topology) part {
	nodes, edges := t.Nodes, t.Edges
	t.Nodes, t.Edges = []view.GraphNode{}, []view.GraphEdge{}
	return part{name, &t, []list{{"nodes", each(nodes)}, {"edges", each(edges)}}}
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

func (p *packer) part(from part) (ref, error) {
	head, err := p.fields(from.head)
	if err != nil {
		return 0, err
	}
	for _, l := range from.lists {
		var items []ref
		for item := range l.items {
			packed, err := p.value(item)
			if err != nil {
				return 0, err
			}
			items = append(items, packed)
		}
		head.set(p.key(l.name), p.list(items))
	}
	return p.object(head.keys, head.refs), nil
}
