package view

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// The results of a proof.
const (
	Proved       = "proved"
	Refuted      = "refuted"
	ProofUnknown = "unknown"
)

// mostCounterexamples is how many rules that take requests without the policy are shown with one.
const mostCounterexamples = 100

// Proof answers `prove`.
type Proof struct {
	Envelope
	Result     string           `json:"result"`               // proved: it holds for every request; refuted: a request is known for which it does not; unknown: neither is known
	Property   string           `json:"property"`             // what was asked, as a sentence
	Name       string           `json:"name,omitempty"`       // of a ready-made property
	Expression string           `json:"expression,omitempty"` // that has to be true, in CEL
	Require    []string         `json:"require"`              // the policy kinds of which one has to be in force, as Kind.group
	Classes    int              `json:"classes"`              // of requests, that no rule tells apart
	Protected  int              `json:"protected"`            // classes of which a backend gets the requests, and for which it holds, as with a policy in force
	Unreached  int              `json:"unreached"`            // classes of which no backend gets the requests: nothing takes them, they are redirected, or no backend can be used
	Rules      int              `json:"rules"`                // that take a class of which a backend gets the requests
	Items      []Counterexample `json:"items"`                // the requests for which it does not hold: a smallest of each rule that takes some, the smallest first
	More       int              `json:"more"`                 // further rules that take such requests
	Undecided  []Undecided      `json:"undecided"`            // what could not be decided, and may change the result
	LeftOut    []string         `json:"leftOut"`              // what may get requests as well and is not looked at, a sentence each

	Spellings     []Spelling `json:"spellings"`               // of these requests, by which the same backend gets them without a policy, where hosts or paths are asked about
	MoreSpellings bool       `json:"moreSpellings,omitempty"` // not of all paths other spellings were tried

	unprotected int // classes
}

// Counterexample is a request for which a property does not hold, with what becomes of it.
type Counterexample struct {
	Class   string      `json:"class"`             // the requests of which it is one
	Classes int         `json:"classes"`           // how many classes the rule takes for which the property does not hold
	Command string      `json:"command"`           // that makes the request: curl, or grpcurl
	Because string      `json:"because,omitempty"` // why it does not hold for it, where the way alone does not tell
	Instead []model.Ref `json:"instead,omitempty"` // rules that may take it instead, because it is not known which one does; it does not hold with them either
	RequestResult
}

// Undecided is something that could not be decided.
type Undecided struct {
	Why     string `json:"why"`     // what is not known
	Classes int    `json:"classes"` // of requests for which it matters; of rules, how many
	Example string `json:"example"` // one of the requests, or of the rules
}

// ProofQuery is a property of requests.
type ProofQuery struct {
	Scope      space.Scope
	Require    []model.GroupKind // one of these has to be in force
	Properties []RequestProperty // or one of these has to hold
	Property   string            // or a ready-made property, by its name
	Allow      []string          // of what is listed: hosts and paths, as HOST or HOST/PATH in the forms of the scope

	Expression string                                        // or an expression
	Holds      func(*RequestWay) (held bool, unknown string) // that is so
	Kinds      []model.GroupKind                             // the policy kinds that it looks at; nil: all

	Routes func(*model.Object) bool // the routes whose requests are asked about; nil: all
	Asked  string                   // which requests are asked about, in words
}

// ProofError says what is wrong with a question.
type ProofError struct{ What string }

// Error says it.
func (e *ProofError) Error() string { return e.What }

// Prove decides whether a property holds for every request.
func Prove(r *resolve.Resolution, m *request.Matcher, q ProofQuery, judges Judges) (*Proof, error) {
	if wrong := q.Wrong(); wrong != "" {
		return nil, &ProofError{wrong}
	}
	q.prepare(m)
	q.Scope.Passing = true
	p := newProver(r, m, &q, judges)
	p.out = &Proof{Property: q.sentence(), Name: q.Property, Expression: q.Expression, Require: []string{}, Items: []Counterexample{}, Undecided: []Undecided{}, LeftOut: []string{}}
	for _, gk := range q.Require {
		p.out.Require = append(p.out.Require, gk.String())
	}
	if err := space.Walk(m, q.Scope, p.class); err != nil {
		return nil, err
	}
	if p.whole != nil {
		if err := p.whole.finish(p); err != nil {
			return nil, err
		}
	}
	if err := p.counterexamples(m); err != nil {
		return nil, err
	}
	p.leftOut(m)
	p.settle()
	return p.out, nil
}

