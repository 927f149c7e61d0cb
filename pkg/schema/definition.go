package schema

import (
	"cmp"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/cel"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	"k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	apifield "k8s.io/apimachinery/pkg/util/validation/field"
	"sigs.k8s.io/json"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// definition is a CustomResourceDefinition: one that was read, or one of the catalogue.
type definition struct {
	kind       model.GroupKind
	object     *model.Object // nil: it is of the catalogue
	release    *Release      // of the catalogue; nil: it was read
	file       string        // of a folder of JSON schemas
	missing    bool          // the release that was chosen does not have the kind
	namespaced bool
	versions   map[string]*version // those served
}

// version is one served version of a definition, with what judges objects of it once it is
// compiled.
type version struct {
	definition *definition
	name       string
	index      string       // its place in spec.versions of an object
	body       model.Body   // of an object, or in the form of one
	schemaText []byte       // of the catalogue
	unreadable error        // why there is no schema
	goType     reflect.Type // of a kind of Kubernetes itself, which is decoded and not validated

	compile     sync.Once
	problems    []model.Problem // why it, or a rule of it, cannot be used
	usable      bool
	tooCostly   bool // its patterns take too long to compile
	dropsStatus bool // status is a subresource: what an object has there when it is created is dropped
	scale       scalePaths
	structural  *schema.Structural
	validator   validation.SchemaValidator
	rules       *ruleTree // nil: there are none

	findFields sync.Once
	fields     *fields

	compileAll sync.Once
	allRules   *cel.Validator
}

// definitionsByKind returns the CustomResourceDefinitions by the kind that they define. Those of
// the input come before the further ones; beyond that the first by name counts.
func definitionsByKind(input, further []*model.Object) map[model.GroupKind]*definition {
	out := map[model.GroupKind]*definition{}
	for _, objects := range [][]*model.Object{input, further} {
		objects = slices.SortedFunc(slices.Values(objects), func(a, b *model.Object) int {
			return cmp.Or(a.Ref.Compare(b.Ref), a.Origin.Compare(b.Origin))
		})
		for _, o := range objects {
			if o.Body.At("spec", "versions").Len() == 0 { // a stub, which says nothing about objects
				continue
			}
			if gk, ok := o.DefinedKind(); ok && out[gk] == nil {
				out[gk] = newDefinition(gk, o)
			}
		}
	}
	return out
}

func newDefinition(gk model.GroupKind, o *model.Object) *definition {
	d := &definition{kind: gk, object: o, namespaced: o.Text("spec", "scope") != "Cluster",
		versions: map[string]*version{}}
	for i, body := range o.Body.At("spec", "versions").Items {
		name := body.At("name").Text()
		if served := body.Get("served"); name != "" && served != false && d.versions[name] == nil {
			d.versions[name] = &version{definition: d, name: name, index: strconv.Itoa(i), body: body,
				dropsStatus: body.At("subresources").Has("status") && !body.At("subresources", "status").IsNull(),
				scale:       readScalePaths(body.At("subresources"))}
		}
	}
	return d
}

// ofRelease returns the same definition as one of another release.
func (d *definition) ofRelease(r *Release) *definition {
	out := *d
	out.release, out.versions = r, map[string]*version{}
	for name, v := range d.versions {
		out.versions[name] = &version{definition: &out, name: v.name, schemaText: v.schemaText,
			dropsStatus: v.dropsStatus}
	}
	return &out
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

// unservedVersionProblem is what is wrong with an object of a version that is not served.
func (d *definition) unservedVersionProblem(o *model.Object) model.Problem {
	p := model.Problem{Severity: model.Error, Code: model.SchemaViolation,
		Message: fmt.Sprintf("%s is not served in version %q", o.Ref.GroupKind(), o.Version),
		Hint:    d.displayName() + " serves " + cmp.Or(d.servedVersions(), "no version")}
	if d.missing {
		p.Message = fmt.Sprintf("no matches for kind %q in version %q", o.Ref.Kind, o.Ref.Group+"/"+o.Version)
		p.Hint = d.displayName() + " does not have the kind"
	}
	p = p.At(o)
	*p.Origin = o.OriginOf("apiVersion")
	return p
}

// unknownVersionProblem says that no release of the catalogue serves the version of an object.
func (d *definition) unknownVersionProblem(o *model.Object) model.Problem {
	return model.Problem{Severity: model.Warning, Code: model.InvalidObject,
		Message: fmt.Sprintf("%s is not served in version %q by any release that is known: it is read as it is written",
			o.Ref.GroupKind(), o.Version),
		Hint: d.displayName() + " serves " + cmp.Or(d.servedVersions(), "no version")}.At(o, "apiVersion")
}

// displayName is how hints name the definition.
func (d *definition) displayName() string {
	if d.file != "" {
		return d.file
	}
	if d.release != nil {
		return d.release.Vendor + " " + d.release.Name
	}
	return d.object.Ref.String() + " (" + d.object.Origin.String() + ")"
}

// describeSource says by what an object is judged.
func (v *version) describeSource() string {
	return "by version " + v.name + " of " + v.definition.displayName()
}

// addUnusable notes that the version cannot be used.
func (v *version) addUnusable(format string, args ...any) {
	v.problems = append(v.problems, v.newProblem(fmt.Sprintf(format, args...),
		"objects of this version are not judged until the definition is mended"))
}

func (v *version) newProblem(message, hint string) model.Problem {
	p := model.Problem{Severity: model.Warning, Code: model.InvalidSchema, Message: "version " + v.name + ": " +
		message, Hint: hint}
	if v.definition.object == nil {
		p.Message = v.definition.displayName() + ": " + p.Message
		return p
	}
	p = p.At(v.definition.object)
	*p.Origin = v.definition.object.OriginOf("spec", "versions", v.index)
	return p
}

// compileSchema makes what judges objects of the version, as the API server does when a definition
// is established. It does so once.
func (v *version) compileSchema() {
	v.compile.Do(func() {
		if v.goType != nil {
			v.usable = true
			return
		}
		if err := v.buildValidators(); err != nil {
			v.addUnusable("%s", err)
			return
		}
		v.usable = true
	})
}

// readSchema reads the schema as it is written.
func (v *version) readSchema() (*apiextensions.JSONSchemaProps, error) {
	if v.unreadable != nil {
		return nil, v.unreadable
	}
	if d := v.definition.object; d != nil {
		if d.Version != "v1" {
			return nil, fmt.Errorf("apiextensions.k8s.io/%s is not served any more; v1 is", d.Version)
		}
		if d.Body.Get("spec", "preserveUnknownFields") == true {
			return nil,
				errors.New(
					"spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead")
		}
	}
	text := v.schemaText
	if text == nil {
		body := v.body.At("schema", "openAPIV3Schema")
		if !body.IsObject() {
			return nil, errors.New("it has no schema")
		}
		text = model.AppendJSON(nil, body)
	}
	var written apiextensionsv1.JSONSchemaProps
	if err := json.UnmarshalCaseSensitivePreserveInts(text, &written); err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	var props apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&written, &props,
		nil); err != nil {
		return nil, fmt.Errorf("its schema cannot be read: %w", err)
	}
	return &props, nil
}

// buildValidators makes the structural schema and what validates by it. What comes with the program
// is known to be structural.
func (v *version) buildValidators() error {
	props, err := v.readSchema()
	if err != nil {
		return err
	}
	structural, err := schema.NewStructural(props)
	if err != nil {
		return fmt.Errorf("its schema is not structural: %w", err)
	}
	if v.definition.release == nil {
		at := apifield.NewPath("spec", "versions").Key(v.name).Child("schema", "openAPIV3Schema")
		var wrong apifield.ErrorList
		withUniquePatterns(structural, func() { wrong = schema.ValidateStructural(at, structural) })
		if len(wrong) > 0 {
			return fmt.Errorf("its schema is not structural: %w", wrong.ToAggregate())
		}
	}
	structural = structural.DeepCopy() // defaults are shared with what it was made from
	if err := defaulting.PruneDefaults(structural); err != nil {
		return fmt.Errorf("its defaults do not fit its schema: %w", err)
	}
	if v.validator, _, err = validation.NewSchemaValidator(props); err != nil {
		return fmt.Errorf("its schema cannot be used: %w", err)
	}
	v.structural, v.rules = structural, newRuleTree(structural, true)
	return nil
}
