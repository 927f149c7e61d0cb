package document

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

// Result is what a document turned out to hold.
type Result struct {
	Objects       []*model.Object // namespaces as written
	Problems      []PendingProblem
	NotKubernetes int // documents that are not meant for Kubernetes
	Readable      int // objects, and lists of objects

	File      string           // that the document is from
	Omissions []model.Omission // what it would make if it was rendered
	doubtful  []PendingProblem // of documents that are broken, or for another program

	Generated []*model.Object // those of objects whose name the API server makes

	Namespace       string // of objects that name none; "" for that of all
	ResourceVersion string // of the cluster, if it is a list of one
}

// PendingProblem is a problem, perhaps of an object whose reference is complete only later.
type PendingProblem struct {
	Object  *model.Object
	problem model.Problem
}

// ToProblem returns the problem with the reference of its object, whose namespace is known by now.
func (f PendingProblem) ToProblem() model.Problem {
	p := f.problem
	if f.Object != nil {
		ref := f.Object.Ref
		p.Ref = &ref
	}
	return p
}

// Decode reads all documents, as many at a time as there are processors. The results are in the
// order of the documents.
func Decode(ctx context.Context, pieces []Raw, limits Limits) ([]Result, error) {
	outcomes := make([]Result, len(pieces))
	var next atomic.Int64
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(pieces)) {
		workers.Go(func() {
			w := decoder{texts: newTextCache(), encoder: &encoder{packer: &model.Packer{}}, limits: &limits}
			defer w.encoder.assignBodies()
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(pieces) {
					return
				}
				outcomes[i] = w.decodeDocument(pieces[i])
				pieces[i].Text = nil // it is wiped, and need not be kept until the last is read
			}
		})
	}
	workers.Wait()
	classifyDoubtful(outcomes)
	return outcomes, ctx.Err()
}

// decoder reads one document after the other.
type decoder struct {
	texts   *textCache
	encoder *encoder
	limits  *Limits
}

// objectReader is a document while its objects are being read.
type objectReader struct {
	file        File
	cluster     string // the context of the cluster that the document is from; "": it is a manifest
	firstLine   int    // the file's line on which its text begins
	changedKeys []changedKey
	encoder     *encoder
	result      *Result

	otherValues int // values that are no objects
}

// candidate is a value that should be an object: a document, or an item of a list. Lines are those
// of the text.
type candidate struct {
	value   any
	line    int
	isItem  bool // an item
	endLine int  // the line before which it ends
}

// decodeDocument reads one document. Its text is wiped: it may hold a Secret, or something that was
// meant as one.
func (w *decoder) decodeDocument(p Raw) (out Result) {
	defer clear(p.Text)
	out.Namespace, out.File = p.Namespace, p.File.Name
	w.readDocument(p, &out)
	return out
}

// readDocument adds what a document holds to a result.
func (w *decoder) readDocument(p Raw, out *Result) {
	nodes, behind, failed := parseDocument(p, *w.limits)
	if failed != nil && p.isBatch {
		for _, one := range p.splitBatch() {
			w.readDocument(one, out)
		}
		return
	}
	first := p.Line
	if p.Cluster != "" {
		first = noLines
	}
	d := &objectReader{file: p.File, cluster: p.Cluster, firstLine: p.Line, encoder: w.encoder.beginText(first),
		result: out}
	if second := secondDocumentProblem(behind); second != nil && d.canBeForeign() && isTemplate(p.Text, second) {
		d.addUnread(p.Text, second)
		return
	}
	if failed != nil {
		d.addUnread(p.Text, failed)
	}
	scale := newSizeChecker(*w.limits)
	c := &converter{firstLine: p.Line, texts: w.texts, shared: map[*yaml.Node]any{}, release: true}
	for i, n := range nodes {
		c.changedKeys, nodes[i] = nil, nil
		_, failed := scale.measureNode(n, 0)
		var v any
		if failed == nil {
			v, failed = c.convertValue(n)
		}
		if failed != nil {
			d.addUnread(p.Text, failed)
			continue
		}
		d.changedKeys = c.changedKeys
		d.encoder.beginDocument(n.Line)
		if v != nil {
			d.readCandidate(candidate{value: v, line: n.Line, endLine: math.MaxInt})
		}
	}
	d.reportSecondDocuments(behind)
}

