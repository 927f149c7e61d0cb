package descriptor

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// tryVariants reads a kind under every value that an automatic setting may take, so that a mistake
// of a user's file shows at once; those of the built-in ones are for tests to find.
func (b *builder) tryVariants(gk model.GroupKind) error {
	for _, s := range b.automaticSettings(b.raw[gk].vendor) {
		for _, value := range s.Values {
			if _, err := b.readKind(gk, b.catalog.chosenSettings.With(s.Name, value)); err != nil {
				return err
			}
		}
	}
	return nil
}

// automaticSettings lists the settings of a vendor that the input decides.
func (b *builder) automaticSettings(vendor string) []Setting {
	var out []Setting
	for _, s := range b.catalog.settings {
		if s.Auto != "" && strings.HasPrefix(s.Name, vendor+".") && b.catalog.chosenSettings.Text(s.Name) == autoValue {
			out = append(out, s)
		}
	}
	return out
}

// decideKinds returns the described kinds, those that the input needs with their automatic settings
// decided by it.
func (c *Catalog) decideKinds(in *model.Snapshot) (kinds []*policy.Kind, problems []model.Problem) {
	needed := c.neededKinds(in)
	for _, k := range c.Kinds() {
		settings := c.chosenSettings
		auto := c.builder.automaticSettings(k.Vendor)
		for _, s := range auto {
			value, why := c.builder.funcs.Auto[s.Auto](k.GroupKind, in)
			problems = append(problems, why...)
			if needed[k.GroupKind] {
				settings = settings.With(s.Name, value)
			}
		}
		if !needed[k.GroupKind] {
			kinds = append(kinds, k)
			continue
		}
		if len(auto) > 0 {
			if decided, err := c.builder.readKind(k.GroupKind, settings); err == nil { // tried before with every value
				k = decided
			}
		}
		d, why := c.builder.findDialect(k.GroupKind, in)
		problems = append(problems, why...)
		if d != nil {
			if spoken, err := c.builder.readDescriptor(k.GroupKind, settings, d); err == nil { // tried before
				k = spoken
			}
		} else if more := c.builder.targetsOfDialects(k, settings, in); more != nil {
			widened := *k
			widened.Targets = more
			k = &widened
		}
		kinds = append(kinds, k)
	}
	return kinds, problems
}

// DecidedKinds lists the described kinds as Discover reads them for an input, without those that
// only the input tells of.
func (c *Catalog) DecidedKinds(in *model.Snapshot) []*policy.Kind {
	kinds, _ := c.decideKinds(in)
	return kinds
}

// neededKinds returns the kinds of an input that are read whole, and as the input decides: those of
// which it has policies, alone or together with others, or lacks some that the cluster has, and
// those that have results without any.
func (c *Catalog) neededKinds(in *model.Snapshot) map[model.GroupKind]bool {
	needed := map[model.GroupKind]bool{}
	for gk, k := range c.kinds {
		together := append([]model.GroupKind{gk}, k.Members...)
		if k.Virtual || k.HasResultsWithoutPolicies() ||
			slices.ContainsFunc(together, func(gk model.GroupKind) bool {
				return len(in.OfKind(gk)) > 0 ||
					in.Cluster.HasUnread(gk)
			}) {
			for _, gk := range together {
				needed[gk] = true
			}
		}
	}
	return needed
}

// UndecidedKinds lists the described kinds that an automatic setting reads in one of several ways,
// by what the input says of them, sorted.
func (c *Catalog) UndecidedKinds() []model.GroupKind {
	var out []model.GroupKind
	for _, k := range c.Kinds() {
		if c.builder.hasVariants(k.GroupKind) && len(c.builder.automaticSettings(k.Vendor)) > 0 {
			out = append(out, k.GroupKind)
		}
	}
	return out
}

// hasVariants reports whether the descriptor of a kind, or the one that it extends, has variants.
func (b *builder) hasVariants(gk model.GroupKind) bool {
	node := b.raw[gk].node
	if base, ok := b.baseOf(gk, model.ParseGroupKind(form.TextOf(node, "extends"))); ok &&
		form.Member(base.node, "variants") != nil {
		return true
	}
	return form.Member(node, "variants") != nil
}

// baseOf returns what a descriptor extends: another one, or the built-in one that it replaces.
func (b *builder) baseOf(gk, name model.GroupKind) (rawKind, bool) {
	if gk == name {
		under, ok := b.replaced[gk]
		return under, ok
	}
	under, ok := b.raw[name]
	return under, ok
}

