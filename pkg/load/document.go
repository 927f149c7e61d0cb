package load

import (
	"context"
	"math"
	"runtime"
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
	nodes, failed := parse(p.text, *w.limits)
	if failed != nil && p.many {
		for _, one := range split(p.file, p.text) {
			one.from, one.line = p.from, one.line+p.line-1
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
}

// report adds trouble; of is the object that has it, or nil where it keeps something from being one.
func (d *document) report(of *model.Object, t *trouble) {
	d.out.findings = append(d.out.findings, finding{of: of, problem: model.Problem{
		Severity: severity(t.code), Code: t.code, Message: t.message, Hint: t.hint,
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
	case isList(m):
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
		switch d.others++; {
		case d.others < many:
			d.report(nil, &trouble{code: model.NotAnObject, line: s.line, message: message})
		case d.others == many:
			d.report(nil, &trouble{code: model.NotAnObject, line: s.line, message: "not used: no object, and there are more like it"})
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

// list reads the items of a list. Those of a FooList need not say that they are Foos.
func (d *document) list(s subject, m *tree) {
	items, ok := asList(m.at("items"))
	if !ok && m.at("items") != nil {
		d.report(nil, &trouble{code: model.WrongType, line: s.lineOf("items"), message: "not used: items is not a list"})
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
	if m == nil {
		return item.value
	}
	if m.at("apiVersion") == nil && apiVersion != "" {
		m = m.with("apiVersion", item.line, apiVersion)
	}
	if m.at("kind") == nil {
		m = m.with("kind", item.line, kind)
	}
	return m
}
