package policy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"go.yaml.in/yaml/v3"
)

const descriptorVersion = "dopolicy.dev/v1alpha1"

// Catalog is the policy kinds and the settings that are described, before any object is looked at.
type Catalog struct {
	kinds    map[model.GroupKind]*Kind
	settings []Setting
	chosen   model.Settings
}

// NewCatalog reads descriptor files. Those of the vendors come first; a user's descriptor replaces a vendor's for the same kind.
// Settings are NAME=VALUE texts. Errors are *DescriptorError or *SettingError.
func NewCatalog(vendors, users []Source, settings []string) (*Catalog, error) {
	b := builder{raw: map[model.GroupKind]rawKind{}, replaced: map[model.GroupKind]rawKind{}, catalog: &Catalog{kinds: map[model.GroupKind]*Kind{}, settings: coreSettings()}}
	for _, src := range vendors {
		if err := b.file(src, ""); err != nil {
			return nil, err
		}
	}
	for _, src := range users {
		if err := b.file(src, "user"); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(b.catalog.settings, func(x, y Setting) int { return strings.Compare(x.Name, y.Name) })
	if err := checkSettings(b.catalog.settings); err != nil {
		return nil, err
	}
	var err error
	if b.catalog.chosen, err = chosen(b.catalog.settings, settings); err != nil {
		return nil, err
	}
	for _, gk := range b.order {
		if err := b.kind(gk); err != nil {
			return nil, err
		}
	}
	return b.catalog, nil
}

// Settings are the switches in force: what was chosen, and the defaults.
func (c *Catalog) Settings() model.Settings { return c.chosen }

// KnownSettings lists the switches, sorted by name.
func (c *Catalog) KnownSettings() []Setting { return slices.Clone(c.settings) }

// Kind is the described kind, or nil.
func (c *Catalog) Kind(gk model.GroupKind) *Kind { return c.kinds[gk] }

// Kinds lists the described kinds, sorted.
func (c *Catalog) Kinds() []*Kind {
	var out []*Kind
	for _, k := range c.kinds {
		out = append(out, k)
	}
	slices.SortFunc(out, func(a, b *Kind) int { return a.GroupKind.Compare(b.GroupKind) })
	return out
}

// rawKind is a PolicyKind document before variants and extension are applied.
type rawKind struct {
	node         *yaml.Node
	file, vendor string
	user         bool
}

type builder struct {
	raw      map[model.GroupKind]rawKind
	replaced map[model.GroupKind]rawKind // built-in descriptors that a user's takes the place of
	order    []model.GroupKind
	catalog  *Catalog
}

// file registers the documents of one descriptor file; vendor is the name for files without a Vendor document.
func (b *builder) file(src Source, vendor string) error {
	docs, err := documents(src)
	if err != nil {
		return err
	}
	r := &reader{file: src.Name}
	user, named := vendor != "", false
	for _, n := range docs {
		if text(n, "kind") != "Vendor" {
			continue
		}
		v := &vendorReader{reader: r}
		v.read(n)
		if named {
			r.fail(n, "a file has one Vendor")
		}
		vendor, named = v.name, true
		b.catalog.settings = append(b.catalog.settings, v.settings...)
	}
	for _, n := range docs {
		kind := text(n, "kind")
		switch {
		case text(n, "apiVersion") != descriptorVersion:
			r.fail(n, "apiVersion must be %s", descriptorVersion)
		case kind == "PolicyKind":
			b.register(r, rawKind{n, src.Name, vendor, user})
		case kind != "Vendor":
			r.fail(n, "kind must be PolicyKind or Vendor, not %q", kind)
		}
	}
	return r.err()
}

func (b *builder) register(r *reader, k rawKind) {
	gk := model.ParseGroupKind(text(k.node, "for"))
	before, again := b.raw[gk]
	switch {
	case gk.Kind == "" || gk.Group == "":
		r.fail(k.node, "field \"for\" must be Kind.group")
		return
	case again && before.user == k.user:
		r.fail(k.node, "%s is described twice, in %s:%d as well", gk, before.file, before.node.Line)
		return
	case !again:
		b.order = append(b.order, gk)
	}
	if again {
		b.replaced[gk] = before
	}
	b.raw[gk] = k
}

// kind applies extension and variants, and reads the descriptor.
func (b *builder) kind(gk model.GroupKind) error {
	raw := b.raw[gk]
	r := &reader{file: raw.file}
	node := raw.node
	if base := text(node, "extends"); base != "" {
		under, ok := b.base(gk, model.ParseGroupKind(base))
		switch {
		case !ok:
			r.fail(member(node, "extends"), "there is no descriptor %q to extend", base)
		case member(under.node, "extends") != nil:
			r.fail(member(node, "extends"), "%s extends another descriptor itself: one level only", base)
		default:
			node = replaceFields(b.varied(r, under), node)
		}
	}
	raw.node = node
	node = b.varied(r, raw)
	k := newKind()
	k.Vendor, k.From = raw.vendor, raw.file
	k.Profile = b.catalog.chosen.Text(raw.vendor + ".profile")
	kr := &kindReader{reader: r, kind: k}
	kr.read(node)
	b.catalog.kinds[gk] = k
	return r.err()
}

// base is what a descriptor extends: another one, or the built-in one that it replaces.
func (b *builder) base(gk, name model.GroupKind) (rawKind, bool) {
	if gk == name {
		under, ok := b.replaced[gk]
		return under, ok
	}
	under, ok := b.raw[name]
	return under, ok
}

// varied is a descriptor with its variants applied, and without them.
func (b *builder) varied(r *reader, k rawKind) *yaml.Node {
	variants := member(k.node, "variants")
	if variants == nil {
		return k.node
	}
	return patchNode(b.variant(r, k.vendor, k.node, variants), dropVariants())
}

// dropVariants is a patch that takes the variants out.
func dropVariants() *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{{Kind: yaml.ScalarNode, Value: "variants"}, {Kind: yaml.ScalarNode, Tag: "!!null"}}}
}

