package descriptor

import (
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Functions are what descriptors may name in {func: NAME}, and what vendors tell graphs (Links).
// Those that write statuses or judge requests are called elsewhere: here only their names count.
type Functions struct {
	Auto             map[string]AutoFunc
	Advice           map[string]policy.AdviceFunc
	Steps            map[string]policy.StepFunc
	Checks           map[string]policy.Check
	CheckMakers      map[string]policy.CheckMaker // further ones that "checks" may name
	Lints            map[string]policy.Lint
	Voids            map[string]policy.VoidFunc
	Discoveries      map[string]policy.NamespaceDiscovery
	Compare          map[string]policy.Comparator
	Plans            map[string]func(model.Settings) merge.PlanFunc
	Strategies       map[string]policy.StrategyParser
	Combine          map[string]func(model.Settings) merge.CombineFunc
	Normalize        map[string]policy.Normalizer
	Attach           map[string]policy.Attacher
	Search           map[string]policy.Search
	Builtins         map[string]policy.BuiltinFunc
	Entries          map[string]policy.EntryFunc
	Writers, Markers []string
	Evaluators       []string
	Gates            []string // the names of those that complete gates
	Links            []topology.Linker
	Generate         []Generator
	ScopeFunctions
}

// Add adds those of one vendor; the names of its writers and markers as well.
func (f *Functions) Add(o Functions) {
	addFunctions(&f.Auto, o.Auto)
	addFunctions(&f.Advice, o.Advice)
	addFunctions(&f.Steps, o.Steps)
	addFunctions(&f.Checks, o.Checks)
	addFunctions(&f.CheckMakers, o.CheckMakers)
	addFunctions(&f.Lints, o.Lints)
	addFunctions(&f.Voids, o.Voids)
	addFunctions(&f.Discoveries, o.Discoveries)
	addFunctions(&f.Compare, o.Compare)
	addFunctions(&f.Plans, o.Plans)
	addFunctions(&f.Strategies, o.Strategies)
	addFunctions(&f.Combine, o.Combine)
	addFunctions(&f.Normalize, o.Normalize)
	addFunctions(&f.Attach, o.Attach)
	addFunctions(&f.Search, o.Search)
	addFunctions(&f.Builtins, o.Builtins)
	addFunctions(&f.Entries, o.Entries)
	addFunctions(&f.Labels, o.Labels)
	addFunctions(&f.Points, o.Points)
	addFunctions(&f.Folds, o.Folds)
	addFunctions(&f.Splits, o.Splits)
	addFunctions(&f.PartNormalizers, o.PartNormalizers)
	addFunctions(&f.Situations, o.Situations)
	f.Writers, f.Markers = append(f.Writers, o.Writers...), append(f.Markers, o.Markers...)
	f.Evaluators = append(f.Evaluators, o.Evaluators...)
	f.Gates = append(f.Gates, o.Gates...)
	f.Links = append(f.Links, o.Links...)
	f.Generate = append(f.Generate, o.Generate...)
}

// addFunctions copies named functions into a map, which is made for the first.
func addFunctions[F any](into *map[string]F, more map[string]F) {
	if *into == nil && len(more) > 0 {
		*into = map[string]F{}
	}
	maps.Copy(*into, more)
}

// ScopeFunctions are what labels, scopes and parts may name.
type ScopeFunctions struct {
	Labels          map[string]policy.Labeler
	Points          map[string]policy.PointSearch
	Folds           map[string]merge.PlanFunc
	Splits          map[string]policy.Splitter
	PartNormalizers map[string]policy.PartNormalizer

	Situations map[string]policy.SituationMaker
}
