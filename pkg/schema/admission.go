package schema

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Options say by which definitions objects are read, and how strictly.
type Options struct {
	Off         bool                // objects are read as they are written
	Lenient     bool                // fields that the schema does not have are dropped, as for older writers
	Definitions []*model.Object     // CustomResourceDefinitions beside those of the input
	Folders     []SchemaFolder      // of JSON schemas
	Catalogue   *Catalogue          // of the definitions that come with the program; nil: none do
	Releases    map[string]*Release // of vendors, that are chosen; others: the newest
	Stored      bool                // objects that a server has stored are judged too
	Steps       int                 // that judging may take; 0: DefaultSteps
}

// Treatment is what is special about a kind.
type Treatment struct {
	AsWritten bool // no defaults are filled in
	// The kind is written in several dialects, of which the API server knows one: what it says is
	// reported as the operator's, unless the input defines the kind.
	HasDialects bool
	// Dialect is the channel of the catalogue with the schema of the dialect at hand, by which
	// objects are read: what the API server says is only reported. "": it is the one that the API
	// server knows.
	Dialect string
	Advice  func(*model.Object) string
}

// Admission reads objects as the API server would hand them on: what it refuses is not there, what
// it drops is gone, and its defaults are filled in. It remembers the objects that it was shown, and
// may be used by several goroutines.
type Admission struct {
	options Options
	lock    sync.Mutex
	seen    map[*model.Object]*outcome

	fromJSON map[string]*definition // of folders, by file
}

// outcome is what became of one object.
type outcome struct {
	by       *version      // that it was judged by
	object   *model.Object // as it is kept; nil: it is refused
	problems []model.Problem
}

// NewAdmission returns an admission by definitions.
func NewAdmission(o Options) *Admission {
	return &Admission{options: o, seen: map[*model.Object]*outcome{}, fromJSON: map[string]*definition{}}
}

// Admit returns the input as the API server would hand it on. What was read from a cluster stays as
// it is: its server has judged it. So does everything else that a server has stored, and an input
// without values. Kinds that are not among the treatments have nothing special.
func (a *Admission) Admit(in *model.Snapshot, treatments map[model.GroupKind]Treatment) *model.Snapshot {
	j := a.newJudging(in, treatments)
	if len(j.objects) == 0 {
		return in
	}
	j.judgeAll()
	objects := make([]*model.Object, 0, len(in.Objects))
	problems := slices.Clone(in.Problems)
	var refused []*model.Object
	for _, o := range in.Objects {
		out := j.outcomes[o]
		if out == nil {
			objects = append(objects, o)
			continue
		}
		problems = append(problems, out.problems...)
		if out.object == nil {
			refused = append(refused, o)
		} else {
			objects = append(objects, out.object)
		}
	}
	return in.WithObjects(objects, append(problems, j.problems...), refused)
}

// judging is the judgement of the objects of one input.
type judging struct {
	*Admission
	treatments map[model.GroupKind]Treatment
	objects    []*model.Object            // that are judged, in their order
	versions   map[*model.Object]*version // by which
	reported   map[*model.Object]*version // by which the API server would judge objects of another dialect
	outcomes   map[*model.Object]*outcome
	problems   []model.Problem
	ruleBudget atomic.Int64 // steps that rules of the input may still take; below 0: they took more
}

// newJudging finds the objects of an input that are judged, and by what.
func (a *Admission) newJudging(in *model.Snapshot, treatments map[model.GroupKind]Treatment) *judging {
	j := &judging{Admission: a, treatments: treatments, versions: map[*model.Object]*version{},
		reported: map[*model.Object]*version{}, outcomes: map[*model.Object]*outcome{}}
	if in.HasNoValues() {
		return j
	}
	defined := definitionsByKind(in.Definitions(), a.options.Definitions)
	for _, gk := range in.Kinds() {
		if a.options.Off && !treatments[gk].HasDialects {
			continue
		}
		found := map[string]*definition{} // by version: most objects of a kind have one
		for _, o := range in.OfKind(gk) {
			if isStored(o) && !a.options.Stored || isPatch(o) {
				continue
			}
			d, known := found[o.Version]
			if !known {
				d = a.findDefinition(defined, gk, o.Version)
				found[o.Version] = d
			}
			if d == nil || a.options.Off && d.versions[o.Version] == nil ||
				d.release != nil && d.versions[o.Version] == nil && hasAmbiguousDefinition(in, gk) {
				continue
			}
			j.addObject(o, d)
		}
	}
	return j
}

