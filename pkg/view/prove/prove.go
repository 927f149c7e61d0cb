package prove

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// The results of a proof.
const (
	Proved        = "proved"
	Refuted       = "refuted"
	ProofUnknown  = "unknown"
	NothingProved = "nothing" // of the verdict alone
)

// mostCounterexamples is how many rules that take requests without the policy are shown with one.
const mostCounterexamples = 100

// Proof answers `prove`.
type Proof struct {
	view.Envelope
	// proved: it holds for every request; refuted: a request is known for which it does not;
	// unknown: neither is known
	Result string `json:"result"`
	// the result; or nothing: no request that is asked about gets through, so that nothing is
	// proved
	Verdict    string `json:"verdict"`
	Property   string `json:"property"`             // what was asked, as a sentence
	Name       string `json:"name,omitempty"`       // of a ready-made property
	Expression string `json:"expression,omitempty"` // that has to be true, in CEL
	// the policy kinds of which one has to be in force, as Kind.group; or the properties of which
	// one has to hold
	Require []string `json:"require"`
	Classes int      `json:"classes"` // of requests, that no rule tells apart
	// classes of which a backend gets the requests, and for which it holds, as with a policy in
	// force
	Protected int `json:"protected"`
	// classes of which no backend gets the requests: nothing takes them, they are redirected, or no
	// backend can be used
	Unreached int `json:"unreached"`
	Rules     int `json:"rules"` // that take a class of which a backend gets the requests
	// the requests for which it does not hold: a smallest of each rule that takes some, the
	// smallest first
	Items     []Counterexample `json:"items"`
	More      int              `json:"more"`      // further rules that take such requests
	Undecided []Undecided      `json:"undecided"` // what could not be decided, and may change the result
	// what may get requests as well and is not looked at, a sentence each
	LeftOut []string `json:"leftOut"`
	// what a data plane answers before it authenticates, a sentence for each rule; of properties of
	// requests
	Notes []string `json:"notes,omitempty"`

	// of these requests, by which the same backend gets them without a policy, where hosts or paths
	// are asked about
	Spellings     []Spelling `json:"spellings"`
	MoreSpellings bool       `json:"moreSpellings,omitempty"` // not of all paths other spellings were tried

	askedText       string   // which requests are asked about, in words
	ofRequests      bool     // properties of requests are asked about, not policy kinds
	unprotected     int      // classes
	emptySelections []string // what of the selection takes no request, a sentence each
}

// Counterexample is a request for which a property does not hold, with what becomes of it.
type Counterexample struct {
	Class string `json:"class"` // the requests of which it is one
	// how many classes the rule takes for which the property does not hold
	Classes int    `json:"classes"`
	Command string `json:"command"` // that makes the request: curl, or grpcurl
	// why it does not hold for it: of properties of requests a list of reasons with their codes;
	// else a sentence, where the way alone does not tell
	Because any `json:"because,omitempty"`
	// rules that may take it instead, because it is not known which one does; it does not hold with
	// them either
	Instead []model.Ref `json:"instead,omitempty"`
	requests.RequestResult

	sentence string // Because in words
}

// Query is a property of requests.
type Query struct {
	Scope      space.Scope
	Require    []model.GroupKind   // one of these has to be in force
	Properties []requests.Property // or one of these has to hold
	Property   string              // or a ready-made property, by its name
	Allow      []string            // of what is listed: hosts and paths, as HOST or HOST/PATH in the forms of the scope

	Expression string                                         // or an expression
	Holds      func(*BackendPath) (held bool, unknown string) // that is so
	Kinds      []model.GroupKind                              // the policy kinds that it looks at; nil: all

	Routes func(*model.Object) bool // the routes whose requests are asked about; nil: all
	Asked  string                   // which requests are asked about, in words
}

// ProofError says what is wrong with a proof query.
type ProofError struct{ What string }

// Error returns what is wrong.
func (e *ProofError) Error() string { return e.What }

