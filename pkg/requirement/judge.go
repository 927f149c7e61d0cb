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
)

// Tally is what became of one requirement.
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

	told []told
}

// Problems holds an input against requirements and returns the findings, by requirement and target.
func Problems(res *resolve.Resolution, reqs []*Requirement, by Deciders) []model.Problem {
	return Judge(res, reqs, by).Findings
}

// Prover decides whether something holds for requests.
type Prover func(*resolve.Resolution, view.ProofQuery) (*view.Proof, error)

// Deciders know about requests. Without one of them, what requirements ask it is not known.
type Deciders struct {
	Prove   Prover
	Protect Protector
}

// Judge holds an input against requirements.
func Judge(res *resolve.Resolution, reqs []*Requirement, by Deciders) Assessment {
	var out Assessment
	if len(reqs) == 0 {
		return out
	}
	j := newJudge(res, reqs)
	j.protect(by.Protect)
	j.gather()
	j.evaluate()
	for i := range reqs {
		if reqs[i].requests != nil {
			about := proofConclusion{newConclusion(j, &j.cases[i])}
			out.Findings = append(out.Findings, about.conclude(by.Prove)...)
			out.Tallies, out.told = append(out.Tallies, about.tally), append(out.told, about.told...)
			continue
		}
		c := newConclusion(j, &j.cases[i])
		out.Findings = append(out.Findings, c.conclude()...)
		out.Tallies, out.told = append(out.Tallies, c.tally), append(out.told, c.told...)
	}
	return out
}

// judge holds an input against requirements: it gathers what is asked, evaluates every distinct question once, and concludes.
type judge struct {
	res    *resolve.Resolution
	places *view.EffectiveTargets
	doubts *unknowns
	cases  []caseOf

	numbers   map[*view.InForce]int // of what is in force anywhere
	all       []*view.InForce
	sets      []inForceSet // distinct ones
	setOf     map[string]int
	questions []question // distinct ones
	questOf   map[questionKey]int
	paths     []view.Path // distinct ones that matter
	pathOf    map[string]int
	pathVals  []ref.Val
	targets   []*view.EffectiveTarget // one for each target that matters
	targetOf  map[topology.NodeID]int
	targetVal []targetValue

	protections    *view.Protections  // nil: not asked for, or not known
	unprotected    string             // why it is not known
	protected      []*view.Protection // distinct ones that matter
	protectionOf   map[*view.Protection]int
	protectionVals []ref.Val
}

// targetValue is a target as expressions see it.
type targetValue struct {
	value ref.Val
	sizes expression.Sizes
}

// caseOf is one requirement and what it asked.
type caseOf struct {
	*Requirement
	looks   looks // of all its expressions
	kinds   []*resolve.Kind
	strange []string // kinds that it names and nobody knows
	funnel  funnel
	asked   []asked

	firstAsked int // the position of its first property among those that are asked about
}

// asked is a question about one place.
type asked struct {
	place    *view.EffectiveTarget
	paths    []view.Path
	question int    // -1: it is not asked, because of the doubt
	doubt    string // why the answer is not known

	protection int // -1: it does not matter
}

// inForceSet is what is in force at places, as expressions see it.
type inForceSet struct {
	of    []*view.InForce
	value ref.Val
	sizes expression.Sizes
}

// question is an evaluation of the expressions of a requirement.
type question struct {
	req    *caseOf
	set    int
	target int // -1: it does not matter
	path   int // -1: it does not matter

	protection int // -1: it does not matter

	skipped bool // where does not hold
	held    bool
	failure string
	message string
	cost    uint64
}

type questionKey struct{ req, set, target, path, protection int }

func newJudge(res *resolve.Resolution, reqs []*Requirement) *judge {
	j := &judge{res: res, places: view.NewEffectiveTargets(res), doubts: newUnknowns(res), cases: make([]caseOf, len(reqs)),
		numbers: map[*view.InForce]int{}, setOf: map[string]int{}, questOf: map[questionKey]int{}, pathOf: map[string]int{}, targetOf: map[topology.NodeID]int{}, protectionOf: map[*view.Protection]int{}}
	for i, r := range reqs {
		c := &j.cases[i]
		if c.Requirement = r; r.holds != nil {
			c.looks = r.holds.and(r.where).and(r.messageFrom)
		}
		if r.demands != nil {
			c.looks = looks{}.and(r.where).and(r.messageFrom)
			c.looks.kinds = append(c.looks.kinds, r.kindsNamed()...)
		}
		for _, k := range res.Kinds {
			if c.looks.everything || c.names(k.GroupKind) {
				c.kinds = append(c.kinds, k)
			}
		}
		for _, name := range c.looks.kinds {
			if !slices.ContainsFunc(res.Kinds, func(k *resolve.Kind) bool { return named(name, k.GroupKind) }) {
				c.strange = append(c.strange, name)
			}
		}
	}
	return j
}

// named reports whether a name in an expression stands for a policy kind.
func named(name string, gk model.GroupKind) bool { return name == gk.Kind || name == gk.String() }

