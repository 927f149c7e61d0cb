package descriptor

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayxv1alpha1 "sigs.k8s.io/gateway-api/apisx/v1alpha1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

const policyLabel = gatewayv1.PolicyLabelKey

// Discover lists the policy kinds of a snapshot, sorted: the described ones, then those that the
// label of their CRD or the shape of their objects gives away (gep713 P1-P3). Every generic kind is
// marked with a GenericKind problem.
func (c *Catalog) Discover(in *model.Snapshot) ([]*policy.Kind, []model.Problem) {
	kinds, problems := c.decideKinds(in)
	for i, k := range kinds {
		if k.Targets == nil { // they are what is observed
			targets := observedTargets(in.OfKind(k.GroupKind))
			seen := *k
			seen.Routes = observedRoutes(targets)
			if k.Effective == nil {
				seen.Effective = effectiveRoles(targets)
			}
			kinds[i] = &seen
		}
	}
	crds := readCRDs(in)
	found := map[model.GroupKind]string{}
	for gk, crd := range crds {
		if crd.labelled {
			found[gk] = "the label of its CRD"
		}
	}
	for _, gk := range in.Kinds() {
		if found[gk] == "" && !isBuiltinGroup(gk.Group) && !c.isKnownKind(gk) &&
			slices.ContainsFunc(in.OfKind(gk), looksLikePolicy) {
			found[gk] = "the shape of its objects"
		}
	}
	for _, gk := range slices.SortedFunc(maps.Keys(found), model.GroupKind.Compare) {
		if c.isKnownKind(gk) {
			continue
		}
		g := genericKind{kind: usualKind(), crd: crds[gk], objects: in.OfKind(gk), settings: c.chosenSettings}
		k := g.describeKind(gk)
		k.Source = found[gk]
		kinds = append(kinds, k)
		if len(g.objects) > 0 {
			problems = append(problems, g.guessProblem())
		}
	}
	slices.SortFunc(kinds, func(a, b *policy.Kind) int { return a.GroupKind.Compare(b.GroupKind) })
	return kinds, problems
}

// isKnownKind reports whether it is known what a kind is: a policy, or none, whatever the label of
// its CRD says.
func (c *Catalog) isKnownKind(gk model.GroupKind) bool {
	return c.kinds[gk] != nil || c.knowledge.IsKnown(gk) || slices.Contains(gatewayapi.RouteKinds(), gk)
}

// isBuiltinGroup reports whether a group's kinds are Kubernetes' own and never policies of this
// sort.
func isBuiltinGroup(group string) bool {
	return group == "" || group == "apps" || group == "batch" || strings.HasSuffix(group, ".k8s.io") &&
		group != policy.GatewayGroup && group != gatewayxv1alpha1.GroupName && group != "policy.networking.k8s.io"
}

// looksLikePolicy is the shape test of gep713 P1: references with group, kind and name and no
// apiVersion, or with a selector.
func looksLikePolicy(o *model.Object) bool {
	for field, entry := range targetRefs(o) {
		ref, _ := entry.(map[string]any)
		_, hasGroup := ref["group"].(string)
		_, hasVersion := ref["apiVersion"]
		named := model.Text(ref, "name") != "" || field == "targetSelectors"
		if hasGroup && !hasVersion && named && model.Text(ref, "kind") != "" {
			return true
		}
	}
	return false
}

// targetRefs iterates over the references to targets in a policy without a descriptor, each with
// the field in which it stands.
func targetRefs(o *model.Object) iter.Seq2[string, any] {
	return func(yield func(string, any) bool) {
		spec := o.Body.Field("spec")
		for _, field := range targetRefFields() {
			for _, entry := range asList(spec.Field(field).Value()) {
				if !yield(field, entry) {
					return
				}
			}
		}
	}
}

func asList(v any) []any {
	switch t := v.(type) {
	case []any:
		return t
	case map[string]any:
		return []any{t}
	}
	return nil
}

