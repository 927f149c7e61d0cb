package decode

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// foreignStrategyFields returns other projects' fields for the strategy. They are no settings, and
// what they ask for is not known.
func foreignStrategyFields() []string { return []string{"mergeType", "granularity"} }

// mergeFields lists the fields of the policy, and of its blocks, by which other kinds merge or
// order their policies; sorted.
func (d *guessReader) mergeFields() [][]string {
	var out [][]string
	look := func(fields model.Body, block merge.BlockKind, at []string) {
		for key, value := range fields.Fields {
			if !value.IsNull() && d.isMergeField(key, value, block) {
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

// isMergeField reports whether a field says how policies are merged, in a way that GEP-713 does not
// define.
func (d *guessReader) isMergeField(key string, value model.Body, block merge.BlockKind) bool {
	c := &d.kind.Content
	bare := block == merge.Bare
	switch key {
	case "strategy":
		place := policy.StrategyPlace{InBlock: !bare, Path: []string{key}}
		read := slices.ContainsFunc(d.kind.Strategy.Read, func(p policy.StrategyPlace) bool {
			return p.InBlock == place.InBlock && slices.Equal(p.Path, place.Path)
		})
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
	return bare && slices.Contains(c.Unset, key) || policy.IsMergeWord(key)
}

// addUnknownRef notes a field that may refer to targets and is not understood.
func (d *guessReader) addUnknownRef(at []string) {
	if d.kind.IsGeneric() {
		d.policy.UnknownRefFields = append(d.policy.UnknownRefFields, model.FormatFieldPath(at))
		d.crossesNamespaces = d.crossesNamespaces || hasNamespaceField(d.body.At(at...))
	}
}

// hasNamespaceField reports whether a value has a field about namespaces.
func hasNamespaceField(value model.Body) bool {
	for key, v := range value.Fields {
		if strings.HasPrefix(strings.ToLower(key), "namespace") && !v.IsNull() || hasNamespaceField(v) {
			return true
		}
	}
	for _, v := range value.Items {
		if hasNamespaceField(v) {
			return true
		}
	}
	return false
}

// findUnknownRefs notes what looks like a reference to targets and stands where none is read.
func (d *guessReader) findUnknownRefs(at []string, value model.Body) {
	root, name := d.kind.Content.At, at[len(at)-1]
	top := len(at) == len(root)+1 && slices.Equal(at[:len(root)], root)
	switch {
	case slices.ContainsFunc(d.kind.Refs, func(f policy.RefForm) bool { return slices.Equal(f.At, at) }):
	case isRefName(name, value, top), isAttachable(value):
		d.addUnknownRef(at)
	case value.IsObject():
		for key, v := range value.Fields {
			d.findUnknownRefs(append(slices.Clip(at), key), v)
		}
	case value.IsList():
		for i, v := range value.Items {
			d.findUnknownRefs(append(slices.Clip(at), strconv.Itoa(i)), v)
		}
	}
}

// isRefName reports whether a field is called like a reference to targets. At the top of the spec
// less clear names count too.
func isRefName(name string, value model.Body, top bool) bool {
	if value.IsNull() {
		return false
	}
	name = strings.TrimSuffix(strings.ToLower(name), "s")
	ends := func(word string) bool { return strings.HasSuffix(name, word) }
	if slices.ContainsFunc([]string{"targetref", "targetreference", "targetselector", "parentref", "parentreference",
		"gatewayref", "routeref"}, ends) {
		return true
	}
	return top && (ends("selector") && (value.IsObject() || value.IsList()) ||
		slices.Contains([]string{"target", "attachto", "appliesto", "appliedto"}, name) && hasIdentifyingField(value))
}

// hasIdentifyingField reports whether a value, or an entry of it, has the fields by which objects
// are found.
func hasIdentifyingField(value model.Body) bool {
	for _, entry := range value.Items {
		if hasIdentifyingField(entry) {
			return true
		}
	}
	return slices.ContainsFunc([]string{"kind", "name", "matchLabels", "matchExpressions"}, value.Has)
}

// isAttachable reports whether a value names a Gateway, a route or the like: objects that policies
// are attached to and that are hardly ever a setting.
func isAttachable(value model.Body) bool {
	gk := model.GroupKind{Group: value.Text("group"), Kind: value.Text("kind")}
	if gk.Group == "" {
		gk.Group = policy.DefaultGroup(gk.Kind)
	}
	return gk.Group == policy.GatewayGroup && value.Text("name") != ""
}