// Prove decides whether a property holds for every request.
func Prove(r *resolve.Resolution, m *request.Matcher, q Query, judges view.Judges) (*Proof, error) {
	if wrong := q.Check(); wrong != "" {
		return nil, &ProofError{wrong}
	}
	q.splitScope(m)
	q.Scope.ReuseClass = true
	p := newProver(r, m, &q, judges)
	if p.protector != nil {
		q.Scope.ExtraTests = p.protector.FindPathTests
	}
	p.out = &Proof{Property: q.formatSentence(), Name: q.Property, Expression: q.Expression, Require: []string{},
		Items: []Counterexample{}, Undecided: []Undecided{}, LeftOut: []string{}}
	for _, gk := range q.Require {
		p.out.Require = append(p.out.Require, gk.String())
	}
	p.out.ofRequests, p.out.askedText = len(q.Properties) > 0, q.Asked
	for _, property := range q.Properties {
		p.out.Require = append(p.out.Require, property.String())
	}
	if err := space.Walk(m, q.Scope, p.judgeClass); err != nil {
		return nil, err
	}
	if p.crossCheck != nil {
		if err := p.crossCheck.finishCheck(p); err != nil {
			return nil, err
		}
	}
	if err := p.buildCounterexamples(m); err != nil {
		return nil, err
	}
	p.addLeftOut(m)
	p.decideResult()
	return p.out, nil
}

func newProver(r *resolve.Resolution, m *request.Matcher, q *Query, judges view.Judges) *prover {
	c := collect.NewForRequests(r, q.relevantKinds())
	p := &prover{collector: c, writer: requests.Writer{Collector: c, Judges: judges}, q: q,
		policyKnown: map[requests.RulePath]bool{}, visitedPaths: map[requests.RulePath]bool{},
		judged: map[requests.RulePath]judgement{}, aboveRule: map[requests.RulePath][]*collect.InForce{},
		inForce: collect.InForceCache{}, paths: collect.NewTrafficPaths(r), undecidedByReason: map[string]*Undecided{},
		notedMessages: map[string]bool{},
		walker:        requests.Walker(r, judges),
		matcher:       m, crossCheck: q.newCrossClassCheck(), takingRules: make([]bool,
			r.Len()), scopeUse: newScopeUse(&q.Scope)}
	if len(q.Properties) > 0 {
		p.protector, p.writer.GatesDecide = protection.NewProtector(r, m, judges, nil), true
	}
	return p
}

func formatKinds(kinds []model.GroupKind) string {
	names := make([]string, 0, len(kinds))
	for _, gk := range kinds {
		names = append(names, gk.Kind)
	}
	article := "a "
	if len(names) > 0 && strings.ContainsAny(names[0][:1], "AEIOX") {
		article = "an "
	}
	return article + strings.Join(slices.Compact(names), " or ")
}

type prover struct {
	collector    *collect.Collector
	writer       requests.Writer
	q            *Query
	out          *Proof
	policyKnown  map[requests.RulePath]bool // whether a policy is in force there
	visitedPaths map[requests.RulePath]bool
	judged       map[requests.RulePath]judgement
	scopeUse     scopeUse
	walker       *point.Walker
	// protector says what protects requests, if a property is asked about; else nil.
	protector    *protection.Protector
	inForce      collect.InForceCache
	visitedNodes []bool // by node: it was looked at
	// by node: what is in force on a path through it was looked up
	queriedNodes []bool
	// what is in force above the rule, by the path to its route
	aboveRule         map[requests.RulePath][]*collect.InForce
	paths             *collect.TrafficPaths
	crossCheck        crossClassCheck // nil: every class is judged by itself
	matcher           *request.Matcher
	takingRules       []bool       // by node: a rule that takes requests which a backend gets
	failures          failingRules // of the rules for which the property does not hold
	undecidedByReason map[string]*Undecided
	notedMessages     map[string]bool
	problems          []model.Problem

	shadowed       []*failingRule    // of rules that take no request: one that they match
	unmatchedRules []topology.NodeID // rules that take no request, and for which no request was found that they match
}