// DefinesPolicyKind reports whether a CustomResourceDefinition defines a policy kind: by its label,
// or by references to targets in its schema (gep713 P1).
func DefinesPolicyKind(definition *model.Object) bool {
	if _, labelled := definition.Labels[policyLabel]; labelled {
		return true
	}
	for _, v := range definition.Body.At("spec", "versions").Items {
		spec := v.At("schema", "openAPIV3Schema", "properties", "spec", "properties")
		for _, ref := range []model.Body{spec.At("targetRef"), spec.At("targetRefs", "items"),
			spec.At("targetSelectors", "items")} {
			fields := ref.At("properties")
			if fields.At("group").IsObject() && fields.At("kind").IsObject() && !fields.At("apiVersion").IsObject() {
				return true
			}
		}
	}
	return false
}

// crdFacts is what a CustomResourceDefinition says that matters here.
type crdFacts struct {
	labelled bool
	class    string // lower case: inherited, direct, or something else
	plural   string
	short    []string
	cluster  bool
	spec     any // the schema of spec, or nil
}

func readCRDs(in *model.Snapshot) map[model.GroupKind]crdFacts {
	out := map[model.GroupKind]crdFacts{}
	for _, o := range in.Definitions() {
		gk, _ := o.DefinedKind()
		label, labelled := o.Labels[policyLabel]
		c := crdFacts{labelled: labelled, class: strings.ToLower(label), plural: o.Text("spec", "names", "plural"),
			cluster: o.Text("spec", "scope") == "Cluster"}
		for _, s := range asList(o.Get("spec", "names", "shortNames")) {
			if name, ok := s.(string); ok {
				c.short = append(c.short, name)
			}
		}
		for _, v := range asList(o.Get("spec", "versions")) {
			if schema := model.Get(v, "schema", "openAPIV3Schema", "properties", "spec"); schema != nil &&
				(c.spec == nil || model.Get(v, "storage") == true) {
				c.spec = schema
			}
		}
		out[gk] = c
	}
	return out
}

type genericKind struct {
	kind     *policy.Kind
	crd      crdFacts
	objects  []*model.Object
	settings model.Settings
}

// describeKind writes the descriptor of a kind that has none (engine E15).
func (g *genericKind) describeKind(gk model.GroupKind) *policy.Kind {
	k := g.kind
	k.GroupKind, k.Plural, k.ShortNames, k.ClusterScoped, k.ChecksDirection = gk, g.crd.plural, g.crd.short,
		g.crd.cluster, true
	if k.Plural == "" {
		k.Plural = PluralOf(gk.Kind)
	}
	k.Content.Unset, k.Content.Condition = []string{"unset", "remove"}, "when"
	k.Rules, k.RuleWord = append(g.schemaShape(), k.Rules...), "entries"
	if !g.hasStrategy() {
		k.Strategy.Default, _ = parseChoice(g.settings.Text(genericStrategySetting))
	}
	if g.settings.Text(SameLevelSetting) == "oldest" {
		k.SameTarget = policy.Oldest
	}
	targets := observedTargets(g.objects)
	if g.crd.class == "direct" {
		k.Guess.Doubt = g.doubtDirect(targets)
	}
	switch {
	case g.crd.class == "direct" && k.Guess.Doubt == "":
		makeDirect(k)
	case g.isLegacy():
		g.useLegacy()
	default:
		k.Guess.DefinesMerge = g.crd.class == "inherited" && g.hasBlocks() && !g.hasOtherMergeFields()
	}
	k.Guess.Description, k.Guess.NeedsTarget = g.describeReading(), g.needsTarget()
	k.Effective, k.Routes, k.Family = effectiveRoles(targets), observedRoutes(targets), topology.All
	k.Plans = []merge.Plan{{SameTarget: foldSameTarget(k)}}
	return k
}

// fieldSchemas returns the schemas of the fields of the spec, and of its blocks of defaults and
// overrides.
func (g *genericKind) fieldSchemas() []map[string]any {
	var out []map[string]any
	for _, under := range [][]string{{"properties"}, {"properties", "defaults", "properties"},
		{"properties", "overrides", "properties"}} {
		fields, _ := model.Get(g.crd.spec, under...).(map[string]any)
		out = append(out, fields)
	}
	return out
}

