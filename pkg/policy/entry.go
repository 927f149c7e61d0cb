package policy

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Entries are settings of a policy for single routes, which count before its others on the ways through these: a list of which at most one
// entry is for a route.
type Entries struct {
	At       []string // of the list
	Settings []string // in an entry
	Choose   EntryOf
}

// EntryOf says which entry of a list is for a route, -1 if none is.
type EntryOf func(entries []model.Body, route model.Ref) int

// TellsRoutes reports whether results of the kind at backends may depend on the route that leads there: policies have settings for single routes,
// routes name policies, or have settings that beat theirs.
func (k *Kind) TellsRoutes() bool {
	return k.Content.Entries != nil || k.NamedByRoutes && k.Reaches(topology.Backend) || slices.ContainsFunc(k.Builtins, func(b Builtin) bool {
		return b.At == topology.Route && (k.Reaches(topology.Backend) || k.Reaches(topology.Port))
	})
}

// For is the position of the policy's entry for a route, -1 if it has none.
func (e *Entries) For(p *Policy, route model.Ref) int {
	var entries []model.Body
	for _, entry := range p.Object.Body.At(e.At...).Items {
		entries = append(entries, entry)
	}
	if len(entries) == 0 {
		return -1
	}
	return e.Choose(entries, route)
}

// Block is the policy's entry for a route as a block over its others, and whether there is one with settings.
func (e *Entries) Block(p *Policy, route model.Ref) (merge.Block, bool) {
	i := e.For(p, route)
	if i < 0 {
		return merge.Block{}, false
	}
	settings := p.Object.Body.At(e.At...).At(strconv.Itoa(i)).At(e.Settings...)
	units, _ := p.Kind.Rules.CutAll(settings.Value())
	return merge.Block{Kind: merge.Overrides, Units: units, Strategy: merge.Strategy{Cut: merge.Rules}}, len(units) > 0
}
