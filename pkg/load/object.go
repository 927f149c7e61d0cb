package load

import (
	"maps"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// lastApplied holds a second copy of the whole object, as kubectl apply last saw it.
const lastApplied = "kubectl.kubernetes.io/last-applied-configuration"

// object adds the object in m, or says why it is none.
func (d *document) object(s subject, m map[string]any) {
	o, failed := identify(m)
	if failed != nil {
		failed.line = s.line(strings.Split(failed.at, ".")...)
		d.report(nil, &failed.trouble)
		return
	}
	o.Origin = model.Origin{File: d.file.name, Line: d.text.first + s.node.Line - 1}
	o.Body = tidy(m)
	if isSecret(o.Ref) {
		o.Body, d.wipe = reduceSecret(o.Body), true
	} else {
		o.Places = &places{in: d.text, doc: d.doc, path: s.path}
	}
	o.Labels = d.texts(s, o, "labels")
	o.Annotations = d.texts(s, o, "annotations")
	o.Created = d.created(s, o)
	d.oddKeys(s, o)
	d.out.objects = append(d.out.objects, o)
	d.out.readable++
}

// badField is trouble with the field at a dotted path.
type badField struct {
	trouble
	at string
}

// identify is an object with the name and type that m has. Without any one of them it is no object.
func identify(m map[string]any) (*model.Object, *badField) {
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
	meta, ok := m["metadata"].(map[string]any)
	if !ok && m["metadata"] != nil {
		return nil, &badField{at: "metadata", trouble: trouble{code: model.WrongType, message: "not used: metadata is not a map"}}
	}
	name, failed := required(meta, "name", "metadata.name")
	if failed != nil {
		return nil, failed
	}
	namespace, ok := meta["namespace"].(string)
	if !ok && meta["namespace"] != nil {
		return nil, notText("metadata.namespace")
	}
	return &model.Object{Ref: model.Ref{Group: group, Kind: kind, Namespace: namespace, Name: name}, Version: version}, nil
}

// required is the text at a key, which must be there; path is how messages name it.
func required(m map[string]any, key, path string) (string, *badField) {
	s, ok := m[key].(string)
	switch {
	case m[key] != nil && !ok:
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
func tidy(body map[string]any) map[string]any {
	meta, _ := body["metadata"].(map[string]any)
	annotations, _ := meta["annotations"].(map[string]any)
	_, managed := meta["managedFields"]
	_, applied := annotations[lastApplied]
	if !managed && !applied {
		return body
	}
	return withMetadata(body, func(meta map[string]any) {
		delete(meta, "managedFields")
		switch {
		case applied && len(annotations) == 1:
			delete(meta, "annotations")
		case applied:
			meta["annotations"] = with(annotations, func(m map[string]any) { delete(m, lastApplied) })
		}
	})
}

// with is a changed copy of m: what is read may be shared by aliases and stays as it is.
func with(m map[string]any, change func(map[string]any)) map[string]any {
	m = maps.Clone(m)
	change(m)
	return m
}

// withMetadata is a copy of body with changed metadata.
func withMetadata(body map[string]any, change func(map[string]any)) map[string]any {
	meta, _ := body["metadata"].(map[string]any)
	return with(body, func(m map[string]any) { m["metadata"] = with(meta, change) })
}

// texts is the map of texts at a field of the metadata. What is not text is left out.
func (d *document) texts(s subject, o *model.Object, field string) map[string]string {
	v := model.Get(o.Body, "metadata", field)
	m, ok := v.(map[string]any)
	if !ok && v != nil {
		d.leftOut(s, o, "a map", field)
	}
	if len(m) == 0 {
		return nil
	}
	texts := make(map[string]string, len(m))
	for key, v := range m {
		text, ok := v.(string)
		if !ok {
			d.leftOut(s, o, "text", field, key)
			continue
		}
		texts[key] = text
	}
	return texts
}

func (d *document) leftOut(s subject, o *model.Object, want string, path ...string) {
	path = append([]string{"metadata"}, path...)
	t := &trouble{code: model.WrongType, line: s.line(path...), message: strings.Join(path, ".") + " is not " + want + " and is left out"}
	if want == "text" {
		t.hint = "quote the value"
	}
	d.report(o, t)
}

// created is the time of creation: zero where it is not written, as in most files.
func (d *document) created(s subject, o *model.Object) time.Time {
	v := model.Get(o.Body, "metadata", "creationTimestamp")
	if v == nil {
		return time.Time{}
	}
	text, _ := v.(string)
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		d.leftOut(s, o, "a time like 2006-01-02T15:04:05Z", "creationTimestamp")
		return time.Time{}
	}
	return at.UTC()
}

// oddKeys warns of the keys of an object that kubectl reads as something else than what is written.
func (d *document) oddKeys(s subject, o *model.Object) {
	for _, k := range d.odd {
		if k.line >= s.node.Line && k.line < s.until {
			message := "the key " + k.written + " is read as \"" + k.key + "\""
			if k.kubectl != "" {
				message = "the key " + k.written + " is taken as text; kubectl reads it as \"" + k.kubectl + "\""
			}
			d.report(o, &trouble{code: model.WrongType, line: k.line, message: message, hint: "quote it if it is meant as text: \"" + k.written + "\""})
		}
	}
}
