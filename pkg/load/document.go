package load

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// outcome is what a piece turned out to hold.
type outcome struct {
	objects  []*model.Object // namespaces as written
	findings []finding
	foreign  int // documents that are not meant for Kubernetes
	readable int // objects, and lists of objects

	generated []*model.Object // those of objects whose name the API server makes

	namespace string // of objects that name none; "" for that of all
	version   string // of the cluster, if it is a list of one
}

// finding is a problem, perhaps with an object whose reference is complete only later.
type finding struct {
	of      *model.Object
	problem model.Problem
}

// decode reads all pieces, as many at a time as there are processors. The outcomes are in the order of the pieces.
func decode(ctx context.Context, pieces []piece, limits Limits) ([]outcome, error) {
	outcomes := make([]outcome, len(pieces))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(pieces)) {
		workers.Go(func() {
			w := worker{words: newWords(), press: &press{to: &model.Packer{}}, limits: &limits}
			defer w.press.deliver()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(pieces) {
					return
				}
				outcomes[i] = w.decode(pieces[i])
			}
		})
	}
	workers.Wait()
	return outcomes, ctx.Err()
}

// worker reads one piece after the other.
type worker struct {
	words  *words
	press  *press
	limits *Limits
}

// document is a document while it is being read.
type document struct {
	file  source
	from  string // the context of the cluster that the document is from; "": it is a manifest
	first int    // the file's line on which its text begins
	odd   []oddKey
	press *press
	out   *outcome

	others int // values that are no objects
}

// subject is a value that should be an object: a document, or an item of a list. Lines are those of the text.
type subject struct {
	value any
	line  int
	inner bool // an item
	until int  // the line before which it ends
}

// decode reads one piece. Its text is wiped: it may hold a Secret, or something that was meant as one.
func (w *worker) decode(p piece) (out outcome) {
	defer clear(p.text)
	out.namespace = p.namespace
	w.read(p, &out)
	return out
}

// read adds what a piece holds.
func (w *worker) read(p piece, out *outcome) {
	nodes, behind, failed := parse(p, *w.limits)
	if failed != nil && p.many {
		for _, one := range p.parts() {
			w.read(one, out)
		}
		return
	}
	first := p.line
	if p.from != "" {
		first = noLines
	}
	d := &document{file: p.file, from: p.from, first: p.line, press: w.press.begin(first), out: out}
	if failed != nil {
		d.report(nil, failed)
	}
	scale := newSizer(*w.limits)
	c := &converter{first: p.line, words: w.words, shared: map[*yaml.Node]any{}, spend: true}
	for i, n := range nodes {
		c.odd, nodes[i] = nil, nil
		_, failed := scale.measure(n, 0)
		var v any
		if failed == nil {
			v, failed = c.value(n)
		}
		if failed != nil {
			d.report(nil, failed)
			continue
		}
		d.odd = c.odd
		d.press.turn(n.Line)
		if v != nil {
			d.take(subject{value: v, line: n.Line, until: math.MaxInt})
		}
	}
	d.skip(behind)
}

// secondDocument is the message for a document that kubectl does not read.
const secondDocument = "not used: kubectl reads one document between two lines ---, and this is a second one"

// skip says of documents that kubectl does not read them, if they may be objects.
func (d *document) skip(nodes []*yaml.Node) {
	if t := notRead(nodes); t != nil {
		d.report(nil, t)
		return
	}
	for _, n := range nodes {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!null" {
			d.other(subject{line: n.Line}, secondDocument)
		}
	}
}

// notRead is the trouble with the first object among documents that kubectl does not read; nil:
// there is none.
func notRead(nodes []*yaml.Node) *trouble {
	for _, n := range nodes {
		if mayBeObject(n) {
			t := invalid(n.Line, secondDocument)
			t.hint = "put --- on a line of its own in front of it"
			return t
		}
	}
	return nil
}

// mayBeObject reports whether a node is a map with an apiVersion or a kind, or has one among its
// entries.
func mayBeObject(n *yaml.Node) bool {
	if n.Kind == yaml.SequenceNode {
		return slices.ContainsFunc(n.Content, func(n *yaml.Node) bool { return n.Kind == yaml.MappingNode && mayBeObject(n) })
	}
	return n.Kind == yaml.MappingNode && (part(n, "apiVersion") != nil || part(n, "kind") != nil)
}

// report adds trouble; of is the object that has it, or nil where it keeps something from being one.
func (d *document) report(of *model.Object, t *trouble) {
	d.out.findings = append(d.out.findings, finding{of: of, problem: model.Problem{
		Severity: t.severity(), Code: t.code, Message: t.message, Hint: t.hint,
		Origin: d.origin(t.line),
	}})
}

