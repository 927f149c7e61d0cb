package kuadrant

import (
	"fmt"
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
	spec := o.Body.At("spec")
	blocks := 0
	for _, name := range []string{"defaults", "overrides"} {
		block := spec.At(name)
		if block.IsNull() {
			continue
		}
		blocks++
		if mark := blockMark(name, block, container); mark != "" {
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
	return scalarMark("spec."+container, spec.At(container), container == "rules")
}

func blockMark(name string, block model.Body, container string) string {
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
	if nestedCondition(block.At(container)) {
		return "spec." + name + "." + container + " has a condition inside"
	}
	return scalarMark("spec."+name+"."+container, block.At(container), container == "rules")
}

// nestedCondition reports whether a map within v has a condition of its own.
func nestedCondition(v model.Body) bool {
	for key, inner := range v.Fields {
		if key == "when" && inner.IsText() || nestedCondition(inner) {
			return true
		}
	}
	return false
}

// scalarMark finds a rule whose value is no object; rules of an AuthPolicy stand one level deeper, in sections.
func scalarMark(at string, container model.Body, sections bool) string {
	for key, inner := range container.Fields {
		mark := ""
		switch {
		case !inner.IsObject():
			mark = at + "." + key + " is no object"
		case sections:
			mark = scalarMark(at+"."+key, inner, false)
		}
		if mark != "" {
			return mark
		}
	}
	return ""
}
