package main

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// answers are the shapes of the contract, by kind.
func answers() map[string]any {
	return map[string]any{
		"EffectivePolicyList": view.EffectivePolicyList{}, "PolicyReach": view.PolicyReach{}, "OverriddenRuleList": view.OverriddenRuleList{},
		"Explanation": view.Explanation{}, "StatusList": view.StatusList{}, "Topology": view.Topology{}, "KindList": view.KindList{}, "EffectivePolicyDiff": view.EffectivePolicyDiff{},
		"Version": view.Version{}, "Snapshot": model.Header{},
		"CheckReport": check.Report{}, "FindingRuleList": check.RuleList{},
		"RequirementTestReport": requirement.TestReport{},
		"Report":                report.Report{},
	}
}

// Schemas makes a JSON Schema for every shape, by file name. They say which fields there are and of which type; fields may be added.
func Schemas() map[string][]byte {
	out := map[string][]byte{}
	for kind, shape := range answers() {
		g := generator{defs: map[string]any{}}
		top := g.object(reflect.TypeOf(shape))
		top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		top["title"] = kind
		top["$defs"] = g.defs
		top["properties"].(map[string]any)["kind"] = map[string]any{"const": kind}
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := enc.Encode(top); err != nil {
			panic(err) // maps of strings and texts only
		}
		out[kind+".json"] = b.Bytes()
	}
	return out
}

// generator turns Go types into schemas; named structs become definitions.
type generator struct{ defs map[string]any }

func (g *generator) object(t reflect.Type) map[string]any {
	props := map[string]any{}
	required := []string{}
	g.fields(t, props, &required)
	slices.Sort(required)
	return map[string]any{"type": "object", "properties": props, "required": required}
}

// fields adds the JSON fields of a struct, those of embedded structs included.
func (g *generator) fields(t reflect.Type, props map[string]any, required *[]string) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, ok := f.Tag.Lookup("json")
		switch {
		case f.Anonymous && !ok:
			g.fields(f.Type, props, required)
			continue
		case !f.IsExported() || !ok || tag == "-":
			continue
		}
		name, options, _ := strings.Cut(tag, ",")
		props[name] = g.schema(f.Type)
		if f.Tag.Get("null") == "never" { // a pointer that only saves memory
			props[name] = g.schema(f.Type.Elem())
		}
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, name)
		}
	}
}

func (g *generator) schema(t reflect.Type) any {
	switch t.Kind() {
	case reflect.Pointer:
		inner := g.schema(t.Elem())
		return map[string]any{"anyOf": []any{inner, map[string]any{"type": "null"}}}
	case reflect.Struct:
		if _, known := g.defs[t.Name()]; !known {
			g.defs[t.Name()] = nil // a type may hold itself
			g.defs[t.Name()] = g.object(t)
		}
		return map[string]any{"$ref": "#/$defs/" + t.Name()}
	case reflect.Slice:
		return map[string]any{"type": "array", "items": g.schema(t.Elem())}
	case reflect.Map:
		return map[string]any{"type": "object", "additionalProperties": g.schema(t.Elem())}
	case reflect.String:
		return map[string]any{"type": "string"}
	case reflect.Bool:
		return map[string]any{"type": "boolean"}
	case reflect.Int, reflect.Int32:
		return map[string]any{"type": "integer"}
	}
	return map[string]any{} // any value
}

// files are everything that is generated, by path below the folder of the documentation.
func files() map[string][]byte {
	out := prefixed("cli/", Pages())
	maps.Copy(out, prefixed("schema/", Schemas()))
	out["rbac.yaml"] = rbac()
	return out
}

func prefixed(prefix string, in map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range in {
		out[prefix+name] = text
	}
	return out
}
