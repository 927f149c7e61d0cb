package kuadrant

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// chooseProfile decides which dialect a kind is read in: the operator's, unless the kind's
// definition in the input has fields that only RFC 0009 has. Policies have no say: one odd policy
// would change what all others of its kind mean, and what the API server refuses would be shown as
// in force.
func chooseProfile(gk model.GroupKind, in *model.Snapshot) (string, []model.Problem) {
	if isDirect(gk.Kind) {
		return "operator", nil
	}
	for _, definition := range in.Definitions() {
		if defined, _ := definition.DefinedKind(); defined != gk {
			continue
		}
		if field := findRFCField(definition, rulesField(gk.Kind)); field != "" {
			p := model.Problem{Severity: model.Info, Code: model.ProfileChosen,
				Message: fmt.Sprintf(
					"%s is read as RFC 0009 describes it, not as the operator does: its CustomResourceDefinition has %s", gk.Kind, field),
				Hint: "choose with --vendor-setting kuadrant.profile=rfc or operator"}.At(definition)
			p.Ref = &model.Ref{Group: gk.Group, Kind: gk.Kind, Name: "*"}
			return "rfc", []model.Problem{p}
		}
	}
	return "operator", nil
}

// rulesField is the field with the rules of a kind's policies.
func rulesField(kind string) string {
	if kind == "AuthPolicy" {
		return "rules"
	}
	return "limits"
}

// findRFCField names the first field in the schemas of a definition that the operator's API does
// not have, "" if there is none.
func findRFCField(definition *model.Object, container string) string {
	for _, version := range definition.Body.At("spec", "versions").Items {
		if version.Field("served").Value() == false {
			continue
		}
		spec := version.At("schema", "openAPIV3Schema", "properties", "spec", "properties")
		for _, name := range []string{"unset", "remove"} {
			if spec.Field(name).IsObject() {
				return "spec." + name
			}
		}
		for _, name := range []string{"defaults", "overrides"} {
			block := spec.Field(name)
			switch when := block.At("properties", "when"); {
			case block.Field("type").Text() == "array":
				return "spec." + name + " as a list of operations"
			case when.Field("type").Text() == "string":
				return "spec." + name + ".when as a text"
			case block.At("properties", "granularity").IsObject():
				return "spec." + name + ".granularity"
			case hasConditionField(block.At("properties", container)):
				return "a condition within spec." + name + "." + container
			}
		}
	}
	return ""
}

// hasConditionField reports whether a schema has a field when with a text, at any depth.
func hasConditionField(schema model.Body) bool {
	for name, field := range schema.Field("properties").Fields {
		if name == "when" && field.Field("type").Text() == "string" || hasConditionField(field) {
			return true
		}
	}
	values := schema.Field("additionalProperties")
	return values.IsObject() && hasConditionField(values)
}

// adviseProfile is what to do about a policy that the operator's API refuses, or drops a field of,
// for what only RFC 0009 has.
func adviseProfile(o *model.Object) string {
	mark := findRFCFeature(o, rulesField(o.Ref.Kind))
	if mark == "" {
		return ""
	}
	return mark + ", as in RFC 0009: --vendor-setting kuadrant.profile=rfc reads the kind as that describes it"
}

// findRFCFeature names the first thing in a policy that the operator's API does not have, "" if
// there is none.
func findRFCFeature(o *model.Object, container string) string {
	spec := o.Body.At("spec")
	blocks := 0
	for _, name := range []string{"defaults", "overrides"} {
		block := spec.At(name)
		if block.IsNull() {
			continue
		}
		blocks++
		if mark := findRFCBlock(name, block, container); mark != "" {
			return mark
		}
	}
	switch {
	case blocks == 2:
		return "it has defaults and overrides"
	case blocks == 1 && !spec.At(container).IsNull():
		return "it has a block beside spec." + container
	case !spec.At("unset").IsNull():
		return "it has spec.unset"
	case !spec.At("remove").IsNull():
		return "it has spec.remove"
	}
	return findScalarRule("spec."+container, spec.At(container), container == "rules")
}

func findRFCBlock(name string, block model.Body, container string) string {
	switch {
	case !block.IsObject():
		return "spec." + name + " is a list of operations"
	case block.At("when").IsText():
		return "spec." + name + ".when is a condition"
	case !block.At("granularity").IsNull():
		return "spec." + name + " has granularity"
	}
	for key := range block.Fields {
		if strings.Contains(key, ".") {
			return "spec." + name + " has the path " + key + " as a key"
		}
	}
	if hasNestedCondition(block.At(container)) {
		return "spec." + name + "." + container + " has a condition inside"
	}
	return findScalarRule("spec."+name+"."+container, block.At(container), container == "rules")
}

// hasNestedCondition reports whether a map within v has a condition of its own.
func hasNestedCondition(v model.Body) bool {
	for key, inner := range v.Fields {
		if key == "when" && inner.IsText() || hasNestedCondition(inner) {
			return true
		}
	}
	return false
}

// findScalarRule finds a rule whose value is no object; rules of an AuthPolicy stand one level
// deeper, in sections.
func findScalarRule(at string, container model.Body, sections bool) string {
	for key, inner := range container.Fields {
		mark := ""
		switch {
		case !inner.IsObject():
			mark = at + "." + key + " is no object"
		case sections:
			mark = findScalarRule(at+"."+key, inner, false)
		}
		if mark != "" {
			return mark
		}
	}
	return ""
}