func (c *caseOf) names(gk model.GroupKind) bool {
	return slices.ContainsFunc(c.looks.kinds, func(name string) bool { return named(name, gk) })
}

// gather asks every requirement about every node that it selects.
func (j *judge) gather() {
	for i := range j.res.Len() {
		id := topology.NodeID(i)
		n := j.res.Node(id)
		var places []view.EffectiveTarget
		looked := false
		for c := range j.cases {
			if !j.concerns(&j.cases[c], n) {
				continue
			}
			labels, known := j.namespaceLabels(n.Ref)
			selected, unsure := j.cases[c].selects.target(&j.cases[c].funnel, n, labels, known)
			if !selected {
				continue
			}
			if !looked {
				places, looked = j.places.At(id), true
			}
			for p := range places {
				j.ask(c, &places[p], unsure, known)
			}
		}
	}
}

// concerns reports whether a requirement may be about a node: rules and listeners may always have policies, other nodes where a policy kind
// that the requirement looks at has results.
func (j *judge) concerns(c *caseOf, n *topology.Node) bool {
	if n.Transit || c.requests != nil || !c.selects.kind(n) {
		return false
	}
	switch n.Role {
	case topology.Rule, topology.Listener:
		return true
	case topology.Backend: // what holds there holds at its ports, to which the traffic goes
		if len(j.res.Graph.Sections(n.Ref)) > 0 && slices.ContainsFunc(c.kinds, func(k *resolve.Kind) bool { return k.Reaches(topology.Port) }) {
			return false
		}
	}
	return slices.ContainsFunc(c.kinds, func(k *resolve.Kind) bool { return k.ReachesNode(n) })
}

// namespaceLabels are those of the namespace of a target; false if they are not known.
func (j *judge) namespaceLabels(r model.Ref) (map[string]string, bool) {
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

// ask asks a requirement about the paths of a place that it selects.
func (j *judge) ask(c int, p *view.EffectiveTarget, unsure, labelsKnown bool) {
	req := &j.cases[c]
	paths, ok := req.selects.paths(&req.funnel, p)
	if !ok {
		return
	}
	a := asked{place: p, paths: paths, question: -1, protection: -1}
	switch {
	case unsure, req.looks.namespaceLabels && !labelsKnown:
		a.doubt = "the labels of namespace " + p.Target.Namespace + " are not in the input"
	default:
		a.doubt = j.doubts.about(req, p)
	}
	set := j.set(req, p)
	target := -1
	if req.looks.target {
		target = j.target(p)
	}
	protects := req.looksAtProtection()
	if !req.looks.path && !protects {
		a.question = j.question(questionKey{c, set, target, -1, -1})
		req.asked = append(req.asked, a)
		return
	}
	for i := range max(1, len(paths)) {
		way := view.Path{} // of what no traffic reaches
		if i < len(paths) {
			way, a.paths = paths[i], paths[i:i+1]
		}
		key, one := questionKey{c, set, target, -1, -1}, a
		if req.looks.path {
			key.path = j.path(way)
		}
		if protects {
			var unknown string
			if key.protection, unknown = j.protectionAt(p, way); unknown == "" && req.demands != nil && len(req.demands.properties) > 0 {
				_, unknown = req.meets(j.protected[key.protection])
			}
			one.protection, one.doubt = key.protection, cmp.Or(a.doubt, unknown)
		}
		one.question = j.question(key)
		req.asked = append(req.asked, one)
	}
}

// set is the number of what is in force at a place of the kinds that a requirement looks at.
func (j *judge) set(req *caseOf, p *view.EffectiveTarget) int {
	var of []*view.InForce
	var key []byte
	for _, f := range p.InForce {
		if len(f.Policy.Rules) == 0 || !req.looks.everything && !req.names(f.Kind.GroupKind) {
			continue
		}
		n, known := j.numbers[f]
		if !known {
			n = len(j.all)
			j.numbers[f], j.all = n, append(j.all, f)
		}
		of, key = append(of, f), binary.AppendUvarint(key, uint64(n))
	}
	at, known := j.setOf[string(key)]
	if !known {
		at = len(j.sets)
		j.setOf[string(key)], j.sets = at, append(j.sets, inForceSet{of: of})
	}
	return at
}

// question is the number of a question. What a requirement does not look at does not tell two apart.
func (j *judge) question(key questionKey) int {
	at, known := j.questOf[key]
	if !known {
		at = len(j.questions)
		j.questOf[key] = at
		j.questions = append(j.questions, question{req: &j.cases[key.req], set: key.set, target: key.target, path: key.path, protection: key.protection})
	}
	return at
}

// target is the number of a target that matters.
func (j *judge) target(p *view.EffectiveTarget) int {
	at, known := j.targetOf[p.Node]
	if !known {
		at = len(j.targets)
		j.targetOf[p.Node], j.targets = at, append(j.targets, p)
	}
	return at
}

// path is the number of a path that matters.
func (j *judge) path(p view.Path) int {
	key := p.Key()
	at, known := j.pathOf[key]
	if !known {
		at = len(j.paths)
		j.pathOf[key], j.paths = at, append(j.paths, p)
	}
	return at
}