func newProver(r *resolve.Resolution, m *request.Matcher, q *ProofQuery, judges Judges) *prover {
	return &prover{requestWriter: requestWriter{survey: newCollector(r, q.kinds()), judges: judges}, q: q, known: map[way]bool{}, looked: map[way]bool{},
		judged: map[way]judgedWay{}, over: map[way][]*InForce{}, shared: map[*answer]*InForce{}, open: map[string]*Undecided{}, told: map[string]bool{},
		matcher: m, whole: q.whole(), taking: make([]bool, r.Len())}
}

func kindsText(kinds []model.GroupKind) string {
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
	requestWriter
	q        *ProofQuery
	out      *Proof
	known    map[way]bool // whether a policy is in force there
	looked   map[way]bool
	judged   map[way]judgedWay
	shared   map[*answer]*InForce
	seen     []bool             // by node: it was looked at
	stood    []bool             // by node: what is in force on a way through it was asked for
	over     map[way][]*InForce // what is in force before the rule, by the way to its route
	places   *EffectiveTargets
	whole    whole // nil: every class is judged by itself
	matcher  *request.Matcher
	taking   []bool   // by node: a rule that takes requests which a backend gets
	failures failures // of the rules for which the property does not hold
	open     map[string]*Undecided
	told     map[string]bool
	problems []model.Problem

	shadowed []*failing        // of rules that take no request: one that they match
	silent   []topology.NodeID // rules that take no request, and for which no request was found that they match
}

// counterexamples tells the smallest request of each rule.
func (p *prover) counterexamples(m *request.Matcher) error {
	found := append(p.failures.smallest(), p.shadowed...)
	if len(found) > mostCounterexamples {
		found = found[:mostCounterexamples]
	}
	p.out.More = len(p.failures.of) + len(p.shadowed) - len(found)
	for _, c := range found {
		a, err := m.Find(c.least.Request, request.Where{Gateway: c.least.Entry.Gateway, Listener: p.q.Scope.Where.Listener})
		if err != nil {
			return err
		}
		if a.Rule != c.taker {
			return errors.New("deciding about " + a.Request.Text + ": two answers about it differ")
		}
		e := Counterexample{Class: c.least.Text(), Classes: c.n, Command: command(&a.Request), Because: c.because, RequestResult: p.result(a)}
		for _, o := range c.least.Possible {
			if o.Rule != topology.None && o.Rule != a.Rule {
				e.Instead = append(e.Instead, p.survey.res.Node(o.Rule).Ref)
			}
		}
		p.out.Items = append(p.out.Items, e)
	}
	for _, rule := range p.silent {
		if len(p.out.Items) >= mostCounterexamples {
			p.out.More++
			continue
		}
		n := p.survey.res.Node(rule)
		e := Counterexample{Classes: 1, Because: n.Ref.String() + " takes no request at all", RequestResult: p.result(&request.Answer{Gateway: topology.None, Listener: topology.None,
			Route: topology.None, Rule: topology.None, Outcome: request.NoMatch})}
		e.Route, e.Rule = &n.Ref, &n.Index
		p.out.Items = append(p.out.Items, e)
	}
	return nil
}

// leftOut names what is not looked at.
func (p *prover) leftOut(m *request.Matcher) {
	p.out.LeftOut = append(p.out.LeftOut, unlooked(p.survey.res, m, p.q.Scope.Where)...)
}

// unlooked names what comes to Gateways, or to one, and has no classes.
func unlooked(r *resolve.Resolution, m *request.Matcher, where request.Where) []string {
	all := request.Competition{Matcher: m}
	out := []string{}
	for _, id := range all.Unspoken(where) {
		out = append(out, "connections to listener "+r.Node(id).Ref.String()+" ("+r.Graph.Listener(id).Protocol+"): what they carry is not known")
	}
	if services := all.MeshServices(); len(services) > 0 && where.Gateway == topology.None {
		out = append(out, "requests in the mesh, which routes take at "+Counted(len(services), "Service"))
	}
	return out
}

// settle decides.
func (p *prover) settle() {
	out := p.out
	for _, u := range p.open {
		out.Undecided = append(out.Undecided, *u)
	}
	slices.SortFunc(out.Undecided, func(a, b Undecided) int {
		return cmp.Or(cmp.Compare(b.Classes, a.Classes), strings.Compare(a.Why, b.Why))
	})
	out.Seal("Proof", append(p.survey.problems(), p.problems...))
	out.touches = p.survey.touching()
	switch {
	case out.unprotected > 0:
		out.Result = Refuted
	case len(out.Undecided) > 0 || !out.Complete || out.Classes == 0:
		out.Result = ProofUnknown
	default:
		out.Result = Proved
	}
}
