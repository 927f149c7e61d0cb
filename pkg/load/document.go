package load

import (
	"context"
	"math"
	"runtime"
	"slices"
	"strconv"
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
			words := newWords()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(pieces) {
					return
				}
				outcomes[i] = decodePiece(pieces[i], words, &limits)
			}
		})
	}
	workers.Wait()
	return outcomes, ctx.Err()
}

// document is a document while it is being read.
type document struct {
	file source
	text *text
	doc  int // its number within text
	odd  []oddKey
	out  *outcome

	wipe bool // the text holds a Secret, or something that could be meant as one
}

// subject is a value that should be an object: a document, or an item of a list.
type subject struct {
	node  *yaml.Node // or that of the list it is in, where its own cannot be told
	value any
	path  []string // from the document's root
	until int      // the line before which it ends
}

// decodePiece reads one piece. Its text stays in memory only if all of it is in use and no Secret: to find lines in.
func decodePiece(p piece, words *words, limits *Limits) (out outcome) {
	d := &document{file: p.file, text: &text{first: p.line, limits: limits, bytes: p.text}, out: &out}
	nodes, failed := parse(p.text, *limits)
	if failed != nil {
		d.report(nil, failed)
	}
	scale := newScale(*limits)
	c := &converter{first: p.line, words: words, shared: map[*yaml.Node]any{}}
	for i, n := range nodes {
		d.doc, c.odd = i, nil
		_, failed := scale.weigh(n, 0)
		var v any
		if failed == nil {
			v, failed = c.value(n)
		}
		if failed != nil {
			d.report(nil, failed)
			nodes[i] = nil
			continue
		}
		d.odd = c.odd
		if v != nil {
			d.take(subject{node: n, value: v, until: math.MaxInt})
		}
	}
	switch {
	case len(out.objects) == 0:
		clear(p.text)
	case d.wipe:
		d.text.forget(nodes)
	}
	return out
}

// report adds trouble; of is the object that has it, or nil where it keeps something from being one.
func (d *document) report(of *model.Object, t *trouble) {
	d.wipe = d.wipe || of == nil
	d.out.findings = append(d.out.findings, finding{of: of, problem: model.Problem{
		Severity: severity(t.code), Code: t.code, Message: t.message, Hint: t.hint,
		Origin: &model.Origin{File: d.file.name, Line: d.text.first + t.line - 1},
	}})
}

// take reads s as an object, or as a list of objects.
func (d *document) take(s subject) {
	m, ok := s.value.(map[string]any)
	switch {
	case !ok:
		d.notMap(s)
	case m["apiVersion"] == nil && m["kind"] == nil:
		d.other(s, "not used: it has neither apiVersion nor kind")
	case isList(m):
		d.list(s, m)
	case strings.HasPrefix(model.Text(m, "apiVersion"), "kustomize.config.k8s.io/"):
		d.out.foreign++
	default:
		d.object(s, m)
	}
}

// notMap says of a value that it cannot be an object. A list of objects is a mistake wherever it is found.
func (d *document) notMap(s subject) {
	list, _ := s.value.([]any)
	for _, v := range list {
		if model.Get(v, "apiVersion") != nil || model.Get(v, "kind") != nil {
			d.report(nil, &trouble{code: model.NotAnObject, line: s.line(), message: "not used: a list, not an object",
				hint: "write the objects as documents of their own, with --- between them, or as items of kind: List"})
			return
		}
	}
	d.other(s, "not used: not an object")
}

// other is YAML that is not meant for Kubernetes. It is only counted where it may be expected: in a folder.
func (d *document) other(s subject, message string) {
	if d.file.named || len(s.path) > 0 {
		d.report(nil, &trouble{code: model.NotAnObject, line: s.line(), message: message})
		return
	}
	d.out.foreign++
}

// isList reports whether m is a List, or of a kind that ends so and has items.
func isList(m map[string]any) bool {
	kind := model.Text(m, "kind")
	_, has := m["items"]
	return kind == "List" || has && strings.HasSuffix(kind, "List")
}

// list reads the items of a list. Those of a FooList need not say that they are Foos.
func (d *document) list(s subject, m map[string]any) {
	items, ok := m["items"].([]any)
	if !ok && m["items"] != nil {
		d.report(nil, &trouble{code: model.WrongType, line: s.line("items"), message: "not used: items is not a list"})
		return
	}
	d.out.readable++
	nodes := s.items(len(items))
	for i, v := range items {
		item := subject{node: nodes[i], value: v, until: s.until, path: append(s.path[:len(s.path):len(s.path)], "items", strconv.Itoa(i))}
		if i+1 < len(items) {
			item.until = nodes[i+1].Line
		}
		if kind := strings.TrimSuffix(model.Text(m, "kind"), "List"); kind != "" {
			item.value = withType(v, model.Text(m, "apiVersion"), kind)
		}
		d.take(item)
	}
}

// line is where the part of s at path stands, or as much of it as is found.
func (s subject) line(path ...string) int {
	at := s.node
	for _, key := range path {
		next := child(at, key)
		if next == nil {
			break
		}
		at = next
	}
	return at.Line
}

// items lists the nodes of the n items of a list.
func (s subject) items(n int) []*yaml.Node {
	if list := child(s.node, "items"); list != nil && len(resolved(list).Content) == n {
		return resolved(list).Content
	}
	return slices.Repeat([]*yaml.Node{s.node}, n)
}

// withType is v with the given type where it names none.
func withType(v any, apiVersion, kind string) any {
	m, ok := v.(map[string]any)
	if !ok || m["apiVersion"] != nil && m["kind"] != nil {
		return v
	}
	return with(m, func(m map[string]any) {
		if m["apiVersion"] == nil && apiVersion != "" {
			m["apiVersion"] = apiVersion
		}
		if m["kind"] == nil {
			m["kind"] = kind
		}
	})
}
