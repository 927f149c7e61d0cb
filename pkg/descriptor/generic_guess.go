package descriptor

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// describeReading says in half a line how the kind is read.
func (g *genericKind) describeReading() string {
	switch k := g.kind; {
	case k.Direct:
		return "direct, one policy per target"
	case k.Content.Blocks[merge.Defaults][1] == "default":
		return "inherited, spec.default and spec.override field by field"
	default:
		return "inherited, " + k.Strategy.Default.Strategy.Name() + " defaults unless its objects say otherwise"
	}
}

// guessProblem says that the kind is only guessed at.
func (g *genericKind) guessProblem() model.Problem {
	k := g.kind
	return model.Problem{Severity: model.Info, Code: model.GenericKind, Ref: k.AllPoliciesRef(),
		Message: fmt.Sprintf("%s has no descriptor, it was recognised by %s; it is read as GEP-713 says: %s", k.Name(),
			k.Source, k.Guess.Description),
		Hint: "describe the kind with --policy-kinds if its controller does otherwise"}
}

// hasBlocks reports whether policies of the kind write their settings in the blocks of GEP-713, and
// none has something else of that name.
func (g *genericKind) hasBlocks() bool {
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

// doubtDirect says why the label Direct is not to be believed, "" if it may be: a direct kind has
// one kind of target, and no two of its policies stand above each other (gep713 P3).
func (g *genericKind) doubtDirect(targets []policy.TargetForm) string {
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
			if name := fmt.Sprint(kind); !slices.ContainsFunc(kinds,
				func(k string) bool { return model.ParseGroupKind(k).Kind == name }) {
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
	case g.hasSectionTargets():
		return "its policies target sections of objects"
	}
	return ""
}

// hasSectionTargets reports whether a reference names a section of an object.
func (g *genericKind) hasSectionTargets() bool {
	for _, o := range g.objects {
		for _, entry := range targetRefs(o) {
			if model.Text(entry, "sectionName") != "" {
				return true
			}
		}
	}
	return false
}

// needsTarget reports whether the API of the kind demands a reference to a target.
func (g *genericKind) needsTarget() bool {
	return slices.ContainsFunc(asList(model.Get(g.crd.spec, "required")), func(field any) bool {
		name, _ := field.(string)
		return slices.Contains(targetRefFields(), name)
	})
}

// hasOtherMergeFields reports whether the API of the kind has fields by which policies are merged
// in a way that GEP-713 does not define. What its schema fills in does not show in manifests.
func (g *genericKind) hasOtherMergeFields() bool {
	for _, fields := range g.fieldSchemas() {
		for name, schema := range fields {
			if name == "strategy" && !g.isKnownStrategy(schema) || name == "action" || name == "granularity" ||
				name == "override" || policy.IsMergeWord(name) {
				return true
			}
		}
	}
	return false
}

// isKnownStrategy reports whether the schema of a strategy allows for no other words than those
// that are known here, and where there is none means atomic.
func (g *genericKind) isKnownStrategy(schema any) bool {
	if fill := model.Get(schema, "default"); fill != nil && fill != "atomic" {
		return false
	}
	return !slices.ContainsFunc(asList(model.Get(schema, "enum")), func(word any) bool {
		text, _ := word.(string)
		_, known := g.kind.Strategy.Values[text]
		return !known
	})
}

// targetRefFields returns where references to targets stand in a policy without a descriptor.
func targetRefFields() []string { return []string{"targetRef", "targetRefs", "targetSelectors"} }
