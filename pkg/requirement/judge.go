package requirement

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/google/cel-go/common/types/ref"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
)

// Tally has the numbers of results of one requirement.
type Tally struct {
	Requirement *Requirement
	Met         int // targets, once for every group of paths with the same in force
	NotMet      int
	Unknown     int
	Failed      int
	Nothing     bool // it selects nothing
}

// Assessment is what requirements say of an input.
type Assessment struct {
	Findings []model.Problem
	Tallies  []Tally // by requirement

	testFindings []testFinding
}

// FindProblems checks an input against requirements and returns the findings, by requirement and
// target.
func FindProblems(res *resolve.Resolution, reqs []*Requirement, by Deciders) []model.Problem {
	return Assess(res, reqs, by).Findings
}

// Prover decides whether something holds for requests.
type Prover func(*resolve.Resolution, prove.Query) (*prove.Proof, error)

// Deciders know about requests. Without one of them, what requirements ask it is not known.
type Deciders struct {
	Prove   Prover
	Protect Protector
}

// Assess checks an input against requirements.
func Assess(res *resolve.Resolution, reqs []*Requirement, by Deciders) Assessment {
	var out Assessment
	if len(reqs) == 0 {
		return out
	}
	j := newEvaluation(res, reqs)
	j.loadProtections(by.Protect)
	j.askAll()
	j.evaluateAll()
	for i := range reqs {
		if reqs[i].requests != nil {
			about := proofConclusion{newConclusion(j, &j.cases[i])}
			out.Findings = append(out.Findings, about.concludeProof(by.Prove)...)
			out.Tallies, out.testFindings = append(out.Tallies, about.tally), append(out.testFindings,
				about.testFindings...)
			continue
		}
		c := newConclusion(j, &j.cases[i])
		out.Findings = append(out.Findings, c.concludeTargets()...)
		out.Tallies, out.testFindings = append(out.Tallies, c.tally), append(out.testFindings, c.testFindings...)
	}
	return out
}

// evaluation compares an input with requirements: it gathers what is asked, evaluates every
// distinct question once, and concludes.
type evaluation struct {
	res      *resolve.Resolution
	places   *collect.EffectiveTargets
	unknowns *unknownState
	cases    []requirementCase
	budget   *budget // of all of them

	inForceIndex  map[*collect.InForce]int // of what is in force anywhere
	inForce       []*collect.InForce
	sets          []inForceSet // distinct ones
	setIndex      map[string]int
	questions     []question // distinct ones
	questionIndex map[questionKey]int
	paths         []view.Path // distinct ones that matter
	pathIndex     map[string]int
	pathVals      []ref.Val
	targets       []*collect.EffectiveTarget // one for each target that matters
	targetIndex   map[topology.NodeID]int
	targetVal     []targetValue

	protections       *protection.Protections  // nil: not asked for, or not known
	protectionUnknown string                   // why it is not known
	protected         []*protection.Protection // distinct ones that matter
	protectionIndex   map[*protection.Protection]int
	protectionVals    []ref.Val
}

// targetValue is a target as expressions see it.
type targetValue struct {
	value ref.Val
	sizes expression.Sizes
}

// requirementCase is one requirement and what it asked.
type requirementCase struct {
	*Requirement
	looks        lookups // of all its expressions
	kinds        []*resolve.Kind
	unknownKinds []string // kinds that it names and nobody knows
	counts       selectionCounts
	asked        []placedQuestion

	budgets    *budgets
	firstAsked int // the position of its first property among those that are asked about
}

// placedQuestion is a question about one place.
type placedQuestion struct {
	place    *collect.EffectiveTarget
	paths    []view.Path
	question int    // -1: it is not asked, because of the doubt
	doubt    string // why the answer is not known

	protection int // -1: it does not matter
}

// inForceSet is what is in force at places, as expressions see it.
type inForceSet struct {
	of    []*collect.InForce
	value ref.Val
	sizes expression.Sizes
}

