package descriptor

import (
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Functions are what descriptors may name in {func: NAME}, and what vendors tell of graphs (Links). Those that write statuses or judge requests
// are called elsewhere: here only their names count.
type Functions struct {
	Auto             map[string]Auto
	Advice           map[string]policy.Advice
	Path             map[string]policy.Step
	Checks           map[string]policy.Check
	Sites            map[string]policy.SiteCheck // further ones that "checks" may name
	Lints            map[string]policy.Lint
	Voids            map[string]policy.Void
	Discovers        map[string]policy.Discovers
	Compare          map[string]policy.Comparator
	Plans            map[string]func(model.Settings) merge.PlanFunc
	Strategies       map[string]policy.StrategyOf
	Normalize        map[string]policy.Normalizer
	Attach           map[string]policy.Attacher
	Search           map[string]policy.Search
	Readers          map[string]policy.BlockReader
	Builtins         map[string]policy.BuiltinOf
	Entries          map[string]policy.EntryOf
	Writers, Markers []string
	Evaluators       []string
	Gates            []string // the names of those that complete gates
	Links            []topology.Linker
	Generate         []Generator
	ScopeFunctions
}

// Add adds those of one vendor; the names of its writers and markers as well.
func (f *Functions) Add(o Functions) {
	add(&f.Auto, o.Auto)
	add(&f.Advice, o.Advice)
	add(&f.Path, o.Path)
	add(&f.Checks, o.Checks)
	add(&f.Sites, o.Sites)
	add(&f.Lints, o.Lints)
	add(&f.Voids, o.Voids)
	add(&f.Discovers, o.Discovers)
	add(&f.Compare, o.Compare)
	add(&f.Plans, o.Plans)
	add(&f.Strategies, o.Strategies)
	add(&f.Normalize, o.Normalize)
	add(&f.Attach, o.Attach)
	add(&f.Search, o.Search)
	add(&f.Readers, o.Readers)
	add(&f.Builtins, o.Builtins)
	add(&f.Entries, o.Entries)
	add(&f.Labels, o.Labels)
	add(&f.Legs, o.Legs)
	add(&f.Folds, o.Folds)
	add(&f.Splits, o.Splits)
	add(&f.Typed, o.Typed)
	add(&f.Situations, o.Situations)
	f.Writers, f.Markers = append(f.Writers, o.Writers...), append(f.Markers, o.Markers...)
	f.Evaluators = append(f.Evaluators, o.Evaluators...)
	f.Gates = append(f.Gates, o.Gates...)
	f.Links = append(f.Links, o.Links...)
	f.Generate = append(f.Generate, o.Generate...)
}

// add copies named functions into a map, which is made for the first.
func add[F any](into *map[string]F, more map[string]F) {
	if *into == nil && len(more) > 0 {
		*into = map[string]F{}
	}
	maps.Copy(*into, more)
}

// ScopeFunctions are what labels, scopes and parts may name.
type ScopeFunctions struct {
	Labels map[string]policy.Labeler
	Legs   map[string]policy.LegMaker
	Folds  map[string]merge.PlanFunc
	Splits map[string]policy.Splitter
	Typed  map[string]policy.PartNormalizer

	Situations map[string]policy.Situator
}