// buildCounterexamples writes the smallest request of each rule for which the property does not
// hold.
func (p *prover) buildCounterexamples(m *request.Matcher) error {
	found := append(p.failures.sortBySize(), p.shadowed...)
	if len(found) > mostCounterexamples {
		found = found[:mostCounterexamples]
	}
	p.out.More = len(p.failures.byRule) + len(p.shadowed) - len(found)
	for _, c := range found {
		a, err := m.Find(c.smallest.Request, request.Destination{Gateway: c.smallest.Entry.Gateway,
			Listener: p.q.Scope.Destination.Listener})
		if err != nil {
			return err
		}
		if a.Rule != c.rule {
			return errors.New("deciding about " + a.Request.Text + ": two answers about it differ")
		}
		e := Counterexample{Class: c.smallest.Text(), Classes: c.classes, Command: requests.FormatCommand(&a.Request),
			sentence: c.because, RequestResult: p.writer.BuildResult(a)}
		e.setReasons(c.reasons)
		for _, o := range c.smallest.Possible {
			if o.Rule != topology.None && o.Rule != a.Rule {
				e.Instead = append(e.Instead, p.collector.Resolution.Node(o.Rule).Ref)
			}
		}
		p.out.Items = append(p.out.Items, e)
	}
	for _, rule := range p.unmatchedRules {
		if len(p.out.Items) >= mostCounterexamples {
			p.out.More++
			continue
		}
		n := p.collector.Resolution.Node(rule)
		e := Counterexample{Classes: 1, sentence: n.Ref.String() + " takes no request at all",
			RequestResult: p.writer.BuildResult(&request.Answer{Gateway: topology.None, Listener: topology.None,
				Route: topology.None, Rule: topology.None, Outcome: request.NoMatch})}
		e.Route, e.Rule = &n.Ref, &n.Index
		e.setReasons(nil)
		p.out.Items = append(p.out.Items, e)
	}
	return nil
}

// addLeftOut names what is not examined.
func (p *prover) addLeftOut(m *request.Matcher) {
	p.out.LeftOut = append(p.out.LeftOut, ListUnexamined(p.collector.Resolution, m, p.q.Scope.Destination)...)
}

// ListUnexamined names what comes to the Gateways, or to one of them, and has no classes.
func ListUnexamined(r *resolve.Resolution, m *request.Matcher, where request.Destination) []string {
	all := request.Competition{Matcher: m}
	out := []string{}
	for _, id := range all.UnsupportedListeners(where) {
		out = append(out, "connections to listener "+r.Node(id).Ref.String()+" ("+r.Graph.Listener(id).Protocol+
			"): what they carry is not known")
	}
	if services := all.MeshServices(); len(services) > 0 && where.Gateway == topology.None {
		out = append(out, "requests in the mesh, which routes take at "+view.FormatCount(len(services), "Service"))
	}
	return out
}

// decideResult sets the result and the verdict of the proof.
func (p *prover) decideResult() {
	out := p.out
	for _, u := range p.undecidedByReason {
		out.Undecided = append(out.Undecided, *u)
	}
	slices.SortFunc(out.Undecided, func(a, b Undecided) int {
		return cmp.Or(cmp.Compare(b.Classes, a.Classes), strings.Compare(a.Why, b.Why))
	})
	var open []model.Problem
	if p.q.isAboutAccess() {
		open = p.findMissingParents()
	}
	out.Finish("Proof", slices.Concat(p.collector.CollectProblems(), p.problems, open))
	touches := p.collector.RelevanceFilter()
	out.LimitRelevance(func(problem model.Problem) bool {
		return touches(problem) ||
			slices.ContainsFunc(open, func(o model.Problem) bool { return o.Message == problem.Message })
	})
	switch {
	case out.unprotected > 0:
		out.Result = Refuted
	case len(out.Undecided) > 0 || !out.Complete || out.Classes == 0:
		out.Result = ProofUnknown
	default:
		out.Result = Proved
	}
	out.Verdict = out.Result
	if out.Result != Refuted && len(out.Undecided) == 0 && out.Complete && (out.Classes == 0 || p.q.isAboutAccess() &&
		out.Protected == 0) {
		out.Result, out.Verdict = ProofUnknown, NothingProved
	}
	out.emptySelections = p.scopeUse.findUnused(p.matcher)
}

// isAboutAccess reports whether the property is one of requests that get through: without any,
// nothing is proved.
func (q *Query) isAboutAccess() bool {
	return q.Holds != nil || len(q.Require)+len(q.Properties) > 0
}

// setReasons says why the property does not hold.
func (e *Counterexample) setReasons(reasons []protect.Reason) {
	switch {
	case len(reasons) > 0:
		e.Because, e.sentence = reasons, view.JoinReasons(reasons)
	case e.sentence != "":
		e.Because = e.sentence
	}
}