// secondDocument is the message for a document that kubectl does not read.
const secondDocument = "not used: kubectl reads one document between two lines ---, and this is a second one"

// reportSecondDocuments says of documents that kubectl does not read them, if they may be objects.
func (d *objectReader) reportSecondDocuments(nodes []*yaml.Node) {
	if t := secondDocumentProblem(nodes); t != nil {
		d.addProblem(nil, t)
		return
	}
	for _, n := range nodes {
		if n.Kind != yaml.ScalarNode || n.Tag != "!!null" {
			d.addNotKubernetes(candidate{line: n.Line}, secondDocument)
		}
	}
}

// secondDocumentProblem returns the problem of the first object among documents that kubectl does
// not read. It is nil if there is none.
func secondDocumentProblem(nodes []*yaml.Node) *Problem {
	for _, n := range nodes {
		if canBeObject(n) {
			t := invalidYAML(n.Line, secondDocument)
			t.Hint = "put --- on a line of its own in front of it"
			return t
		}
	}
	return nil
}

// canBeObject reports whether a node is a map with an apiVersion or a kind, or has one among its
// entries.
func canBeObject(n *yaml.Node) bool {
	if n.Kind == yaml.SequenceNode {
		return slices.ContainsFunc(n.Content, func(n *yaml.Node) bool {
			return n.Kind == yaml.MappingNode &&
				canBeObject(n)
		})
	}
	return n.Kind == yaml.MappingNode && (childNode(n, "apiVersion") != nil || childNode(n, "kind") != nil)
}

// addProblem adds a problem; of is the object that has it, or nil where it keeps something from
// being one.
func (d *objectReader) addProblem(of *model.Object, t *Problem) {
	d.result.Problems = append(d.result.Problems, PendingProblem{Object: of, problem: model.Problem{
		Severity: t.severityOf(), Code: t.Code, Message: t.Message, Hint: t.Hint,
		Origin: d.originOf(t.Line),
	}})
}

// originOf returns the place of a line of the text. Objects of a cluster have no lines.
func (d *objectReader) originOf(line int) *model.Origin {
	if d.cluster != "" {
		return &model.Origin{Cluster: d.cluster}
	}
	return &model.Origin{File: d.file.Name, Line: d.firstLine + line - 1}
}

// SnapshotGroup tells our snapshots, of whatever version, from kinds of others that are called so.
const SnapshotGroup = "dopolicy.dev/"

// readCandidate reads s as an object, or as a list of objects.
func (d *objectReader) readCandidate(s candidate) {
	m := asMap(s.value)
	switch {
	case m == nil:
		d.reportNotMap(s)
	case m.valueAt("apiVersion") == nil && m.valueAt("kind") == nil:
		d.addNotKubernetes(s, "not used: it has neither apiVersion nor kind")
	case strings.HasPrefix(m.textAt("apiVersion"), SnapshotGroup) && m.textAt("kind") == model.SnapshotKind:
		d.addProblem(nil,
			invalidYAML(s.line,
				"not used: the header of a snapshot, which has to open its file: without it, what follows is not known to be all"))
	case !s.isItem && d.canBeForeign() && isForeign(m):
		d.result.NotKubernetes++
	case d.hasItems(s, m):
		d.readList(s, m)
	case strings.HasPrefix(m.textAt("apiVersion"), "kustomize.config.k8s.io/"):
		d.result.NotKubernetes++
	default:
		d.readObject(s, m)
	}
}

