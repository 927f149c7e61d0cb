package policy

import (
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// foreignWords are other projects' fields for the strategy. They are no settings, and what they ask for is not known.
func foreignWords() []string { return []string{"mergeType", "granularity"} }

// mergeFields lists the fields of the policy, and of its blocks, by which other kinds merge or order their policies; sorted.
func (d *decoder) mergeFields() [][]string {
	var out [][]string
	look := func(fields model.Body, block merge.BlockKind, at []string) {
		for key, value := range fields.Fields {
			if !value.IsNull() && d.mergesBy(key, value, block) {
				out = append(out, append(slices.Clone(at), key))
			}
		}
	}
	look(d.spec, merge.Bare, d.kind.Content.At)
	for _, b := range []merge.BlockKind{merge.Defaults, merge.Overrides} {
		if at := d.kind.Content.Blocks[b]; at != nil {
			look(d.body.At(at...), b, at)
		}
	}
	slices.SortFunc(out, slices.Compare)
	return out
}

// mergesBy reports whether a field says how policies are merged, in a way that GEP-713 does not define.
func (d *decoder) mergesBy(key string, value model.Body, block merge.BlockKind) bool {
	c := &d.kind.Content
	bare := block == merge.Bare
	switch key {
	case "strategy":
		place := Place{Block: !bare, Path: []string{key}}
		read := slices.ContainsFunc(d.kind.Strategy.Read, func(p Place) bool { return p.Block == place.Block && slices.Equal(p.Path, place.Path) })
		_, known := d.kind.Strategy.Values[value.Text()]
		return !read || !known
	case "default", "override":
		at := append(slices.Clone(c.At), key)
		read := slices.Equal(at, c.Blocks[merge.Defaults]) || slices.Equal(at, c.Blocks[merge.Overrides])
		return bare && (key == "override" || value.IsObject()) && !(read && value.IsObject())
	case "defaults", "overrides": // of a kind that is labelled Direct and has no blocks
		return bare && value.IsObject() && c.Blocks == nil
	case "action", "granularity":
		return true
	case c.Condition:
		return value.IsText()
	}
	return bare && slices.Contains(c.Unset, key) || mergeWord(key)
}

// mergesOtherwise reports whether the API of the kind has fields by which policies are merged in a way that GEP-713 does not define. What its
// schema fills in does not show in manifests.
func (g *generic) mergesOtherwise() bool {
	for _, under := range [][]string{{"properties"}, {"properties", "defaults", "properties"}, {"properties", "overrides", "properties"}} {
		fields, _ := model.Get(g.crd.spec, under...).(map[string]any)
		for name, schema := range fields {
			if name == "strategy" && !g.understood(schema) || name == "action" || name == "granularity" || name == "override" || mergeWord(name) {
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

// mergeWord reports whether a name speaks of merging or of precedence, as mergeType, inheritanceMode and allowOverrides do.
func mergeWord(name string) bool {
	words := wordsOf(name)
	has := func(stems ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(w, stem) })
		})
	}
	if has("merg", "inherit", "preced", "priorit", "conflict") {
		return true
	}
	first, last := words[0], words[len(words)-1]
	return len(words) > 1 && has("overrid") &&
		(slices.Contains([]string{"allow", "deny", "disable", "enable", "forbid", "prevent"}, first) || slices.Contains([]string{"behavior", "mode", "policy", "strategy", "type"}, last)) ||
		first == "overridable"
}

// wordsOf splits a name at its capitals, in lower case; there is at least one word.
func wordsOf(name string) []string {
	var out []string
	start := 0
	for i, r := range name {
		if i > start && unicode.IsUpper(r) {
			out = append(out, strings.ToLower(name[start:i]))
			start = i
		}
	}
	return append(out, strings.ToLower(name[start:]))
}

// referenceFields are where references to targets stand in a policy without a descriptor.
func referenceFields() []string { return []string{"targetRef", "targetRefs", "targetSelectors"} }

// read reads one reference. What cannot be read as one may mean a target all the same to a kind without a descriptor.
func (d *decoder) read(form RefForm, raw model.Body, at []string) {
	known := len(d.policy.Refs)
	d.ref(form, raw, at)
	if !d.kind.Generic() {
		return
	}
	if len(d.policy.Refs) == known || raw.Field("group").IsNull() && !coreTarget(raw.Text("kind")) || strings.Contains(raw.Text("kind")+raw.Text("name"), "*") {
		d.stray(at)
		return
	}
	ref := &d.policy.Refs[known]
	for key, value := range raw.Fields {
		if !value.IsNull() && !slices.Contains(form.keys(), key) {
			ref.Doubts = append(ref.Doubts, d.doubt(append(slices.Clone(at), key), "what it asks for"))
		}
	}
	slices.SortFunc(ref.Doubts, func(a, b Doubt) int { return strings.Compare(a.Field, b.Field) })
}

// keys are the fields of a reference that are understood.
func (f RefForm) keys() []string {
	if f.Selector {
		return []string{"group", "kind", "namespace", "sectionName", "matchLabels", "matchExpressions"}
	}
	return []string{"group", "kind", "namespace", "name", "sectionName"}
}

// coreTarget reports whether a kind may be meant to be one of Kubernetes itself where a reference names no group.
func coreTarget(kind string) bool {
	return slices.Contains([]string{"ConfigMap", "Namespace", "Node", "Pod", "Secret", "Service", "ServiceAccount"}, kind)
}

// stray notes a field that may refer to targets and is not understood.
func (d *decoder) stray(at []string) {
	if d.kind.Generic() {
		d.policy.Astray = append(d.policy.Astray, fieldPath(at))
		d.abroad = d.abroad || speaksOfNamespaces(d.body.At(at...))
	}
}

// speaksOfNamespaces reports whether a value has a field about namespaces.
func speaksOfNamespaces(value model.Body) bool {
	for key, v := range value.Fields {
		if strings.HasPrefix(strings.ToLower(key), "namespace") && !v.IsNull() || speaksOfNamespaces(v) {
			return true
		}
	}
	for _, v := range value.Items {
		if speaksOfNamespaces(v) {
			return true
		}
	}
	return false
}

// strays notes what looks like a reference to targets and stands where none is read.
func (d *decoder) strays(at []string, value model.Body) {
	root, name := d.kind.Content.At, at[len(at)-1]
	top := len(at) == len(root)+1 && slices.Equal(at[:len(root)], root)
	switch {
	case top && slices.Contains(referenceFields(), name):
	case refersByName(name, value, top), attachable(value):
		d.stray(at)
	case value.IsObject():
		for key, v := range value.Fields {
			d.strays(append(slices.Clip(at), key), v)
		}
	case value.IsList():
		for i, v := range value.Items {
			d.strays(append(slices.Clip(at), strconv.Itoa(i)), v)
		}
	}
}

// refersByName reports whether a field is called like a reference to targets. At the top of the spec less telling names count too.
func refersByName(name string, value model.Body, top bool) bool {
	if value.IsNull() {
		return false
	}
	name = strings.TrimSuffix(strings.ToLower(name), "s")
	ends := func(word string) bool { return strings.HasSuffix(name, word) }
	if slices.ContainsFunc([]string{"targetref", "targetreference", "targetselector", "parentref", "parentreference", "gatewayref", "routeref"}, ends) {
		return true
	}
	return top && (ends("selector") && (value.IsObject() || value.IsList()) || slices.Contains([]string{"target", "attachto", "appliesto", "appliedto"}, name) && identifies(value))
}

// identifies reports whether a value, or an entry of it, has the fields by which objects are found.
func identifies(value model.Body) bool {
	for _, entry := range value.Items {
		if identifies(entry) {
			return true
		}
	}
	return slices.ContainsFunc([]string{"kind", "name", "matchLabels", "matchExpressions"}, value.Has)
}

// attachable reports whether a value names a Gateway, a route or the like: objects that policies are attached to and that are hardly ever a
// setting.
func attachable(value model.Body) bool {
	gk := model.GroupKind{Group: value.Text("group"), Kind: value.Text("kind")}
	if gk.Group == "" {
		gk.Group = defaultGroup(gk.Kind)
	}
	return gk.Group == gatewayGroup && value.Text("name") != ""
}

// fieldPath writes the path of a field, entries of lists in brackets.
func fieldPath(at []string) string {
	var b strings.Builder
	for i, part := range at {
		switch _, err := strconv.Atoi(part); {
		case err == nil:
			b.WriteString("[" + part + "]")
		case i > 0:
			b.WriteString("." + part)
		default:
			b.WriteString(part)
		}
	}
	return b.String()
}
