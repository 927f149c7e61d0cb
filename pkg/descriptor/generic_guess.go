package descriptor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// how is the reading in half a line.
func (g *generic) how() string {
	switch k := g.kind; {
	case k.Direct:
		return "direct, one policy per target"
	case k.Content.Blocks[merge.Defaults][1] == "default":
		return "inherited, spec.default and spec.override field by field"
	default:
		return "inherited, " + k.Strategy.Default.Strategy.Word() + " defaults unless its objects say otherwise"
	}
}

// mark says that the kind is only guessed at.
func (g *generic) mark() model.Problem {
	k := g.kind
	return model.Problem{Severity: model.Info, Code: model.GenericKind, Ref: k.Everyone(),
		Message: fmt.Sprintf("%s has no descriptor, it was recognised by %s; it is read as GEP-713 says: %s", k.Name(), k.From, k.Guess.How),
		Hint:    "describe the kind with --policy-kinds if its controller does otherwise"}
}

// blocks reports whether policies of the kind write their settings in the blocks of GEP-713, and none has something else of that name.
func (g *generic) blocks() bool {
	found := false
	for _, o := range g.objects {
		for _, name := range []string{"defaults", "overrides"} {
			v := o.Body.At("spec", name)
			if !v.IsNull() && !v.IsObject() { // a setting that happens to have the name of a block
				return false
			}
			found = found || v.IsObject()
		}
	}
	return found
}

// disbelief says why the label Direct is not to be believed, "" if it may be: a direct kind has one kind of target, and no two of its
// policies stand above each other (gep713 P3).
func (g *generic) disbelief(targets []policy.TargetForm) string {
	var kinds []string
	add := func(kind string) {
		if kind != "" && !slices.Contains(kinds, kind) {
			kinds = append(kinds, kind)
		}
	}
	for _, t := range targets {
		add(t.GroupKind.String())
	}
	for _, ref := range [][]string{{"targetRef"}, {"targetRefs", "items"}, {"targetSelectors", "items"}} {
		path := append(append([]string{"properties"}, ref...), "properties", "kind", "enum")
		allowed, _ := model.Get(g.crd.spec, path...).([]any)
		for _, kind := range allowed {
			if name := fmt.Sprint(kind); !slices.ContainsFunc(kinds, func(k string) bool { return model.ParseGroupKind(k).Kind == name }) {
				add(name)
			}
		}
	}
	slices.Sort(kinds)
	switch {
	case len(kinds) > 1:
		return "its policies target " + strings.Join(kinds, " and ")
	case len(kinds) == 1 && kinds[0] == "Namespace":
		return "its policies target Namespaces, of which several are above one route"
	case g.sections():
		return "its policies target sections of objects"
	}
	return ""
}

// sections reports whether a reference names a section of an object.
func (g *generic) sections() bool {
	for _, o := range g.objects {
		for _, field := range referenceFields() {
			for _, entry := range asList(o.Get("spec", field)) {
				if model.Text(entry, "sectionName") != "" {
					return true
				}
			}
		}
	}
	return false
}

// bound reports whether the API of the kind demands a reference to a target.
func (g *generic) bound() bool {
	return slices.ContainsFunc(asList(model.Get(g.crd.spec, "required")), func(field any) bool {
		name, _ := field.(string)
		return slices.Contains(referenceFields(), name)
	})
}

// mergesOtherwise reports whether the API of the kind has fields by which policies are merged in a way that GEP-713 does not define. What its
// schema fills in does not show in manifests.
func (g *generic) mergesOtherwise() bool {
	for _, under := range [][]string{{"properties"}, {"properties", "defaults", "properties"}, {"properties", "overrides", "properties"}} {
		fields, _ := model.Get(g.crd.spec, under...).(map[string]any)
		for name, schema := range fields {
			if name == "strategy" && !g.understood(schema) || name == "action" || name == "granularity" || name == "override" || policy.MergeWord(name) {
				return true
			}
		}
	}
	return false
}

// understood reports whether the schema of a strategy allows for no other words than those that are known here, and where there is none
// means atomic.
func (g *generic) understood(schema any) bool {
	if fill := model.Get(schema, "default"); fill != nil && fill != "atomic" {
		return false
	}
	return !slices.ContainsFunc(asList(model.Get(schema, "enum")), func(word any) bool {
		text, _ := word.(string)
		_, known := g.kind.Strategy.Values[text]
		return !known
	})
}

// referenceFields are where references to targets stand in a policy without a descriptor.
func referenceFields() []string { return []string{"targetRef", "targetRefs", "targetSelectors"} }