// schemaShape returns patterns for the top-level fields that the schema singles out: list-maps are
// cut by key, atomic maps not at all.
func (g *genericKind) schemaShape() merge.Shape {
	var out merge.Shape
	seen := map[string]bool{}
	for _, fields := range g.fieldSchemas() {
		for _, name := range slices.Sorted(maps.Keys(fields)) {
			if seen[name] {
				continue
			}
			schema := fields[name]
			p := merge.Pattern{Path: merge.KeyPath(name)}
			if model.Text(schema, "x-kubernetes-list-type") == "map" {
				p.As = merge.ListEntry
				for _, key := range asList(model.Get(schema, "x-kubernetes-list-map-keys")) {
					p.Keys = append(p.Keys, fmt.Sprint(key))
				}
			}
			if p.Keys != nil || model.Text(schema, "x-kubernetes-map-type") == "atomic" {
				out = append(out, p)
				seen[name] = true
			}
		}
	}
	return out
}

// hasStrategy reports whether the schema has a field for the strategy; its default is atomic then.
func (g *genericKind) hasStrategy() bool {
	return slices.ContainsFunc(g.fieldSchemas(), func(fields map[string]any) bool { return fields["strategy"] != nil })
}

// isLegacy reports whether the kind is of the older form: spec.default and spec.override, and
// nowhere the plural words.
func (g *genericKind) isLegacy() bool {
	old := false
	has := func(o *model.Object, field string) bool {
		_, ok := o.Get("spec", field).(map[string]any)
		return ok
	}
	for _, o := range g.objects {
		if has(o, "defaults") || has(o, "overrides") {
			return false
		}
		old = old || has(o, "default") || has(o, "override")
	}
	return old
}

// useLegacy merges leaf by leaf, maps of strings and lists whole; of several policies on one target
// the oldest is first (gep713 P40).
func (g *genericKind) useLegacy() {
	k := g.kind
	k.Content.Blocks = map[merge.BlockKind][]string{merge.Defaults: {"spec", "default"},
		merge.Overrides: {"spec", "override"}}
	k.Strategy = policy.StrategyRule{Default: policy.StrategyChoice{Strategy: merge.Strategy{Cut: merge.Rules}}}
	k.SameTarget, k.RuleWord, k.ChecksDirection = policy.Fill, "leaves", false
	k.Rules = merge.LeafShape()
	for _, under := range []string{"", "default", "override"} {
		path := []string{"properties"}
		if under != "" {
			path = []string{"properties", under, "properties"}
		}
		k.Rules = slices.Concat(k.Rules, findStringMaps(model.Get(g.crd.spec, path...), nil))
	}
}

// findStringMaps finds the fields of a schema that are maps of strings.
func findStringMaps(properties any, at merge.Path) merge.Shape {
	var out merge.Shape
	props, _ := properties.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(props)) {
		path := slices.Concat(at, merge.KeyPath(name))
		if model.Text(props[name], "additionalProperties", "type") == "string" {
			out = append(out, merge.Pattern{Path: path})
		}
		out = append(out, findStringMaps(model.Get(props[name], "properties"), path)...)
	}
	return out
}

// observedTargets lists the target kinds that the objects name.
func observedTargets(objects []*model.Object) []policy.TargetForm {
	var out []policy.TargetForm
	for _, o := range objects {
		for _, entry := range targetRefs(o) {
			group, _, _ := strings.Cut(model.Text(entry, "group"), "/")
			t := policy.TargetForm{GroupKind: model.GroupKind{Group: group, Kind: model.Text(entry, "kind")}}
			if model.Text(entry, "sectionName") != "" {
				t.Section = policy.SectionRole(t.GroupKind)
			}
			if t.GroupKind.Kind != "" && !slices.Contains(out, t) {
				out = append(out, t)
			}
		}
	}
	return out
}
