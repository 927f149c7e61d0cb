package descriptor

import (
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

// Functions are what descriptors may name in {func: NAME}, and what vendors tell graphs (Links).
// Those that write statuses or judge requests are called elsewhere: here only their names count.
type Functions struct {
	Reading
	Attaching
	Merging
	Judging

	Writers, Markers []string // of statuses
	Evaluators       []string // of requests
	Gates            []string // that complete gates
}

// Reading has the functions that turn objects into policies.
type Reading struct {
	Generate  []Generator                      // add the objects that the vendor's controller makes; always called
	Auto      map[string]AutoFunc              // "auto" of settings: the value for one kind
	Labels    map[string]policy.Labeler        // "labels": the labels that count
	Normalize map[string]policy.Normalizer     // "normalize": the body as the controller sees it
	Readers   map[string]policy.BlockReader    // "reader" of content: blocks in forms of the vendor's own
	Entries   map[string]policy.EntryFunc      // "entries" of content: the entry for a route
	Typed     map[string]policy.PartNormalizer // "normalize" of parts: their settings as the controller sees them
	Builtins  map[string]policy.BuiltinFunc    // "builtins": settings that no policy wrote
}

// Attaching has the functions that tell where policies hold.
type Attaching struct {
	Links     []build.Linker                       // tell what graphs have of the vendor's; always called
	Attach    map[string]policy.Attacher           // "refs": the targets of a policy
	Search    map[string]policy.Search             // "refs": the same, prepared once for an input
	Legs      map[string]policy.PointSearch        // "legs" of scopes: the nodes where a policy or a part holds
	Discovers map[string]policy.NamespaceDiscovery // "discovers": the namespaces that the controller sees
	Path      map[string]policy.StepFunc           // "paths": whether the controller follows a step of a path
	Steps     map[string]policy.StepMaker          // "paths": the same, prepared once for an input
	Contests  map[string]policy.ContestMaker       // "contest": which policies meet at a target
}

// Merging has the functions that make one result of the policies of a path.
type Merging struct {
	Compare    map[string]policy.Comparator                   // "compare": the order of two policies
	Strategies map[string]policy.StrategyParser               // "strategy" of plans: what a word stands for
	Plans      map[string]func(model.Settings) merge.PlanFunc // "resolve": folds in the place of a plan
	Folds      map[string]merge.PlanFunc                      // "fold" of scopes: folds in the place of a scope's plan
	Splits     map[string]policy.Splitter                     // "split" of scopes: results by names
	Situations map[string]policy.SituationMaker               // "situation" of scopes: folds that depend on the target
}

// Judging has the functions that say what is wrong with policies.
type Judging struct {
	Checks map[string]policy.Check      // "checks": why a policy is in error
	Sites  map[string]policy.CheckMaker // "checks": the same, by the targets that were found
	Advice map[string]policy.AdviceFunc // "advice": what to do about what the API refuses
	Lints  map[string]policy.Lint       // "lints": findings about the policies of a kind
	Voids  map[string]policy.VoidFunc   // "voids": why nothing is in force at a node
}

// Add adds those of one vendor; the names of its writers and markers as well.
func (f *Functions) Add(o Functions) {
	f.Reading.add(o.Reading)
	f.Attaching.add(o.Attaching)
	f.Merging.add(o.Merging)
	f.Judging.add(o.Judging)
	f.Writers, f.Markers = append(f.Writers, o.Writers...), append(f.Markers, o.Markers...)
	f.Evaluators = append(f.Evaluators, o.Evaluators...)
	f.Gates = append(f.Gates, o.Gates...)
}

func (f *Reading) add(o Reading) {
	f.Generate = append(f.Generate, o.Generate...)
	addFunctions(&f.Auto, o.Auto)
	addFunctions(&f.Labels, o.Labels)
	addFunctions(&f.Normalize, o.Normalize)
	addFunctions(&f.Readers, o.Readers)
	addFunctions(&f.Entries, o.Entries)
	addFunctions(&f.Typed, o.Typed)
	addFunctions(&f.Builtins, o.Builtins)
}

func (f *Attaching) add(o Attaching) {
	f.Links = append(f.Links, o.Links...)
	addFunctions(&f.Attach, o.Attach)
	addFunctions(&f.Search, o.Search)
	addFunctions(&f.Legs, o.Legs)
	addFunctions(&f.Discovers, o.Discovers)
	addFunctions(&f.Path, o.Path)
	addFunctions(&f.Steps, o.Steps)
	addFunctions(&f.Contests, o.Contests)
}

func (f *Merging) add(o Merging) {
	addFunctions(&f.Compare, o.Compare)
	addFunctions(&f.Strategies, o.Strategies)
	addFunctions(&f.Plans, o.Plans)
	addFunctions(&f.Folds, o.Folds)
	addFunctions(&f.Splits, o.Splits)
	addFunctions(&f.Situations, o.Situations)
}

func (f *Judging) add(o Judging) {
	addFunctions(&f.Checks, o.Checks)
	addFunctions(&f.Sites, o.Sites)
	addFunctions(&f.Advice, o.Advice)
	addFunctions(&f.Lints, o.Lints)
	addFunctions(&f.Voids, o.Voids)
}

// addFunctions copies named functions into a map, which is made for the first.
func addFunctions[F any](into *map[string]F, more map[string]F) {
	if *into == nil && len(more) > 0 {
		*into = map[string]F{}
	}
	maps.Copy(*into, more)
}