// variant merge-patches the first set whose condition holds onto the descriptor.
func (b *builder) variant(r *reader, vendor string, node, variants *yaml.Node) *yaml.Node {
	out, done := node, false
	r.list(variants, func(v *yaml.Node) {
		var set, is *yaml.Node
		var setting string
		keep := func(into **yaml.Node) field { return func(n *yaml.Node) { *into = n } }
		r.object(v, map[string]field{"set": keep(&set), "when": func(n *yaml.Node) {
			r.object(n, map[string]field{"setting": r.text(&setting), "is": keep(&is), "controller": nil})
		}})
		if setting == "" || is == nil || set == nil {
			r.fail(v, "a variant needs \"when\" with \"setting\" and \"is\", and \"set\"")
			return
		}
		name := vendor + "." + setting
		if !slices.ContainsFunc(b.catalog.settings, func(s Setting) bool { return s.Name == name }) {
			r.fail(v, "there is no setting %q", name)
			return
		}
		value := b.catalog.chosen.Text(name)
		if value == "" {
			value = fmt.Sprint(b.catalog.chosen.Bool(name))
		}
		if !done && value == is.Value {
			out, done = patchNode(out, set), true
		}
	})
	return out
}

// member is the value of a mapping's key, or nil.
func member(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

func text(n *yaml.Node, key string) string {
	if v := member(n, key); v != nil && v.Kind == yaml.ScalarNode {
		return v.Value
	}
	return ""
}

// replaceFields is base with the fields of over in the place of its own.
func replaceFields(base, over *yaml.Node) *yaml.Node {
	out := *over
	out.Content = slices.Clone(over.Content)
	for i := 0; i+1 < len(base.Content); i += 2 {
		if member(over, base.Content[i].Value) == nil {
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
		over := member(patch, key.Value)
		switch {
		case over == nil:
			out.Content = append(out.Content, key, value)
		case over.Tag != "!!null":
			out.Content = append(out.Content, key, patchNode(value, over))
		}
	}
	for i := 0; i+1 < len(patch.Content); i += 2 {
		if key := patch.Content[i]; member(target, key.Value) == nil && patch.Content[i+1].Tag != "!!null" {
			out.Content = append(out.Content, key, patch.Content[i+1])
		}
	}
	return &out
}
