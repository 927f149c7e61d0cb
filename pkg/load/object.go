package load

import (
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// lastApplied holds a second copy of the whole object, as kubectl apply last saw it.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// object adds the object in m, or says why it is none.
func (d *document) object(s subject, m *tree) {
	o, failed := identify(m)
	if failed != nil {
		failed.line = s.lineOf(strings.Split(failed.at, ".")...)
		failed.unread = s.inner || mayBeApplied(m)
		d.report(nil, &failed.trouble)
		return
	}
	o.Origin = *d.origin(s.line)
	m = tidy(m)
	if isSecret(o.Ref) {
		m = reduceSecret(m)
	}
	d.press.add(o, m)
	meta := asMap(m.at("metadata"))
	o.Labels = d.texts(o, meta, "labels")
	o.Annotations = d.texts(o, meta, "annotations")
	o.Created = d.created(o, meta)
	d.oddKeys(s, o)
	d.out.objects = append(d.out.objects, o)
	d.out.readable++
	if isGenerated(meta) {
		d.out.generated = append(d.out.generated, o)
		d.report(o, &trouble{code: model.InvalidObject, line: s.lineOf("metadata", "generateName"),
			message: "it has generateName and no name: kubectl create and Argo CD create it, kubectl apply and Flux refuse it", hint: "give it a name"})
	}
}

// mayBeApplied reports whether m is meant as an object: it has an apiVersion and a kind, or one of
// them and a name or items.
func mayBeApplied(m *tree) bool {
	meta := asMap(m.at("metadata"))
	return m.at("apiVersion") != nil && m.at("kind") != nil || meta.at("name") != nil || meta.at("generateName") != nil || m.at("items") != nil
}

// isGenerated reports whether the API server makes the name of the object with this metadata.
func isGenerated(meta *tree) bool {
	name := meta.at("name")
	return (name == nil || name == "") && meta.text("generateName") != ""
}

// badField is trouble with the field at a dotted path.
type badField struct {
	trouble
	at string
}

// identify is an object with the name and type that m has. Without any one of them it is no object, but for a name
// that the API server makes.
func identify(m *tree) (*model.Object, *badField) {
	apiVersion, failed := required(m, "apiVersion", "apiVersion")
	if failed != nil {
		return nil, failed
	}
	kind, failed := required(m, "kind", "kind")
	if failed != nil {
		return nil, failed
	}
	group, version, found := strings.Cut(apiVersion, "/")
	if !found {
		group, version = "", apiVersion
	}
	if strings.Contains(version, "/") {
		return nil, &badField{at: "apiVersion", trouble: trouble{code: model.NotAnObject, message: "not used: apiVersion is not group/version"}}
	}
	meta := asMap(m.at("metadata"))
	if meta == nil && m.at("metadata") != nil {
		return nil, &badField{at: "metadata", trouble: trouble{code: model.WrongType, message: "not used: metadata is not a map"}}
	}
	name := meta.text("generateName") // until the objects that share it are told apart
	if !isGenerated(meta) {
		name, failed = required(meta, "name", "metadata.name")
		if failed != nil {
			return nil, failed
		}
	}
	namespace, ok := meta.at("namespace").(string)
	if !ok && meta.at("namespace") != nil {
		return nil, notText("metadata.namespace")
	}
	return &model.Object{Ref: model.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, Version: version}, nil
}

// required is the text at a key, which must be there; path is how messages name it.
func required(m *tree, key, path string) (string, *badField) {
	s, ok := m.at(key).(string)
	switch {
	case m.at(key) != nil && !ok:
		return "", notText(path)
	case s == "":
		return "", &badField{at: path, trouble: trouble{code: model.NotAnObject, message: "not used: it has no " + path}}
	}
	return s, nil
}

func notText(path string) *badField {
	return &badField{at: path, trouble: trouble{code: model.WrongType, message: "not used: " + path + " is not text", hint: "quote it"}}
}

// tidy is a body without the bookkeeping in its metadata that means nothing to policies.
func tidy(body *tree) *tree {
	meta := asMap(body.at("metadata"))
	annotations := asMap(meta.at("annotations"))
	managed, applied := meta.find("managedFields") != nil, annotations.find(lastApplied) != nil
	if managed {
		meta = meta.without("managedFields")
	}
	switch {
	case applied && len(annotations.kids) == 1:
		meta = meta.without("annotations")
	case applied:
		meta = meta.with("annotations", 0, annotations.without(lastApplied))
	case !managed:
		return body
	}
	return body.with("metadata", 0, meta)
}

// texts is the map of texts at a field of the metadata. What is not text is left out.
func (d *document) texts(o *model.Object, meta *tree, field string) map[string]string {
	v := meta.at(field)
	m := asMap(v)
	if m == nil {
		if v != nil {
			d.leftOut(o, meta.find(field).line, "a map", field)
		}
		return nil
	}
	if len(m.kids) == 0 {
		return nil
	}
	texts := make(map[string]string, len(m.kids))
	for _, e := range m.kids {
		text, ok := e.value.(string)
		if !ok {
			d.leftOut(o, e.line, "text", field, e.key)
			continue
		}
		texts[e.key] = text
	}
	return texts
}

func (d *document) leftOut(o *model.Object, line int, want string, path ...string) {
	path = append([]string{"metadata"}, path...)
	t := &trouble{code: model.WrongType, line: line, message: strings.Join(path, ".") + " is not " + want + " and is left out"}
	if want == "text" {
		t.hint = "quote the value"
	}
	d.report(o, t)
}

// created is the time of creation: zero where it is not written, as in most files.
func (d *document) created(o *model.Object, meta *tree) time.Time {
	v := meta.at("creationTimestamp")
	if v == nil {
		return time.Time{}
	}
	text, _ := v.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.leftOut(o, meta.find("creationTimestamp").line, "a time like 2006-01-02T15:04:05Z", "creationTimestamp")
		return time.Time{}
	}
	return at.UTC()
}

// oddKeys warns of the keys of an object that kubectl reads as something else than what is written.
func (d *document) oddKeys(s subject, o *model.Object) {
	for _, k := range d.odd {
		if k.line >= s.line && k.line < s.until {
			message := "the key " + k.written + " is read as \"" + k.key + "\""
			if k.kubectl != "" {
				message = "the key " + k.written + " is taken as text; kubectl reads it as \"" + k.kubectl + "\""
			}
			d.report(o, &trouble{code: model.WrongType, line: k.line, message: message, hint: "quote it if it is meant as text: \"" + k.written + "\""})
		}
	}
}
