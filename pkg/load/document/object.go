package document

import (
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// lastAppliedAnnotation holds a second copy of the whole object, as kubectl apply last saw it.
const lastAppliedAnnotation = "kubectl.kubernetes.io/last-applied-configuration"

// readObject adds the object in m, or says why it is none.
func (d *objectReader) readObject(s candidate, m *tree) {
	o, failed := identifyObject(m)
	if failed != nil {
		failed.Line = s.lineOf(strings.Split(failed.path, ".")...)
		failed.NotRead = s.isItem || canBeApplied(m)
		if !s.isItem && d.canBeForeign() && lacksType(m) {
			d.addDoubtful(&failed.Problem)
			return
		}
		d.addProblem(nil, &failed.Problem)
		return
	}
	o.Origin = *d.originOf(s.line)
	m = withoutBookkeeping(m)
	if isSecret(o.Ref) {
		m = reduceSecret(m)
	}
	d.encoder.addObject(o, m)
	meta := asMap(m.valueAt("metadata"))
	o.Labels = d.readTextMap(o, meta, "labels")
	o.Annotations = d.readTextMap(o, meta, "annotations")
	o.Created = d.readCreated(o, meta)
	d.reportChangedKeys(s, o)
	d.result.Objects = append(d.result.Objects, o)
	d.result.Readable++
	if hasGeneratedName(meta) {
		d.result.Generated = append(d.result.Generated, o)
		d.addProblem(o, &Problem{Code: model.InvalidObject, Line: s.lineOf("metadata", "generateName"),
			Message: "it has generateName and no name: kubectl create and Argo CD create it, kubectl apply and Flux refuse it", Hint: "give it a name"})
	}
}

// canBeApplied reports whether m is meant as an object: it has an apiVersion and a kind, or one of
// them and a name or items.
func canBeApplied(m *tree) bool {
	meta := asMap(m.valueAt("metadata"))
	return m.valueAt("apiVersion") != nil && m.valueAt("kind") != nil || meta.valueAt("name") != nil ||
		meta.valueAt("generateName") != nil || m.valueAt("items") != nil
}

// hasGeneratedName reports whether the API server makes the name of the object with this metadata.
func hasGeneratedName(meta *tree) bool {
	name := meta.valueAt("name")
	return (name == nil || name == "") && meta.textAt("generateName") != ""
}

// fieldProblem is a problem of the field at a dotted path.
type fieldProblem struct {
	Problem
	path string
}

// identifyObject returns an object with the name and type that m has. Without any one of them it is
// no object, but for a name that the API server makes.
func identifyObject(m *tree) (*model.Object, *fieldProblem) {
	apiVersion, failed := requiredText(m, "apiVersion", "apiVersion")
	if failed != nil {
		return nil, failed
	}
	kind, failed := requiredText(m, "kind", "kind")
	if failed != nil {
		return nil, failed
	}
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	if strings.Contains(version, "/") {
		return nil, &fieldProblem{path: "apiVersion", Problem: Problem{Code: model.NotAnObject,
			Message: "not used: apiVersion is not group/version", Hint: writeAPIVersion}}
	}
	meta := asMap(m.valueAt("metadata"))
	if meta == nil && m.valueAt("metadata") != nil {
		return nil, &fieldProblem{path: "metadata", Problem: Problem{Code: model.WrongType,
			Message: "not used: metadata is not a map", Hint: "write the name below it, as metadata.name"}}
	}
	name := meta.textAt("generateName") // until the objects that share it are told apart
	if !hasGeneratedName(meta) {
		name, failed = requiredText(meta, "name", "metadata.name")
		if failed != nil {
			return nil, failed
		}
	}
	namespace, ok := meta.valueAt("namespace").(string)
	if !ok && meta.valueAt("namespace") != nil {
		return nil, notTextProblem("metadata.namespace")
	}
	return &model.Object{Ref: model.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, Version: version},
		nil
}

// requiredText returns the text at a key, which must be there; path is how messages name it.
func requiredText(m *tree, key, path string) (string, *fieldProblem) {
	s, ok := m.valueAt(key).(string)
	switch {
	case m.valueAt(key) != nil && !ok && key == "apiVersion": // in quotes it would be none either
		failed := notTextProblem(path)
		failed.Hint = writeAPIVersion + ", or " + leaveOut
		return "", failed
	case m.valueAt(key) != nil && !ok:
		return "", notTextProblem(path)
	case s == "":
		return "", &fieldProblem{path: path, Problem: Problem{Code: model.NotAnObject,
			Message: "not used: it has no " + path, Hint: "give it one, or " + leaveOut}}
	}
	return s, nil
}

// Hints that several problems have.
const (
	writeAPIVersion = "write v1 or GROUP/VERSION"
	leaveOut        = "leave the file out if it is for another program"
)

func notTextProblem(path string) *fieldProblem {
	return &fieldProblem{path: path, Problem: Problem{Code: model.WrongType, Message: "not used: " + path +
		" is not text", Hint: "quote it"}}
}

// withoutBookkeeping returns a body without what stands in its metadata for other programs and
// means nothing to policies.
func withoutBookkeeping(body *tree) *tree {
	meta := asMap(body.valueAt("metadata"))
	annotations := asMap(meta.valueAt("annotations"))
	managed, applied := meta.findEntry("managedFields") != nil, annotations.findEntry(lastAppliedAnnotation) != nil
	if managed {
		meta = meta.withoutKey("managedFields")
	}
	switch {
	case applied && len(annotations.entries) == 1:
		meta = meta.withoutKey("annotations")
	case applied:
		meta = meta.withValue("annotations", 0, annotations.withoutKey(lastAppliedAnnotation))
	case !managed:
		return body
	}
	return body.withValue("metadata", 0, meta)
}

// readTextMap returns the map of texts at a field of the metadata. Nothing is the empty text, as the
// API server reads it; what else is not text is left out.
func (d *objectReader) readTextMap(o *model.Object, meta *tree, field string) map[string]string {
	v := meta.valueAt(field)
	m := asMap(v)
	if m == nil {
		if v != nil {
			d.addLeftOut(o, meta.findEntry(field).line, "a map", field)
		}
		return nil
	}
	if len(m.entries) == 0 {
		return nil
	}
	texts := make(map[string]string, len(m.entries))
	for _, e := range m.entries {
		text, ok := e.value.(string)
		if !ok && e.value != nil {
			d.addLeftOut(o, e.line, "text", field, e.key)
			continue
		}
		texts[e.key] = text
	}
	return texts
}

func (d *objectReader) addLeftOut(o *model.Object, line int, want string, path ...string) {
	path = append([]string{"metadata"}, path...)
	t := &Problem{Code: model.WrongType, Line: line, Message: strings.Join(path, ".") + " is not " + want +
		" and is left out"}
	if want == "text" {
		t.Hint = "quote the value"
	}
	d.addProblem(o, t)
}

// readCreated returns the time of creation: zero where it is not written, as in most files.
func (d *objectReader) readCreated(o *model.Object, meta *tree) time.Time {
	v := meta.valueAt("creationTimestamp")
	if v == nil {
		return time.Time{}
	}
	text, _ := v.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.addLeftOut(o, meta.findEntry("creationTimestamp").line, "a time like 2006-01-02T15:04:05Z",
			"creationTimestamp")
		return time.Time{}
	}
	return at.UTC()
}

// reportChangedKeys warns of the keys of an object that kubectl reads as something else than what
// is written.
func (d *objectReader) reportChangedKeys(s candidate, o *model.Object) {
	for _, k := range d.changedKeys {
		if k.line >= s.line && k.line < s.endLine {
			message := "the key " + k.written + " is read as \"" + k.key + "\""
			if k.kubectl != "" {
				message = "the key " + k.written + " is taken as text; kubectl reads it as \"" + k.kubectl + "\""
			}
			d.addProblem(o, &Problem{Code: model.WrongType, Line: k.line, Message: message,
				Hint: "quote it if it is meant as text: \"" + k.written + "\""})
		}
	}
}
