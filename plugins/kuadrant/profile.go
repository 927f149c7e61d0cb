package kuadrant

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// profile decides which dialect a kind is read in, over all its loaded objects, since a fold cannot mix dialects: rfc if one of them
// carries a mark that only RFC 0009 knows, else operator.
func profile(gk model.GroupKind, objects []*model.Object) (string, []model.Problem) {
	container := "limits"
	switch gk.Kind {
	case "AuthPolicy":
		container = "rules"
	case "DNSPolicy", "TLSPolicy":
		return "operator", nil
	}
	for _, o := range objects {
		if mark := markOf(o, container); mark != "" {
			return "rfc", []model.Problem{model.Problem{Severity: model.Info, Code: model.ProfileChosen,
				Message: fmt.Sprintf("%s is read as RFC 0009 describes it, not as the operator does: %s", gk.Kind, mark),
				Hint:    "choose with --vendor-setting kuadrant.profile=rfc or operator"}.At(o)}
		}
	}
	return "operator", nil
}

// markOf names the first thing in a policy that the operator's API does not have, "" if there is none.
func markOf(o *model.Object, container string) string {
	spec, _ := o.Get("spec").(map[string]any)
	blocks := 0
	for _, name := range []string{"defaults", "overrides"} {
		if spec[name] == nil {
			continue
		}
		blocks++
		if mark := blockMark(name, spec[name], container); mark != "" {
			return mark
		}
	}
	switch {
	case blocks == 2:
		return "it has defaults and overrides"
	case blocks == 1 && spec[container] != nil:
		return "it has a block beside spec." + container
	case spec["unset"] != nil:
		return "it has spec.unset"
	case spec["remove"] != nil:
		return "it has spec.remove"
	}
	return scalarMark("spec."+container, spec[container], container == "rules")
}

func blockMark(name string, block any, container string) string {
	fields, ok := block.(map[string]any)
	if !ok {
		return "spec." + name + " is a list of operations"
	}
	if _, isText := fields["when"].(string); isText {
		return "spec." + name + ".when is a condition"
	}
	if fields["granularity"] != nil {
		return "spec." + name + " has granularity"
	}
	for _, key := range slices.Sorted(maps.Keys(fields)) {
		if strings.Contains(key, ".") {
			return "spec." + name + " has the path " + key + " as a key"
		}
	}
	if nestedCondition(fields[container]) {
		return "spec." + name + "." + container + " has a condition inside"
	}
	return scalarMark("spec."+name+"."+container, fields[container], container == "rules")
}

// nestedCondition reports whether a map within v has a condition of its own.
func nestedCondition(v any) bool {
	m, ok := v.(map[string]any)
	if !ok {
		return false
	}
	if _, isText := m["when"].(string); isText {
		return true
	}
	return slices.ContainsFunc(slices.Collect(maps.Values(m)), nestedCondition)
}

// scalarMark finds a rule whose value is no object; rules of an AuthPolicy stand one level deeper, in sections.
func scalarMark(at string, container any, sections bool) string {
	m, _ := container.(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(m)) {
		inner, isMap := m[key].(map[string]any)
		if sections && isMap {
			if mark := scalarMark(at+"."+key, inner, false); mark != "" {
				return mark
			}
			continue
		}
		if !isMap {
			return at + "." + key + " is no object"
		}
	}
	return ""
}
