package istio

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// board is settings that are written over each other, with who wrote what stands.
type board struct {
	merger
	paths  map[string]merge.Path
	values map[string]any
	from   map[string]int
	over   []overwritten
}

// overwritten is a setting that was replaced.
type overwritten struct {
	path     merge.Path
	value    any
	from, to int
}

func newBoard() *board {
	return &board{paths: map[string]merge.Path{}, values: map[string]any{}, from: map[string]int{}}
}

// set writes a setting over what stands there.
func (b *board) set(path merge.Path, value any, from int) {
	name := path.String()
	if old, ok := b.from[name]; ok && old != from {
		b.over = append(b.over, overwritten{path, b.values[name], old, from})
	}
	b.paths[name], b.values[name], b.from[name] = path, value, from
}

// isOn reports whether a setting stands and is true.
func (b *board) isOn(path merge.Path) bool { return b.values[path.String()] == true }

// drop takes a setting away.
func (b *board) drop(path merge.Path, from int) {
	name := path.String()
	if old, ok := b.from[name]; ok {
		if old != from {
			b.over = append(b.over, overwritten{path, b.values[name], old, from})
		}
		delete(b.from, name)
		delete(b.values, name)
		delete(b.paths, name)
	}
}

// dropBelow takes away all settings below a path.
func (b *board) dropBelow(path merge.Path, from int) {
	for _, name := range slices.Sorted(maps.Keys(b.paths)) {
		if strings.HasPrefix(name, path.String()+".") {
			b.drop(b.paths[name], from)
		}
	}
}

// result is what stands in the end, and what lost.
func (b *board) result(layers []*policy.Policy) ([]merge.Unit, []merge.Effect) {
	for _, o := range b.over {
		if layers[o.from].Builtin == "" {
			b.Lose(o.path, o.value, o.from, merge.MoreSpecificWins, o.to)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(b.paths)) {
		b.Take(b.paths[name], b.values[name], b.from[name])
	}
	return b.Units, b.Effects
}
