package istio

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// overlay is settings that are written over each other, with the layer that wrote each.
type overlay struct {
	foldRecorder
	paths      map[string]merge.Path
	values     map[string]any
	from       map[string]int
	overwrites []overwritten
}

// overwritten is a setting that was replaced.
type overwritten struct {
	path     merge.Path
	value    any
	from, to int
}

func newOverlay() *overlay {
	return &overlay{paths: map[string]merge.Path{}, values: map[string]any{}, from: map[string]int{}}
}

// setValue writes a setting over the one before.
func (b *overlay) setValue(path merge.Path, value any, from int) {
	name := path.String()
	if old, ok := b.from[name]; ok && old != from {
		b.overwrites = append(b.overwrites, overwritten{path, b.values[name], old, from})
	}
	b.paths[name], b.values[name], b.from[name] = path, value, from
}

// isOn reports whether a setting stands and is true.
func (b *overlay) isOn(path merge.Path) bool { return b.values[path.String()] == true }

// dropValue takes a setting away.
func (b *overlay) dropValue(path merge.Path, from int) {
	name := path.String()
	if old, ok := b.from[name]; ok {
		if old != from {
			b.overwrites = append(b.overwrites, overwritten{path, b.values[name], old, from})
		}
		delete(b.from, name)
		delete(b.values, name)
		delete(b.paths, name)
	}
}

// dropBelow takes away all settings below a path.
func (b *overlay) dropBelow(path merge.Path, from int) {
	for _, name := range slices.Sorted(maps.Keys(b.paths)) {
		if strings.HasPrefix(name, path.String()+".") {
			b.dropValue(b.paths[name], from)
		}
	}
}

// buildUnits returns the settings that are left, and those that lost.
func (b *overlay) buildUnits(layers []*policy.Policy) ([]merge.Unit, []merge.Effect) {
	for _, o := range b.overwrites {
		if layers[o.from].Builtin == "" {
			b.Lose(o.path, o.value, o.from, merge.MoreSpecificWins, o.to)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.paths)) {
		b.Take(b.paths[name], b.values[name], b.from[name])
	}
	return b.Units, b.Effects
}