// hasAmbiguousDefinition reports whether the input has several versions of the definition of a kind,
// of which none is used: each may serve what no release does. Its name has the plural of the kind,
// which begins as the kind does.
func hasAmbiguousDefinition(in *model.Snapshot, gk model.GroupKind) bool {
	for ref := range in.Ambiguous {
		begin := strings.ToLower(gk.Kind[:max(len(gk.Kind)-1, 0)])
		if ref.Kind == "CustomResourceDefinition" && strings.HasPrefix(ref.Name, begin) &&
			strings.HasSuffix(ref.Name, "."+gk.Group) {
			return true
		}
	}
	return false
}

// addObject adds an object that goes by a definition.
func (j *judging) addObject(o *model.Object, d *definition) {
	j.objects = append(j.objects, o)
	v := d.versions[o.Version]
	switch {
	case v == nil && d.release != nil && j.options.Releases[d.release.Vendor] == nil:
		// a release that is older than those of the catalogue may serve it
		j.outcomes[o] = &outcome{object: o, problems: []model.Problem{d.unknownVersionProblem(o)}}
		return
	case v == nil:
		j.outcomes[o] = &outcome{problems: []model.Problem{d.unservedVersionProblem(o)}}
		return
	}
	j.versions[o] = v
	gk := o.Ref.GroupKind()
	if dialect := j.treatments[gk].Dialect; dialect != "" && d.release != nil && !j.options.Off {
		if own := j.options.Catalogue.findInChannel(gk, o.Version, dialect); own != nil {
			j.versions[o], j.reported[o] = own, v
		}
	}
}

// findDefinition finds the definition of a kind: in the input, beside it, or in the catalogue.
func (a *Admission) findDefinition(defined map[model.GroupKind]*definition, gk model.GroupKind,
	version string) *definition {
	if d := defined[gk]; d != nil {
		return d
	}
	if d := a.readJSONSchema(gk, version); d != nil {
		return d
	}
	return a.options.Catalogue.findDefinition(gk, version, a.options.Releases)
}

// olderReleases is how many releases before the newest are asked about an object that it refuses.
const olderReleases = 3

// standardChannel is the channel of a release that leaves out what is experimental. A vendor's releases
// without a channel have everything.
const standardChannel = "standard"

// assumedRelease is the newest release of an object's vendor where nobody says which release the cluster
// has; nil: the definitions are those of the input, or of a release that is chosen.
func (j *judging) assumedRelease(o *model.Object) *Release {
	newest := j.versions[o].definition.release
	if newest == nil || newest.channel != "" || j.options.Releases[newest.Vendor] != nil || j.options.Off {
		return nil
	}
	return newest
}

// judgeByOlderReleases returns what becomes of an object that the newest release of its vendor
// refuses, where no release is chosen: its standard channel may take it, or one of the last releases, and
// the cluster may have that.
func (j *judging) judgeByOlderReleases(o *model.Object, refused *outcome) *outcome {
	newest := j.assumedRelease(o)
	if newest == nil {
		return refused
	}
	asked := map[string]bool{}
	for _, r := range newest.vendor.releases {
		if r == newest || r.channel != "" && r.channel != standardChannel {
			continue
		}
		if number := fmt.Sprint(r.numbers); !asked[number] && number != fmt.Sprint(newest.numbers) {
			if len(asked) == olderReleases {
				break
			}
			asked[number] = true
		}
		d := r.definitionOf(o.Ref.GroupKind())
		if d == nil || d.versions[o.Version] == nil {
			continue
		}
		v := d.versions[o.Version]
		v.compileSchema()
		out := j.newJudgement(o, v).judgeObject()
		if out.object == nil {
			continue
		}
		out.by = j.versions[o]
		hint := fmt.Sprintf("%s %s takes it, and it is read so; say which version you have: --vendor-version %s=%s",
			r.Vendor,
			r.Name, r.Vendor, r.Name)
		for _, p := range refused.problems {
			p.Severity, p.Code, p.Hint = model.Warning, model.InvalidObject, hint
			p.Message = fmt.Sprintf("%s %s refuses it: %s", newest.Vendor, newest.Name,
				strings.TrimSuffix(p.Message, ": the API server refuses the object"))
			out.problems = append(out.problems, p)
		}
		return out
	}
	return refused
}

// reportUnservedInStandard reports an object of a version that the standard channel of the newest release
// does not serve, although it has the kind.
func (j *judging) reportUnservedInStandard(o *model.Object, out *outcome) {
	newest := j.assumedRelease(o)
	if newest == nil || out.object == nil || isStored(o) {
		return
	}
	for _, r := range newest.vendor.releases {
		if r.channel != standardChannel || slices.Compare(r.numbers, newest.numbers) != 0 {
			continue
		}
		if d := r.definitionOf(o.Ref.GroupKind()); d != nil && d.versions[o.Version] == nil {
			p := model.Problem{Severity: model.Warning, Code: model.InvalidObject, Message: fmt.Sprintf(
				"%s %s refuses it: %s is not served in version %q", r.Vendor, r.Name, o.Ref.GroupKind(), o.Version),
				Hint: "write a version that it serves: " + d.servedVersions()}.At(o)
			*p.Origin = o.OriginOf("apiVersion")
			out.problems = append(out.problems, p)
		}
	}
}

