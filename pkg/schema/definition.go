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

// version is one served version of a definition, with what judges objects of it once it is
// compiled.
type version struct {
	definition *definition
	name       string
	index      string // its place in spec.versions
	body       model.Body
	problems   []model.Problem // why it, or a rule of it, cannot be used
	usable     bool
	tooCostly  bool // its patterns take too long to compile

	dropsStatus bool // status is a subresource: what an object has there when it is created is dropped
	structural  *schema.Structural
	validator   validation.SchemaValidator
	rules       *cel.Validator // nil: there are none
}

// definitionsByKind returns the CustomResourceDefinitions by the kind that they define. The further
// ones come before those of the input; beyond that the first by name counts.
func definitionsByKind(input, further []*model.Object) map[model.GroupKind]*definition {
	out := map[model.GroupKind]*definition{}
	for _, objects := range [][]*model.Object{further, input} {
		objects = slices.SortedFunc(slices.Values(objects), func(a, b *model.Object) int {
			return cmp.Or(a.Ref.Compare(b.Ref), a.Origin.Compare(b.Origin))
		})
		for _, o := range objects {
			if gk, ok := o.DefinedKind(); ok && out[gk] == nil {
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
			d.versions[name] = &version{definition: d, name: name, index: strconv.Itoa(i), body: body}
		}
	}
	return d
}

// servedVersions lists the versions by name.
func (d *definition) servedVersions() string {
	names := make([]string, 0, len(d.versions))
	for name := range d.versions {
		names = append(names, name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// judgeObject returns what is wrong with an object.
func (d *definition) judgeObject(o *model.Object) []model.Problem {
	if v := d.versions[o.Version]; v != nil {
		return v.judgeObject(o)
	}
	return d.unservedVersionProblems(o)
}

// unservedVersionProblems returns what is wrong with an object of a version that is not served.
func (d *definition) unservedVersionProblems(o *model.Object) []model.Problem {
	if d.object.Version != "v1" {
		v := version{definition: d, name: o.Version}
		v.compileSchema()
		return v.problems
	}
	p := model.Problem{Severity: model.Error, Code: model.SchemaViolation,
		Message: fmt.Sprintf("%s is not served in version %q", o.Ref.GroupKind(), o.Version),
		Hint:    d.displayName() + " serves " + cmp.Or(d.servedVersions(), "no version")}.At(o)
	*p.Origin = o.OriginOf("apiVersion")
	return []model.Problem{p}
}

// displayName is how hints name the definition.
func (d *definition) displayName() string {
	return d.object.Ref.String() + " (" + d.object.Origin.String() + ")"
}

// addUnusable notes that the version cannot be used.
func (v *version) addUnusable(format string, args ...any) {
	v.problems = append(v.problems, v.newProblem(fmt.Sprintf(format, args...),
		"objects of this version are not judged until the definition is mended"))
}

func (v *version) newProblem(message, hint string) model.Problem {
	p := model.Problem{Severity: model.Warning, Code: model.InvalidSchema, Message: "version " + v.name + ": " +
		message, Hint: hint}.At(v.definition.object)
	*p.Origin = v.definition.object.OriginOf("spec", "versions", v.index)
	return p
}

// compileSchema makes what judges objects of the version, as the API server does when a definition
// is established.
func (v *version) compileSchema() {
	if v.definition.object.Version != "v1" {
		v.addUnusable("apiextensions.k8s.io/%s is not served any more; v1 is", v.definition.object.Version)
		return
	}
	if v.definition.object.Body.Get("spec", "preserveUnknownFields") == true {
		v.addUnusable(
			"spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
		return
	}
	text := v.body.At("schema", "openAPIV3Schema")
	if !text.IsObject() {
		v.addUnusable("it has no schema")
		return
	}
	var written apiextensionsv1.JSONSchemaProps
	if err := json.UnmarshalCaseSensitivePreserveInts(model.AppendJSON(nil, text), &written); err != nil {
		v.addUnusable("its schema cannot be read: %s", err)
		return
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&written, &props,
		nil); err != nil {
		v.addUnusable("its schema cannot be read: %s", err)
		return
	}
	if err := v.buildValidators(&props); err != nil {
		v.addUnusable("%s", err)
		return
	}
	v.dropsStatus = v.body.At("subresources").Has("status") && !v.body.At("subresources", "status").IsNull()
	v.usable = true
}

func (v *version) buildValidators(props *apiextensions.JSONSchemaProps) error {
	structural, err := schema.NewStructural(props)
	if err != nil {
		return fmt.Errorf("its schema is not structural: %w", err)
	}
	at := apifield.NewPath("spec", "versions").Key(v.name).Child("schema", "openAPIV3Schema")
	var wrong apifield.ErrorList
	withUniquePatterns(structural, func() { wrong = schema.ValidateStructural(at, structural) })
	if len(wrong) > 0 {
		return fmt.Errorf("its schema is not structural: %w", wrong.ToAggregate())
	}
	structural = structural.DeepCopy() // defaults are shared with what it was made from
	if err := defaulting.PruneDefaults(structural); err != nil {
		return fmt.Errorf("its defaults do not fit its schema: %w", err)
	}
	if v.validator, _, err = validation.NewSchemaValidator(props); err != nil {
		return fmt.Errorf("its schema cannot be used: %w", err)
	}
	v.structural, v.rules = structural, cel.NewValidator(structural, true, celconfig.PerCallLimit)
	return nil
}
