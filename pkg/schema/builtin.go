package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"sigs.k8s.io/json"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// kubernetesRelease is the release of Kubernetes whose own types are known: that of k8s.io/api in
// go.mod.
const kubernetesRelease = "1.36"

// AddTypes adds kinds of Kubernetes itself, by Kind.group, with values of their Go types (v1). An
// object of them is decoded as the API server decodes it: unknown fields and wrong types are found.
// What the server validates beyond that is in none of its libraries.
func (c *Catalogue) AddTypes(types map[string]any) {
	release := &Release{Vendor: "kubernetes", Name: kubernetesRelease}
	release.vendor = &vendorReleases{name: release.Vendor}
	if c.builtIn == nil {
		c.builtIn = map[model.GroupKind]*definition{}
	}
	for name, value := range types {
		gk := model.ParseGroupKind(name)
		d := &definition{kind: gk, release: release, namespaced: true, versions: map[string]*version{}}
		d.versions["v1"] = &version{definition: d, name: "v1", goType: reflect.TypeOf(value)}
		c.builtIn[gk] = d
	}
}

// decodeStrictly decodes an object of a kind of Kubernetes itself as the API server does.
func (j *judgement) decodeStrictly() {
	text := model.AppendJSON(nil, j.written.Body)
	unknown, err := json.UnmarshalStrict(text, reflect.New(j.goType).Interface())
	if err != nil {
		if steps := splitFieldPath(j.written.Body, pathOfTypeError(err)); !hasVariable(j.written.Body.At(steps...)) {
			j.addRefusal(model.SchemaViolation, fmt.Sprintf("%s in version %q cannot be handled as a %s: %s", j.written.Ref.Kind,
				j.written.Version, j.written.Ref.Kind, err), steps, "")
		}
		return
	}
	for _, e := range unknown {
		if path, found := strings.CutPrefix(e.Error(), `unknown field "`); found {
			j.addUnknownField(strings.TrimSuffix(path, `"`))
		}
	}
}

// pathOfTypeError returns the path of the value that has another type, or "".
func pathOfTypeError(err error) string {
	_, rest, _ := strings.Cut(err.Error(), "Go struct field ")
	field, _, _ := strings.Cut(rest, " ")
	_, path, _ := strings.Cut(field, ".") // in front of it stands the name of a type
	return path
}

// suggestBuiltInField proposes a field that a type has in place of an unknown one.
func suggestBuiltInField(t reflect.Type, steps []string) string {
	for _, step := range steps[:len(steps)-1] {
		for t.Kind() == reflect.Pointer {
			t = t.Elem()
		}
		switch t.Kind() {
		case reflect.Slice, reflect.Map:
			t = t.Elem()
		case reflect.Struct:
			field, ok := fieldsOf(t)[step]
			if !ok {
				return ""
			}
			t = field
		default:
			return ""
		}
	}
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return ""
	}
	var names []string
	for name := range fieldsOf(t) {
		names = append(names, name)
	}
	slices.Sort(names)
	if near := form.Nearest(steps[len(steps)-1], names); len(near) > 0 {
		return "did you mean " + near[0] + "?"
	}
	return ""
}

// fieldsOf returns the types of the fields of a struct by their names in JSON.
func fieldsOf(t reflect.Type) map[string]reflect.Type {
	out := map[string]reflect.Type{}
	for i := range t.NumField() {
		f := t.Field(i)
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		switch {
		case name == "" && f.Anonymous:
			for inner, fieldType := range fieldsOf(f.Type) {
				out[inner] = fieldType
			}
		case name != "" && name != "-":
			out[name] = f.Type
		}
	}
	return out
}
