package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	"sigs.k8s.io/json"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// definition is a CustomResourceDefinition. It is read when the first object of its kind is judged.
type definition struct {
	object     *model.Object
	namespaced bool
	versions   map[string]*version // those served
}

// version is one served version of a definition, with what judges objects of it once it is compiled.
type version struct {
	of       *definition
	name     string
	at       string // its place in spec.versions
	body     model.Body
	problems []model.Problem // why it, or a rule of it, cannot be used
	usable   bool
	dear     bool // its patterns take too long to compile

	status     bool // written at another place: what an object has there when it is created is dropped
	structural *schema.Structural
	values     validation.SchemaValidator
	rules      *cel.Validator // nil: there are none
}

// definitions are the CustomResourceDefinitions by the kind that they define. The further ones come before those of the input; beyond that
// the first by name counts.
func definitions(input, further []*model.Object) map[model.GroupKind]*definition {
	out := map[model.GroupKind]*definition{}
	for _, objects := range [][]*model.Object{further, input} {
		objects = slices.SortedFunc(slices.Values(objects), func(a, b *model.Object) int {
			return cmp.Or(a.Ref.Compare(b.Ref), a.Origin.Compare(b.Origin))
		})
		for _, o := range objects {
			if gk, ok := o.Defines(); ok && out[gk] == nil {
				out[gk] = newDefinition(o)
			}
		}
	}
	return out
}

func newDefinition(o *model.Object) *definition {
	d := &definition{object: o, namespaced: o.Text("spec", "scope") != "Cluster", versions: map[string]*version{}}
	for i, body := range o.Body.At("spec", "versions").Items {
		name := body.At("name").Text()
		if served := body.Get("served"); name != "" && served != false && d.versions[name] == nil {
			d.versions[name] = &version{of: d, name: name, at: strconv.Itoa(i), body: body}
		}
	}
	return d
}

// served lists the versions by name.
func (d *definition) served() string {
	names := make([]string, 0, len(d.versions))
	for name := range d.versions {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// judge is what is wrong with an object.
func (d *definition) judge(o *model.Object) []model.Problem {
	if v := d.versions[o.Version]; v != nil {
		return v.judge(o)
	}
	return d.withoutVersion(o)
}

// withoutVersion is what is wrong with an object of a version that is not served.
func (d *definition) withoutVersion(o *model.Object) []model.Problem {
	if d.object.Version != "v1" {
		v := version{of: d, name: o.Version}
		v.compile()
		return v.problems
	}
	p := model.Problem{Severity: model.Error, Code: model.SchemaViolation, Message: fmt.Sprintf("%s is not served in version %q", o.Ref.GroupKind(), o.Version),
		Hint: d.names() + " serves " + cmp.Or(d.served(), "no version")}.At(o)
	*p.Origin = o.OriginOf("apiVersion")
	return []model.Problem{p}
}

// names is how hints name the definition.
func (d *definition) names() string {
	return d.object.Ref.String() + " (" + d.object.Origin.String() + ")"
}

// useless notes that the version cannot be used.
func (v *version) useless(format string, args ...any) {
	v.problems = append(v.problems, v.trouble(fmt.Sprintf(format, args...), "objects of this version are not judged until the definition is mended"))
}

func (v *version) trouble(message, hint string) model.Problem {
	p := model.Problem{Severity: model.Warning, Code: model.InvalidSchema, Message: "version " + v.name + ": " + message, Hint: hint}.At(v.of.object)
	*p.Origin = v.of.object.OriginOf("spec", "versions", v.at)
	return p
}

// compile makes what judges objects of the version, as the API server does when a definition is established.
func (v *version) compile() {
	if v.of.object.Version != "v1" {
		v.useless("apiextensions.k8s.io/%s is not served any more; v1 is", v.of.object.Version)
		return
	}
	if v.of.object.Body.Get("spec", "preserveUnknownFields") == true {
		v.useless("spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
		return
	}
	text := v.body.At("schema", "openAPIV3Schema")
	if !text.IsObject() {
		v.useless("it has no schema")
		return
	}
	var written apiextensionsv1.JSONSchemaProps
	if err := json.UnmarshalCaseSensitivePreserveInts(model.AppendJSON(nil, text), &written); err != nil {
		v.useless("its schema cannot be read: %s", err)
		return
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&written, &props, nil); err != nil {
		v.useless("its schema cannot be read: %s", err)
		return
	}
	if err := v.build(&props); err != nil {
		v.useless("%s", err)
		return
	}
	v.status = v.body.At("subresources").Has("status") && !v.body.At("subresources", "status").IsNull()
	v.usable = true
}

func (v *version) build(props *apiextensions.JSONSchemaProps) error {
	structural, err := schema.NewStructural(props)
	if err != nil {
		return fmt.Errorf("its schema is not structural: %w", err)
	}
	at := apifield.NewPath("spec", "versions").Key(v.name).Child("schema", "openAPIV3Schema")
	var wrong apifield.ErrorList
	structurally(structural, func() { wrong = schema.ValidateStructural(at, structural) })
	if len(wrong) > 0 {
		return fmt.Errorf("its schema is not structural: %w", wrong.ToAggregate())
	}
	structural = structural.DeepCopy() // defaults are shared with what it was made from
	if err := defaulting.PruneDefaults(structural); err != nil {
		return fmt.Errorf("its defaults do not fit its schema: %w", err)
	}
	if v.values, _, err = validation.NewSchemaValidator(props); err != nil {
		return fmt.Errorf("its schema cannot be used: %w", err)
	}
	v.structural, v.rules = structural, cel.NewValidator(structural, true, celconfig.PerCallLimit)
	return nil
}
