package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// UniqueObjectNames writes one name per object, sorted for reading. A section counts as its object.
func UniqueObjectNames[T any](items []T, ref func(*T) *model.Ref) []string {
	refs := make([]model.Ref, 0, len(items))
	for i := range items {
		if r := ref(&items[i]); r != nil {
			refs = append(refs, r.WithoutSection())
		}
	}
	slices.SortFunc(refs, CompareTargets)
	refs = slices.Compact(refs)
	out := make([]string, len(refs))
	for i, r := range refs {
		r.Kind = strings.ToLower(r.Kind)
		out[i] = r.GroupKind().String() + "/" + r.Name
	}
	return out
}

// ObjectNames writes one name per object as kubectl names objects (kind.group/name), sorted for
// reading.
func ObjectNames(refs []*model.Ref) []string {
	return UniqueObjectNames(refs, func(r **model.Ref) *model.Ref { return *r })
}
