package policy

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Entries are settings of a policy for single routes, which count before its others on the ways
// through these: a list of which at most one entry is for a route.
type Entries struct {
	At       []string // of the list
	Settings []string // in an entry
	Choose   EntryFunc
}

// EntryFunc says which entry of a list is for a route, -1 if none is.
type EntryFunc func(entries []model.Body, route model.Ref) int

// DependsOnRoute reports whether results of the kind at backends may depend on the route that leads
// there: policies have settings for single routes, routes name policies, or have settings that beat
// theirs.
func (k *Kind) DependsOnRoute() bool {
	return k.Content.Entries != nil || k.NamedByRoutes && k.HasResultsAt(topology.Backend) ||
		slices.ContainsFunc(k.Builtins, func(b Builtin) bool {
			return b.Role == topology.Route && (k.HasResultsAt(topology.Backend) || k.HasResultsAt(topology.Port))
		})
}

// IndexFor returns the position of the policy's entry for a route, -1 if it has none.
func (e *Entries) IndexFor(p *Policy, route model.Ref) int {
	var entries []model.Body
	for _, entry := range p.Object.Body.At(e.At...).Items {
		entries = append(entries, entry)
	}
	if len(entries) == 0 {
		return -1
	}
	return e.Choose(entries, route)
}

// BlockFor returns the policy's entry for a route as a block over its others, and whether there is
// one with settings.
func (e *Entries) BlockFor(p *Policy, route model.Ref) (merge.Block, bool) {
	i := e.IndexFor(p, route)
	if i < 0 {
		return merge.Block{}, false
	}
	settings := p.Object.Body.At(e.At...).At(strconv.Itoa(i)).At(e.Settings...)
	units, _ := p.Kind.Rules.CutSettings(settings.Value())
	return merge.Block{Kind: merge.Overrides, Units: units, Strategy: merge.Strategy{Cut: merge.Rules}}, len(units) > 0
}