// reportNotMap says of a value that it cannot be an object. A list of objects is a mistake wherever
// it is found.
func (d *objectReader) reportNotMap(s candidate) {
	entries, _ := asList(s.value)
	for _, e := range entries {
		m := asMap(e.value)
		if hasVersion, hasKind := m.valueAt("apiVersion") != nil, m.valueAt("kind") != nil; hasVersion && hasKind ||
			(hasVersion || hasKind) && !d.canBeForeign() {
			d.addProblem(nil, &Problem{Code: model.NotAnObject, Line: s.line,
				Message: "not used: a list, not an object",
				Hint:    "write the objects as documents of their own, with --- between them, or as items of kind: List"})
			return
		}
	}
	d.addNotKubernetes(s, "not used: not an object")
}

// addNotKubernetes notes YAML that is not meant for Kubernetes. It is only counted where it may be
// expected: in a folder.
func (d *objectReader) addNotKubernetes(s candidate, message string) {
	const many = 50 // of one document
	if d.file.Named || s.isItem {
		t := &Problem{Code: model.NotAnObject, Line: s.line, Message: message, NotRead: s.isItem, Hint: leaveOut}
		if s.isItem {
			t.Hint = "write an object with apiVersion, kind and metadata.name, or remove it"
		} else if message == secondDocument {
			t.Hint = "remove it"
		}
		switch d.otherValues++; {
		case d.otherValues < many:
			d.addProblem(nil, t)
		case d.otherValues == many:
			t.Message = "not used: no object, and there are more like it"
			d.addProblem(nil, t)
		}
		return
	}
	d.result.NotKubernetes++
}

// isList reports whether m is a List, or of a kind that ends so and has items.
func isList(m *tree) bool {
	kind := m.textAt("kind")
	return kind == "List" || strings.HasSuffix(kind, "List") && m.findEntry("items") != nil
}

// hasItems reports whether kubectl takes m for a list: it has items, whatever its kind. Among the
// items of a list only those that have a list of items are. What a server tells is a list by its
// kind.
func (d *objectReader) hasItems(s candidate, m *tree) bool {
	items := m.findEntry("items")
	switch {
	case d.cluster != "" || items == nil:
		return isList(m)
	case m.textAt("kind") == "": // which it refuses
		return false
	case s.isItem:
		_, ok := asList(items.value)
		return ok
	}
	return true
}

// readList reads the items of a list. Those that do not say what they are have the type of the
// list.
func (d *objectReader) readList(s candidate, m *tree) {
	items, ok := asList(m.valueAt("items"))
	if !ok && m.valueAt("items") != nil {
		d.addProblem(nil, &Problem{Code: model.WrongType, Line: s.lineOf("items"),
			Message: "not used: items is not a list", NotRead: true, Hint: "write every object as an entry of a list"})
		return
	}
	if s.isItem && d.cluster == "" {
		d.addProblem(nil, &Problem{Code: model.NotAnObject, Line: s.line,
			Message: "a list within a list: kubectl refuses both", NotRead: true,
			Hint: "write its items into the outer list"})
	}
	if len(items) == 0 && !isList(m) {
		d.addProblem(nil, &Problem{Code: model.NotAnObject, Line: s.lineOf("items"),
			Message: "not used: kubectl takes what has items for a list, and this one is empty", NotRead: true,
			Hint: "take items out"})
		return
	}
	d.result.Readable++
	for i, e := range items {
		item := candidate{value: e.value, line: e.line, endLine: s.endLine, isItem: true}
		if i+1 < len(items) {
			item.endLine = items[i+1].line
		}
		if kind := strings.TrimSuffix(m.textAt("kind"), "List"); kind != "" {
			item.value = withDefaultType(e, m.textAt("apiVersion"), kind)
		}
		d.readCandidate(item)
	}
}

// lineOf is where the part of s at path stands, or as much of it as is found.
func (s candidate) lineOf(path ...string) int { return lineOfPath(s.value, s.line, path...) }

// withDefaultType returns the item with the given type where it names none.
func withDefaultType(item treeEntry, apiVersion, kind string) any {
	m := asMap(item.value)
	if m == nil || m.textAt("apiVersion") != "" || m.textAt("kind") != "" {
		return item.value
	}
	if apiVersion != "" {
		m = m.withValue("apiVersion", item.line, apiVersion)
	}
	return m.withValue("kind", item.line, kind)
}