// question is an evaluation of the expressions of a requirement.
type question struct {
	req    *requirementCase
	set    int
	target int // -1: it does not matter
	path   int // -1: it does not matter

	protection int // -1: it does not matter

	skipped bool // where does not hold
	held    bool
	failure string
	message string
}

type questionKey struct{ req, set, target, path, protection int }

func newEvaluation(res *resolve.Resolution, reqs []*Requirement) *evaluation {
	j := &evaluation{res: res, places: collect.NewEffectiveTargets(res), unknowns: newUnknownState(res),
		cases: make([]requirementCase, len(reqs)), budget: &budget{most: maxSharedSteps},
		inForceIndex: map[*collect.InForce]int{}, setIndex: map[string]int{}, questionIndex: map[questionKey]int{},
		pathIndex: map[string]int{}, targetIndex: map[topology.NodeID]int{},
		protectionIndex: map[*protection.Protection]int{}}
	for i, r := range reqs {
		c := &j.cases[i]
		c.budgets = newBudgets(j.budget)
		if c.Requirement = r; r.holds != nil {
			c.looks = r.holds.mergeWith(r.where).mergeWith(r.messageFrom)
		}
		if r.demands != nil {
			c.looks = lookups{}.mergeWith(r.where).mergeWith(r.messageFrom)
			c.looks.kinds = append(c.looks.kinds, r.namedKinds()...)
		}
		for _, k := range res.Kinds {
			if c.looks.allInForce || c.namesKind(k.GroupKind) {
				c.kinds = append(c.kinds, k)
			}
		}
		for _, name := range c.looks.kinds {
			if !slices.ContainsFunc(res.Kinds, func(k *resolve.Kind) bool {
				return matchesKindName(name,
					k.GroupKind)
			}) {
				c.unknownKinds = append(c.unknownKinds, name)
			}
		}
	}
	return j
}

// matchesKindName reports whether a name in an expression stands for a policy kind.
func matchesKindName(name string, gk model.GroupKind) bool {
	return name == gk.Kind || name == gk.String()
}

func (c *requirementCase) namesKind(gk model.GroupKind) bool {
	return slices.ContainsFunc(c.looks.kinds, func(name string) bool { return matchesKindName(name, gk) })
}

// askAll asks every requirement about every node that it selects.
func (j *evaluation) askAll() {
	for i := range j.res.Len() {
		id := topology.NodeID(i)
		n := j.res.Node(id)
		var places []collect.EffectiveTarget
		looked := false
		for c := range j.cases {
			if !j.isConcerned(&j.cases[c], n) {
				continue
			}
			labels, known := j.namespaceLabels(n.Ref)
			selected, unsure := j.cases[c].selects.matchesTarget(&j.cases[c].counts, n, labels, known)
			if !selected {
				continue
			}
			if !looked {
				places, looked = j.places.At(id), true
			}
			for p := range places {
				j.askAt(c, &places[p], unsure, known)
			}
		}
	}
}

// isConcerned reports whether a requirement may be about a node: rules and listeners may always
// have policies, other nodes where a policy kind that the requirement looks at has results.
func (j *evaluation) isConcerned(c *requirementCase, n *topology.Node) bool {
	if n.Delegates || c.requests != nil || !c.selects.matchesKind(n) {
		return false
	}
	switch n.Role {
	case topology.Rule, topology.Listener:
		return true
	case topology.Backend: // what holds there holds at its ports, to which the traffic goes
		if len(j.res.Graph.Sections(n.Ref)) > 0 &&
			slices.ContainsFunc(c.kinds, func(k *resolve.Kind) bool { return k.HasResultsAt(topology.Port) }) {
			return false
		}
	}
	return slices.ContainsFunc(c.kinds, func(k *resolve.Kind) bool { return k.HasResultsAtNode(n) })
}

// namespaceLabels returns the labels of the namespace of a target; false if they are not known.
func (j *evaluation) namespaceLabels(r model.Ref) (map[string]string, bool) {
	name := cmp.Or(r.Namespace, r.Name)
	if o := j.res.Snapshot.Get(model.Ref{Kind: "Namespace", Name: name}); o != nil {
		if o.Labels[nameLabel] == name {
			return o.Labels, true
		}
		labels := map[string]string{nameLabel: name}
		for key, value := range o.Labels {
			labels[key] = value
		}
		return labels, true
	}
	return map[string]string{nameLabel: name}, r.Namespace == "" && r.Kind != "Namespace"
}

