package report

import (
	"iter"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// pack packs a report: the same document as its JSON. It takes an item at a time, so that memory does not hold the text of all.
func pack(r *Report) (*packer, ref, error) {
	p := newPacker()
	root, err := p.fields(opening{r.Envelope, r.Facts, r.Bare})
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
	classes := *r.Classes
	classes.Items = []view.RuleClasses{}
	out := []part{
		topologyPart("topology", *r.Topology),
		{"effective", &effective, []list{{"items", each(r.Effective.Items)}}},
		{"overridden", &overridden, []list{{"items", each(r.Overridden.Items)}}},
		{"status", &statuses, []list{{"items", each(r.Status.Items)}}},
		{"findings", &findings, []list{{"items", each(r.Findings.Items)}}},
		{"classes", &classes, []list{{"items", each(r.Classes.Items)}}},
	}
	if r.Dataplane != nil {
		audited := *r.Dataplane
		audited.Items, audited.Matched = []audit.Item{}, []audit.Match{}
		out = append(out, part{"dataplane", &audited, []list{{"items", each(r.Dataplane.Items)}, {"matched", each(r.Dataplane.Matched)}}})
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

// shared are the parts of effective policies that many have.
type shared struct {
	stacks map[stack]fields // what follows from a stack, and is alike for some of its targets
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
	return p.object(own.keys, own.refs), nil
}

func (p *packer) part(from part) (ref, error) {
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
	return p.object(head.keys, head.refs), nil
}