// origin is the place of a line of the text. Objects of a cluster have no lines.
func (d *document) origin(line int) *model.Origin {
	if d.from != "" {
		return &model.Origin{Cluster: d.from}
	}
	return &model.Origin{File: d.file.name, Line: d.first + line - 1}
}

// take reads s as an object, or as a list of objects.
func (d *document) take(s subject) {
	m := asMap(s.value)
	switch {
	case m == nil:
		d.notMap(s)
	case m.at("apiVersion") == nil && m.at("kind") == nil:
		d.other(s, "not used: it has neither apiVersion nor kind")
	case strings.HasPrefix(m.text("apiVersion"), snapshotGroup) && m.text("kind") == model.SnapshotKind:
		d.report(nil, invalid(s.line, "not used: the header of a snapshot, which has to open its file: without it, what follows is not known to be all"))
	case d.holdsItems(s, m):
		d.list(s, m)
	case strings.HasPrefix(m.text("apiVersion"), "kustomize.config.k8s.io/"):
		d.out.foreign++
	default:
		d.object(s, m)
	}
}

// notMap says of a value that it cannot be an object. A list of objects is a mistake wherever it is found.
func (d *document) notMap(s subject) {
	entries, _ := asList(s.value)
	for _, e := range entries {
		if m := asMap(e.value); m.at("apiVersion") != nil || m.at("kind") != nil {
			d.report(nil, &trouble{code: model.NotAnObject, line: s.line, message: "not used: a list, not an object",
				hint: "write the objects as documents of their own, with --- between them, or as items of kind: List"})
			return
		}
	}
	d.other(s, "not used: not an object")
}

// other is YAML that is not meant for Kubernetes. It is only counted where it may be expected: in a folder.
func (d *document) other(s subject, message string) {
	const many = 50 // of one piece
	if d.file.named || s.inner {
		t := &trouble{code: model.NotAnObject, line: s.line, message: message, unread: s.inner}
		switch d.others++; {
		case d.others < many:
			d.report(nil, t)
		case d.others == many:
			t.message = "not used: no object, and there are more like it"
			d.report(nil, t)
		}
		return
	}
	d.out.foreign++
}

// isList reports whether m is a List, or of a kind that ends so and has items.
func isList(m *tree) bool {
	kind := m.text("kind")
	return kind == "List" || strings.HasSuffix(kind, "List") && m.find("items") != nil
}

// holdsItems reports whether kubectl takes m for a list: it has items, whatever its kind. Among the
// items of a list only those that have a list of items are. What a server tells is a list by its
// kind.
func (d *document) holdsItems(s subject, m *tree) bool {
	items := m.find("items")
	switch {
	case d.from != "" || items == nil:
		return isList(m)
	case m.text("kind") == "": // which it refuses
		return false
	case s.inner:
		_, ok := asList(items.value)
		return ok
	}
	return true
}

// list reads the items of a list. Those that do not say what they are have the type of the list.
func (d *document) list(s subject, m *tree) {
	items, ok := asList(m.at("items"))
	if !ok && m.at("items") != nil {
		d.report(nil, &trouble{code: model.WrongType, line: s.lineOf("items"), message: "not used: items is not a list", unread: true})
		return
	}
	if s.inner && d.from == "" {
		d.report(nil, &trouble{code: model.NotAnObject, line: s.line, message: "a list within a list: kubectl refuses both", unread: true,
			hint: "write its items into the outer list"})
	}
	if len(items) == 0 && !isList(m) {
		d.report(nil, &trouble{code: model.NotAnObject, line: s.lineOf("items"), message: "not used: kubectl takes what has items for a list, and this one is empty", unread: true,
			hint: "take items out"})
		return
	}
	d.out.readable++
	for i, e := range items {
		item := subject{value: e.value, line: e.line, until: s.until, inner: true}
		if i+1 < len(items) {
			item.until = items[i+1].line
		}
		if kind := strings.TrimSuffix(m.text("kind"), "List"); kind != "" {
			item.value = withType(e, m.text("apiVersion"), kind)
		}
		d.take(item)
	}
}

// lineOf is where the part of s at path stands, or as much of it as is found.
func (s subject) lineOf(path ...string) int { return lineOf(s.value, s.line, path...) }

// withType is the item with the given type where it names none.
func withType(item kid, apiVersion, kind string) any {
	m := asMap(item.value)
	if m == nil || m.text("apiVersion") != "" || m.text("kind") != "" {
		return item.value
	}
	if apiVersion != "" {
		m = m.with("apiVersion", item.line, apiVersion)
	}
	return m.with("kind", item.line, kind)
}