// askAt asks a requirement about the paths of a place that it selects.
func (j *evaluation) askAt(c int, p *collect.EffectiveTarget, unsure, labelsKnown bool) {
	req := &j.cases[c]
	paths, ok := req.selects.filterPaths(&req.counts, p)
	if !ok {
		return
	}
	a := placedQuestion{place: p, paths: paths, question: -1, protection: -1}
	switch {
	case unsure, req.looks.namespaceLabels && !labelsKnown:
		a.doubt = "the labels of namespace " + p.Target.Namespace + " are not in the input"
	default:
		a.doubt = j.unknowns.explainUnknown(req, p)
	}
	set := j.inForceSetIndex(req, p)
	target := -1
	if req.looks.target {
		target = j.indexOfTarget(p)
	}
	protects := req.looksAtProtection()
	if !req.looks.path && !protects {
		a.question = j.indexOfQuestion(questionKey{c, set, target, -1, -1})
		req.asked = append(req.asked, a)
		return
	}
	for i := range max(1, len(paths)) {
		way := view.Path{} // the empty path, for what no traffic reaches
		if i < len(paths) {
			way, a.paths = paths[i], paths[i:i+1]
		}
		key, one := questionKey{c, set, target, -1, -1}, a
		if req.looks.path {
			key.path = j.indexOfPath(way)
		}
		if protects {
			var unknown string
			if key.protection, unknown = j.protectionAt(p, way); unknown == "" && req.demands != nil &&
				len(req.demands.properties) > 0 {
				_, unknown = req.isMet(j.protected[key.protection])
			}
			one.protection, one.doubt = key.protection, cmp.Or(a.doubt, unknown)
		}
		one.question = j.indexOfQuestion(key)
		req.asked = append(req.asked, one)
	}
}

// inForceSetIndex is the index of what is in force at a place of the kinds that a requirement looks
// at.
func (j *evaluation) inForceSetIndex(req *requirementCase, p *collect.EffectiveTarget) int {
	var of []*collect.InForce
	var key []byte
	for _, f := range p.InForce {
		if len(f.Policy.Rules) == 0 || !req.looks.allInForce && !req.namesKind(f.Kind.GroupKind) {
			continue
		}
		n, known := j.inForceIndex[f]
		if !known {
			n = len(j.inForce)
			j.inForceIndex[f], j.inForce = n, append(j.inForce, f)
		}
		of, key = append(of, f), binary.AppendUvarint(key, uint64(n))
	}
	at, known := j.setIndex[string(key)]
	if !known {
		at = len(j.sets)
		j.setIndex[string(key)], j.sets = at, append(j.sets, inForceSet{of: of})
	}
	return at
}

// indexOfQuestion is the index of a question. Two questions that differ only in what the
// requirement does not look at are one.
func (j *evaluation) indexOfQuestion(key questionKey) int {
	at, known := j.questionIndex[key]
	if !known {
		at = len(j.questions)
		j.questionIndex[key] = at
		j.questions = append(j.questions, question{req: &j.cases[key.req], set: key.set, target: key.target,
			path: key.path, protection: key.protection})
	}
	return at
}

// indexOfTarget is the index of a target that matters.
func (j *evaluation) indexOfTarget(p *collect.EffectiveTarget) int {
	at, known := j.targetIndex[p.Node]
	if !known {
		at = len(j.targets)
		j.targetIndex[p.Node], j.targets = at, append(j.targets, p)
	}
	return at
}

// indexOfPath is the index of a path that matters.
func (j *evaluation) indexOfPath(p view.Path) int {
	key := p.Key()
	at, known := j.pathIndex[key]
	if !known {
		at = len(j.paths)
		j.pathIndex[key], j.paths = at, append(j.paths, p)
	}
	return at
}
