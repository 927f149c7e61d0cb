package descriptor

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// likeKind is an entry of a setting that names policy kinds which are like described ones.
type likeKind struct {
	Group   string `json:"group"`
	Version string `json:"version"` // kinds are known by group and kind alone
	Kind    string `json:"kind"`
	Scope   string `json:"scope"`   // which described kind it is like: a key of the setting's like
	Section string `json:"section"` // the set of settings that it has: the only one of that kind
}

// registerLikeKinds registers the kinds that settings name beside those that are described.
func (b *builder) registerLikeKinds() error {
	for _, s := range b.catalog.settings {
		text := b.catalog.chosenSettings.Text(s.Name)
		if s.Like == nil || text == "" {
			continue
		}
		var entries []likeKind
		if err := json.Unmarshal([]byte(text), &entries); err != nil {
			return &SettingError{fmt.Sprintf("vendor setting %s: %s", s.Name, err),
				`write a JSON list, for example [{"group":"example.com","kind":"ColorPolicy","scope":"` +
					s.likeScopes()[0] + `"}]`}
		}
		for _, e := range entries {
			if err := b.registerLikeKind(s, e); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *builder) registerLikeKind(s Setting, e likeKind) error {
	wrong := func(hint, format string, args ...any) error {
		return &SettingError{fmt.Sprintf("vendor setting %s: ", s.Name) + fmt.Sprintf(format, args...), hint}
	}
	base, ok := s.Like[e.Scope]
	switch {
	case e.Kind == "" || e.Group == "":
		return wrong("give group, kind and scope", "an entry has no kind or no group")
	case !ok:
		return wrong("use one of: "+strings.Join(s.likeScopes(), ", "), "%s has no scope %q", e.Kind, e.Scope)
	}
	raw := b.raw[model.ParseGroupKind(base)]
	gk := model.GroupKind{Group: e.Group, Kind: e.Kind}
	if _, known := b.raw[gk]; known {
		return wrong("leave it out", "%s is described already", gk)
	}
	if names := partNames(raw.node); e.Section != "" && !slices.Contains(names, e.Section) {
		return wrong("use one of: "+strings.Join(names, ", "), "a kind like %s has no section %q", base, e.Section)
	}
	drop := func(key string) *yaml.Node { return &yaml.Node{Kind: yaml.ScalarNode, Value: key} }
	patch := &yaml.Node{Kind: yaml.MappingNode, Content: []*yaml.Node{
		drop("for"), {Kind: yaml.ScalarNode, Tag: "!!str", Value: gk.String()},
		drop("plural"), {Kind: yaml.ScalarNode, Tag: "!!null"}, drop("short"), {Kind: yaml.ScalarNode,
			Tag: "!!null"}, drop("publishable"), {Kind: yaml.ScalarNode, Tag: "!!null"}}}
	raw.node = patchNode(raw.node, patch)
	b.raw[gk] = raw
	b.order = append(b.order, gk)
	return nil
}

// partNames returns the names of the parts that a descriptor gives.
func partNames(n *yaml.Node) []string {
	var out []string
	if parts := form.Member(n, "parts"); parts != nil {
		for _, p := range parts.Content {
			out = append(out, cmp.Or(form.TextOf(p, "as"), form.TextOf(p, "name")))
		}
	}
	return out
}

// likeScopes returns the words that entries of the setting may give as their scope, sorted.
func (s Setting) likeScopes() []string {
	var out []string
	for word := range s.Like {
		out = append(out, word)
	}
	slices.Sort(out)
	return out
}
