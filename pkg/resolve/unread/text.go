package unread

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// isAnyTargetField reports whether a field is a reference to a target, of whatever kind. Others
// that are called like it, as scaleTargetRef, are about other things.
func isAnyTargetField(field string) bool {
	return strings.HasPrefix(strings.ToLower(field), "targetref")
}

// mentionByName reads a reference to a target without a kind, which the API of its own kind
// supplies: whatever has the name may be meant.
func (f *unreadFinder) mentionByName(o *model.Object, group, namespace, name, field string) (mention, bool) {
	m := mention{field: field, name: name}
	for _, gk := range gatewayapi.Kinds() {
		if group == "" || group == gk.Group {
			m.nodes = append(m.nodes, f.graph.Lookup(model.Ref{Group: gk.Group, Kind: gk.Kind,
				Namespace: cmp.Or(namespace, o.Ref.Namespace), Name: name})...)
		}
	}
	return m, len(m.nodes) > 0
}

// readTextMention reads a reference that is a text, [KIND/]NAME or NAMESPACE/NAME, in a field that
// is called after its kind or after targets.
func (f *unreadFinder) readTextMention(o *model.Object, text, field string) (mention, bool) {
	last := field[strings.LastIndexByte(field, '.')+1:]
	before, name, two := strings.Cut(text, "/")
	if !two {
		before, name = "", text
	}
	gk, ok := f.kinds[reference.KindOfField(last)]
	if kind, known := f.kinds[strings.ToLower(before)]; known && (ok && kind == gk || isAnyTargetField(last)) {
		gk, ok, before = kind, true, ""
	}
	switch {
	case name == "" || strings.Contains(name, "/"):
		return mention{}, false
	case !ok && isAnyTargetField(last):
		return f.mentionByName(o, "", before, name, field)
	case !ok:
		return mention{}, false
	}
	to := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: cmp.Or(before, o.Ref.Namespace), Name: name}
	m := mention{field: field, name: to.String(), nodes: f.graph.Lookup(to)}
	return m, len(m.nodes) > 0
}

// isTextReference reports whether a text in a field may be a reference.
func isTextReference(field string) bool {
	return isAnyTargetField(field) || slices.ContainsFunc(gatewayapi.Kinds(), func(gk model.GroupKind) bool {
		return gk.Kind != "Namespace" && strings.EqualFold(gk.Kind, reference.KindOfField(field))
	})
}