// resolveVariants returns a descriptor with its variants applied, and without them.
func (b *builder) resolveVariants(r *form.Reader, k rawKind, settings model.Settings) *yaml.Node {
	variants := form.Member(k.node, "variants")
	if variants == nil {
		return k.node
	}
	return patchNode(b.patchVariants(r, k, variants, settings), variantsRemoval())
}

// variantsRemoval is a patch that takes the variants out.
func variantsRemoval() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "variants"},
		{Kind: yaml.ScalarNode, Tag: "!!null"}}}
}

// patchVariants merge-patches onto the descriptor, for every setting that variants ask for, the
// first set whose condition holds.
func (b *builder) patchVariants(r *form.Reader, k rawKind, variants *yaml.Node, settings model.Settings) *yaml.Node {
	out, done := k.node, map[string]bool{}
	if variants.Kind == yaml.SequenceNode && len(variants.Content) == 0 {
		return out
	}
	r.List(variants, func(v *yaml.Node) {
		var set, is *yaml.Node
		var setting, below string
		keep := func(into **yaml.Node) form.Field { return func(n *yaml.Node) { *into = n } }
		r.Object(v, map[string]form.Field{"set": keep(&set), "when": func(n *yaml.Node) {
			r.Object(n, map[string]form.Field{"setting": r.Text(&setting), "is": keep(&is),
				"below": versionField(r, &below)})
		}})
		if setting == "" || (is == nil) == (below == "") || set == nil {
			r.Fail(v, "a variant needs \"when\" with \"setting\" and either \"is\" or \"below\", and \"set\"")
			return
		}
		name := k.vendor + "." + setting
		if !slices.ContainsFunc(b.catalog.settings, func(s Setting) bool { return s.Name == name }) {
			r.Fail(v, "there is no setting %q", name)
			return
		}
		value := settings.Text(name)
		if value == "" {
			value = fmt.Sprint(settings.Bool(name))
		}
		holds := is != nil && value == is.Value || is == nil && IsVersionBelow(value, below)
		if holds && !done[name] {
			out, done[name] = patchNode(out, set), true
		}
	})
	return out
}

// replaceFields returns base with the fields of over in the place of its own.
func replaceFields(base, over *yaml.Node) *yaml.Node {
	out := *over
	out.Content = slices.Clone(over.Content)
	for i := 0; i+1 < len(base.Content); i += 2 {
		if form.Member(over, base.Content[i].Value) == nil {
			out.Content = append(out.Content, base.Content[i], base.Content[i+1])
		}
	}
	return &out
}

// patchNode is RFC 7386 on YAML mappings: nulls delete, mappings merge, everything else replaces.
func patchNode(target, patch *yaml.Node) *yaml.Node {
	if target == nil || target.Kind != yaml.MappingNode || patch.Kind != yaml.MappingNode {
		return patch
	}
	out := *target
	out.Content = nil
	for i := 0; i+1 < len(target.Content); i += 2 {
		key, value := target.Content[i], target.Content[i+1]
		over := form.Member(patch, key.Value)
		switch {
		case over == nil:
			out.Content = append(out.Content, key, value)
		case over.Tag != "!!null":
			out.Content = append(out.Content, key, patchNode(value, over))
		}
	}
	for i := 0; i+1 < len(patch.Content); i += 2 {
		if key := patch.Content[i]; form.Member(target, key.Value) == nil && patch.Content[i+1].Tag != "!!null" {
			out.Content = append(out.Content, key, patch.Content[i+1])
		}
	}
	return &out
}

// IsVersionBelow reports whether a version comes before another. A version that stops early means
// the last of those that begin so, and the other one the first: 1.17 is not below 1.17.10, nor
// 1.17.10 below 1.17. What is no version is below none.
func IsVersionBelow(version, other string) bool {
	a, b := parseVersion(version), parseVersion(other)
	for i := range min(len(a), len(b)) {
		if c := cmp.Compare(a[i], b[i]); c != 0 {
			return c < 0
		}
	}
	return false
}

// parseVersion returns the numbers of a version, nil for what is none.
func parseVersion(version string) []int {
	var out []int
	for part := range strings.SplitSeq(strings.TrimPrefix(version, "v"), ".") {
		n, err := strconv.Atoi(part)
		if err != nil || n < 0 {
			return nil
		}
		out = append(out, n)
	}
	return out
}

func isVersion(text string) bool { return parseVersion(text) != nil }

// versionField reads the version that a setting has to be below.
func versionField(r *form.Reader, into *string) form.Field {
	return func(n *yaml.Node) {
		if *into = n.Value; n.Kind != yaml.ScalarNode || !isVersion(n.Value) {
			r.Fail(n, "%q is no version", n.Value)
		}
	}
}
