package document

import (
	"cmp"
	"errors"
	"sync/atomic"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// ListOptions say what is made of the objects of a list that an API server sends.
type ListOptions struct {
	Cluster          string // the context of the cluster
	APIVersion, Kind string // of the items that name none
	// items are what is left of objects of that type, and say that they are of another
	IsMetadataOnly bool
	TargetsOnly    bool                     // no more is kept than targets of policies need
	IsKept         func(*model.Object) bool // nil: keep all
	Limits         Limits
	Count          *atomic.Int64 // counts the objects; nil: they are not counted
}

// ListReader reads the objects of one list of an API server, page by page. Objects of a cluster
// have no lines.
type ListReader struct {
	options ListOptions
	texts   *textCache
	encoder *encoder
	result  Result
}

// NewListReader returns a reader of one list.
func NewListReader(o ListOptions) *ListReader {
	return &ListReader{options: o, texts: newTextCache(), encoder: &encoder{packer: &model.Packer{}}}
}

// ListPage is what a page of a list says of the list.
type ListPage struct {
	Next    string // where the list goes on; "": nowhere
	Objects int    // how many are on it
}

// ReadPage adds the objects on a page.
func (l *ListReader) ReadPage(body []byte) (ListPage, error) {
	d := l.newDocument()
	m, items, err := l.readAnswer(body, func(item any) { l.addItem(d, item) })
	if err == nil && (m == nil || !isList(m)) {
		err = errors.New("the server's answer is not a list")
	}
	if err != nil {
		return ListPage{}, err
	}
	meta := l.addRoot(d, m)
	return ListPage{Next: meta.textAt("continue"), Objects: items}, nil
}

// ReadNamed adds the object that was asked for by its name in place of a list.
func (l *ListReader) ReadNamed(body []byte, name string) error {
	d := l.newDocument()
	m, _, err := l.readAnswer(body, func(item any) { l.addItem(d, item) })
	switch {
	case err != nil:
		return err
	case m == nil:
		return errors.New("the server's answer is not a list")
	case m.textAt("kind") != l.options.Kind || asMap(m.valueAt("metadata")).textAt("name") != name:
		return errors.New("the server's answer is not the object that was asked for")
	}
	l.addRoot(d, m)
	return nil
}

func (l *ListReader) readAnswer(body []byte, take func(item any)) (m *tree, items int, err error) {
	v, items, err := readServerAnswer(body, l.texts, l.options.Limits, take)
	if err != nil {
		return nil, 0, errors.New("the server's answer cannot be read: " + err.Error())
	}
	return asMap(v), items, nil
}

// addRoot adds an object that was asked for, or takes in what a list without its items says. It
// returns the metadata.
func (l *ListReader) addRoot(d *objectReader, m *tree) *tree {
	d.readCandidate(candidate{value: m})
	meta := asMap(m.valueAt("metadata"))
	l.result.ResourceVersion = cmp.Or(l.result.ResourceVersion, meta.textAt("resourceVersion"))
	return meta
}

// AddObject adds an object of the list that came by itself.
func (l *ListReader) AddObject(o *ServerObject) { l.addItem(l.newDocument(), o.content) }

// Finish returns what was read.
func (l *ListReader) Finish() Result {
	l.encoder.assignBodies()
	return l.result
}

func (l *ListReader) newDocument() *objectReader {
	return &objectReader{cluster: l.options.Cluster, encoder: l.encoder.beginText(noLines), result: &l.result}
}

// addItem takes in an item of the list.
func (l *ListReader) addItem(d *objectReader, item any) {
	m := withDefaultType(treeEntry{value: item}, l.options.APIVersion, l.options.Kind)
	if l.options.IsMetadataOnly && asMap(m) != nil { // the server's answer calls it PartialObjectMetadata
		m = asMap(m).withValue("apiVersion", 0, l.options.APIVersion).withValue("kind", 0, l.options.Kind)
	}
	if l.options.IsKept != nil && !l.canKeep(m) {
		return
	}
	if l.options.TargetsOnly {
		m = reduceToTarget(asMap(m))
	}
	before := len(l.result.Objects)
	d.readCandidate(candidate{value: m, isItem: true})
	d.encoder = d.encoder.beginText(noLines) // so that no packed text becomes too long
	if l.options.Count != nil {
		l.options.Count.Add(int64(len(l.result.Objects) - before))
	}
}

// canKeep reports whether an item of the list is one that is kept.
func (l *ListReader) canKeep(item any) bool {
	one := NewListReader(l.options)
	one.newDocument().readCandidate(candidate{value: item})
	objects := one.Finish().Objects
	return len(objects) == 1 && l.options.IsKept(objects[0])
}

// ServerObject is an object as an API server sends it by itself.
type ServerObject struct {
	Ref             model.Ref // empty where it is none
	ResourceVersion string
	content         *tree
}

// errNotAnObject is the error of what an API server sends in place of an object.
var errNotAnObject = errors.New("it is not an object")

// ReadServerObject reads an object that came by itself. Without a name or type it may still say up
// to which version something has not changed.
func ReadServerObject(text []byte, limits Limits) (*ServerObject, error) {
	v, _, err := readServerAnswer(text, newTextCache(), limits, nil)
	if err != nil {
		return nil, err
	}
	m := asMap(v)
	if m == nil {
		return nil, errNotAnObject
	}
	o := &ServerObject{content: m, ResourceVersion: asMap(m.valueAt("metadata")).textAt("resourceVersion")}
	if as, failed := identifyObject(m); failed == nil {
		o.Ref = as.Ref
	}
	return o, nil
}
