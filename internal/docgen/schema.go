package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cover"
	"github.com/dopolicy/kubectl-dopolicy/pkg/describe"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/publish"
	"github.com/dopolicy/kubectl-dopolicy/pkg/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/behavior"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/history"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/kinds"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// answers are the shapes of the contract, by kind.
func answers() map[string]any {
	return map[string]any{
		"EffectivePolicyList": effective.EffectivePolicyList{}, "PolicyReach": reach.PolicyReach{},
		"PolicyReachList": reach.PolicyReachList{}, "PolicyMatrix": matrix.PolicyMatrix{},
		"OverriddenRuleList": overridden.OverriddenRuleList{},
		"Explanation":        explain.Explanation{}, "History": history.History{},
		"ClusterFailure": view.ClusterFailure{},
		"StatusList":     status.StatusList{}, "Topology": graph.Topology{}, "KindList": kinds.KindList{},
		"EffectivePolicyDiff": diff.EffectivePolicyDiff{},
		"Proof":               prove.Proof{}, "BehaviorDiff": behavior.BehaviorDiff{},
		"RequestAnswer":     requests.RequestAnswer{},
		"RequestAnswerList": requests.RequestAnswerList{},
		"Version":           view.Version{}, "Snapshot": model.Header{},
		"CheckReport": check.Report{}, "FindingRuleList": check.RuleList{},
		"RequirementTestReport": requirement.TestReport{}, "CoverageReport": cover.Report{},
		"ObjectDescription":   describe.ObjectDescription{},
		"Report":              report.Report{},
		"PublishedReportList": publish.Plan{},
		"DataplaneAudit":      audit.Report{},
	}
}

// Schemas makes a JSON Schema for every shape, by file name. They say which fields there are, of
// which type and what they mean, in the words of the Go comments; fields may be added.
func Schemas() (map[string][]byte, error) {
	from, err := newSources()
	if err != nil {
		return nil, err
	}
	words, err := from.vocabulary()
	if err != nil {
		return nil, err
	}
	out, used := map[string][]byte{}, map[string]bool{}
	for kind, shape := range answers() {
		g := generator{sources: from, words: words, used: used, defs: map[string]any{}}
		top := g.object(reflect.TypeOf(shape))
		top["$schema"] = "https://json-schema.org/draft/2020-12/schema"
		top["title"] = kind
		top["$defs"] = g.defs
		top["properties"].(map[string]any)["kind"].(map[string]any)["const"] = kind
		var b bytes.Buffer
		enc := json.NewEncoder(&b)
		enc.SetEscapeHTML(false)
		enc.SetIndent("", "  ")
		if err := errors.Join(g.err, enc.Encode(top)); err != nil {
			return nil, fmt.Errorf("schema of %s: %w", kind, err)
		}
		out[kind+".json"] = b.Bytes()
	}
	for _, of := range words {
		for field := range of {
			if !used[field] {
				return nil, fmt.Errorf("no answer has the field %s", field)
			}
		}
	}
	return out, nil
}

// generator turns Go types into schemas; named structs become definitions.
type generator struct {
	*sources
	words vocabulary
	used  map[string]bool // which of its fields there are
	defs  map[string]any
	err   error // the first
}

func (g *generator) object(t reflect.Type) map[string]any {
	props := map[string]any{}
	required := []string{}
	g.fields(t, props, &required)
	slices.Sort(required)
	return map[string]any{"type": "object", "description": g.describe(t, ""), "properties": props, "required": required}
}

// describe is the comment of a type or of one of its fields, which has to have one.
func (g *generator) describe(t reflect.Type, field string) string {
	text, err := g.comment(t, field)
	if err == nil && text == "" {
		err = fmt.Errorf("%s.%s has no comment", t, field)
	}
	g.err = cmp.Or(g.err, err)
	return text
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
		of := f.Type
		if f.Tag.Get("null") == "never" { // a pointer that only saves memory
			of = of.Elem()
		}
		prop := g.schema(of)
		prop["description"] = g.describe(t, f.Name)
		for keyword, of := range g.words {
			if at := t.Name() + "." + f.Name; of[at] != nil {
				g.used[at] = true
				texts(prop)[keyword] = of[at]
			}
		}
		props[name] = prop
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			*required = append(*required, name)
		}
	}
}

// texts is the schema of a text, or of each of a list of texts.
func texts(schema map[string]any) map[string]any {
	if items, ok := schema["items"].(map[string]any); ok {
		return items
	}
	return schema
}

func (g *generator) schema(t reflect.Type) map[string]any {
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
func files() (map[string][]byte, error) {
	schemas, err := Schemas()
	out := prefixed("cli/", Pages())
	maps.Copy(out, prefixed("schema/", schemas))
	for _, at := range deployedRoles() {
		out[at] = rbac()
	}
	out["rbac.yaml"] = slices.Concat(rbac(), []byte(rbacProxies))
	return out, err
}

func prefixed(prefix string, in map[string][]byte) map[string][]byte {
	out := map[string][]byte{}
	for name, text := range in {
		out[prefix+name] = text
	}
	return out
}