// isPatch reports whether a document is a patch of kustomize, and no object.
func isPatch(o *model.Object) bool { return o.Body.Has("$patch") }

// isStored reports whether a server has judged an object already: it was read from one, or written
// down as one had it.
func isStored(o *model.Object) bool {
	return o.Origin.Cluster != "" || o.Text("metadata", "uid") != "" || o.Text("metadata", "resourceVersion") != ""
}

// judgeAll judges the objects that were not judged before.
func (j *judging) judgeAll() {
	j.recallOutcomes()
	var all []*model.Object
	for _, o := range j.objects {
		if j.outcomes[o] == nil {
			all = append(all, o)
		}
	}
	versions := j.compileVersions(all)
	all = j.withinBudget(all)
	outcomes := make([]*outcome, len(all))
	model.Parallel(len(all), 1, func(i int) {
		outcomes[i] = j.newJudgement(all[i], j.versions[all[i]]).judgeObject()
		if outcomes[i].object == nil {
			outcomes[i] = j.judgeByOlderReleases(all[i], outcomes[i])
		}
		j.reportUnservedInStandard(all[i], outcomes[i])
		if v := j.reported[all[i]]; v != nil && outcomes[i].object != nil {
			outcomes[i].problems = append(outcomes[i].problems, j.newJudgement(all[i], v).judgeObject().problems...)
		}
	})
	j.dropBeyondBudget(all, outcomes)
	for i, o := range all {
		j.outcomes[o] = outcomes[i]
	}
	for _, v := range versions {
		j.problems = append(j.problems, v.problems...)
	}
	j.rememberOutcomes(all)
}

// recallOutcomes takes over what became of objects when they were judged before.
func (j *judging) recallOutcomes() {
	j.lock.Lock()
	defer j.lock.Unlock()
	for _, o := range j.objects {
		if before := j.seen[o]; before != nil && before.by == j.versions[o] && j.outcomes[o] == nil {
			j.outcomes[o] = before
		}
	}
}

func (j *judging) rememberOutcomes(all []*model.Object) {
	j.lock.Lock()
	defer j.lock.Unlock()
	for _, o := range all {
		j.seen[o] = j.outcomes[o]
	}
}

// compileVersions compiles the versions of definitions that objects are written in, as far as the
// steps allow, and returns them in a stable order.
func (j *judging) compileVersions(objects []*model.Object) []*version {
	var used []*version
	seen := map[*version]bool{}
	for _, o := range objects {
		for _, v := range []*version{j.versions[o], j.reported[o]} {
			if v != nil && !seen[v] {
				seen[v], used = true, append(used, v)
			}
		}
	}
	m := j.newMeter()
	for _, v := range used {
		v.tooCostly = v.definition.release == nil && !m.canCompile(v)
	}
	model.Parallel(len(used), 1, func(i int) {
		if !used[i].tooCostly {
			used[i].compileSchema()
		}
	})
	return used
}

func (j *judging) newMeter() *costMeter {
	return &costMeter{maxSteps: cmp.Or(j.options.Steps, DefaultSteps)}
}

// withinBudget returns the objects that can be judged within the steps. The others are kept as they
// are written, and reported.
func (j *judging) withinBudget(objects []*model.Object) []*model.Object {
	m := j.newMeter()
	refused := map[refusal][]*model.Object{}
	objects = slices.DeleteFunc(objects, func(o *model.Object) bool {
		v := j.versions[o]
		why := m.chargeObject(v, o)
		if why == affordable {
			return false
		}
		j.outcomes[o] = &outcome{by: v, object: o}
		refused[why] = append(refused[why], o)
		return true
	})
	j.ruleBudget.Store(int64(m.maxSteps-m.spent) / ruleStepCost)
	j.problems = append(j.problems, notJudgedProblems(refused[tooManySteps], m.maxSteps)...)
	j.problems = append(j.problems, tooManyDefaultsProblems(refused[tooManyDefaults])...)
	return objects
}

// dropBeyondBudget keeps the objects with rules of the input as they are written if those took too
// many steps: which of them were evaluated is random.
func (j *judging) dropBeyondBudget(objects []*model.Object, outcomes []*outcome) {
	if j.ruleBudget.Load() >= 0 {
		return
	}
	var dear []*model.Object
	for i, o := range objects {
		if v := j.versions[o]; v.hasRulesOfInput() {
			outcomes[i] = &outcome{by: v, object: o}
			dear = append(dear, o)
		}
	}
	j.problems = append(j.problems, notJudgedProblems(dear, j.newMeter().maxSteps)...)
}
