package load

import (
	"cmp"
	"errors"
	"sync/atomic"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load/document"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// listOptions say what is made of the objects of a list that an API server sends.
type listOptions struct {
	cluster          string                   // the context of the cluster
	apiVersion, kind string                   // of the items that name none
	isMetadataOnly   bool                     // items are what is left of objects of that type, and say that they are of another
	targetsOnly      bool                     // no more is kept than targets of policies need
	isKept           func(*model.Object) bool // nil: keep all
	limits           document.Limits
	count            *atomic.Int64 // counts the objects; nil: they are not counted
}

// listReader reads the objects of one list of an API server, page by page. Objects of a cluster
// have no lines.
type listReader struct {
	options listOptions
	texts   *textCache
	encoder *encoder
	result  documentResult
}

// newListReader returns a reader of one list.
func newListReader(o listOptions) *listReader {
	return &listReader{options: o, texts: newTextCache(), encoder: &encoder{packer: &model.Packer{}}}
}

// listPage is what a page of a list says of the list.
type listPage struct {
	next    string // where the list goes on; "": nowhere
	isEmpty bool
}

// readPage adds the objects on a page.
func (l *listReader) readPage(body []byte) (listPage, error) {
	d := l.newDocument()
	m, items, err := l.readAnswer(body, func(item any) { l.addItem(d, item) })
	if err == nil && (m == nil || !isList(m)) {
		err = errors.New("the server's answer is not a list")
	}
	if err != nil {
		return listPage{}, err
	}
	meta := l.addRoot(d, m)
	return listPage{next: meta.textAt("continue"), isEmpty: items == 0}, nil
}

// readNamed adds the object that was asked for by its name in place of a list.
func (l *listReader) readNamed(body []byte, name string) error {
	d := l.newDocument()
	m, _, err := l.readAnswer(body, func(item any) { l.addItem(d, item) })
	switch {
	case err != nil:
		return err
	case m == nil:
		return errors.New("the server's answer is not a list")
	case m.textAt("kind") != l.options.kind || asMap(m.valueAt("metadata")).textAt("name") != name:
		return errors.New("the server's answer is not the object that was asked for")
	}
	l.addRoot(d, m)
	return nil
}

func (l *listReader) readAnswer(body []byte, take func(item any)) (m *tree, items int, err error) {
	v, items, err := readServerAnswer(body, l.texts, l.options.limits, take)
	if err != nil {
		return nil, 0, errors.New("the server's answer cannot be read: " + err.Error())
	}
	return asMap(v), items, nil
}

// addRoot adds an object that was asked for, or takes in what a list without its items says. It
// returns the metadata.
func (l *listReader) addRoot(d *documentReader, m *tree) *tree {
	d.readCandidate(candidate{value: m})
	meta := asMap(m.valueAt("metadata"))
	l.result.resourceVersion = cmp.Or(l.result.resourceVersion, meta.textAt("resourceVersion"))
	return meta
}

// addObject adds an object of the list that came by itself.
func (l *listReader) addObject(o *serverObject) { l.addItem(l.newDocument(), o.content) }

// finish returns what was read.
func (l *listReader) finish() documentResult {
	l.encoder.assignBodies()
	return l.result
}

func (l *listReader) newDocument() *documentReader {
	return &documentReader{cluster: l.options.cluster, encoder: l.encoder.beginText(noLines), result: &l.result}
}

// addItem takes in an item of the list.
func (l *listReader) addItem(d *documentReader, item any) {
	m := withDefaultType(treeEntry{value: item}, l.options.apiVersion, l.options.kind)
	if l.options.isMetadataOnly && asMap(m) != nil { // the server's answer calls it PartialObjectMetadata
		m = asMap(m).withValue("apiVersion", 0, l.options.apiVersion).withValue("kind", 0, l.options.kind)
	}
	if l.options.isKept != nil && !l.canKeep(m) {
		return
	}
	if l.options.targetsOnly {
		m = reduceToTarget(asMap(m))
	}
	before := len(l.result.objects)
	d.readCandidate(candidate{value: m, isItem: true})
	d.encoder = d.encoder.beginText(noLines) // so that no packed text becomes too long
	if l.options.count != nil {
		l.options.count.Add(int64(len(l.result.objects) - before))
	}
}

// canKeep reports whether an item of the list is one that is kept.
func (l *listReader) canKeep(item any) bool {
	one := newListReader(l.options)
	one.newDocument().readCandidate(candidate{value: item})
	objects := one.finish().objects
	return len(objects) == 1 && l.options.isKept(objects[0])
}

// serverObject is an object as an API server sends it by itself.
type serverObject struct {
	ref             model.Ref // empty where it is none
	resourceVersion string
	content         *tree
}

// errNotAnObject is the error of what an API server sends in place of an object.
var errNotAnObject = errors.New("it is not an object")

// readServerObject reads an object that came by itself. Without a name or type it may still say up
// to which version something has not changed.
func readServerObject(text []byte, limits document.Limits) (*serverObject, error) {
	v, _, err := readServerAnswer(text, newTextCache(), limits, nil)
	if err != nil {
		return nil, err
	}
	m := asMap(v)
	if m == nil {
		return nil, errNotAnObject
	}
	o := &serverObject{content: m, resourceVersion: asMap(m.valueAt("metadata")).textAt("resourceVersion")}
	if as, failed := identifyObject(m); failed == nil {
		o.ref = as.Ref
	}
	return o, nil
}
