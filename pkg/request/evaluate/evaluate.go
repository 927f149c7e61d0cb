package evaluate

import (
	"net/netip"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve/unread"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Query is what policies judge: a connection, or a request of which it is known where it goes.
type Query struct {
	From, To Peer
	Protocol string          // of a connection: TCP, UDP or SCTP
	Port     int             // of a connection, at its destination
	Answer   *request.Answer // of a request: where it goes, and the request itself; nil: it is a connection
}

// Peer is one end of what is asked about: a workload, or an address that is none's. The zero Peer
// is not that of a query.
type Peer struct {
	Workload topology.NodeID // None: it is not known as one
	Address  netip.Addr      // of what is no workload
}

// UnknownPeer returns a peer of which nothing is known.
func UnknownPeer() Peer { return Peer{Workload: topology.None} }

// Evaluator judges a query by the policies of a kind; nil if they have no say in it. It is pure.
type Evaluator func(q Query, r *resolve.Resolution, k *resolve.Kind) *Judgement

// Judgement is what the policies of one kind say about a query.
type Judgement struct {
	Kind      model.GroupKind // filled in by Judge
	Outcome   request.Outcome
	Why       []string   // in plain words, the most telling first
	Decisions []Decision // at each place where it is decided; all have to allow
	Problems  []model.Problem
}

// Decision is what is decided at one place.
type Decision struct {
	Name    string // of the direction, "" where there is only one
	At      model.Ref
	Outcome request.Outcome
	Stage   string    // that decided; "" if none did
	By      []Decider // the rules that decided; of what is not evaluated those that might
	Why     []string
	Passed  []PassedStage // the stages before, in order
}

// PassedStage is a stage that did not decide.
type PassedStage struct {
	Stage string
	Why   string
	By    []Decider // the rules that handed on
}

// Decider is a rule of a policy, or a policy as a whole.
type Decider struct {
	Policy model.Ref
	Origin model.Origin
	Rule   string // as it is printed among the rules in force
	Title  string // the name that its author gave it
	Action string
}

// Evaluators are those that vendors registered, by name.
type Evaluators map[string]Evaluator

// Judge asks the kinds that judge queries, all or those given, and puts their judgements together:
// what one denies is denied, and what one does not know is known only if another one denies it.
// Without a judgement nothing forbids it.
func (e Evaluators) Judge(q Query, r *resolve.Resolution, kinds []model.GroupKind) (request.Outcome, []Judgement) {
	out := request.Allowed
	var judgements []Judgement
	for _, k := range r.Kinds {
		f := e[k.Evaluate]
		if f == nil || k.IsLaterScope() || !k.IsInUse() || kinds != nil && !slices.Contains(kinds, k.GroupKind) {
			continue
		}
		v := f(q, r, k)
		if v == nil {
			continue
		}
		v.Kind = k.GroupKind
		judgements = append(judgements, *v)
		out = CombineOutcomes(out, v.Outcome)
	}
	return out, judgements
}

// UnreadPolicies lists the policies that may judge a connection and that no evaluator reads.
func (e Evaluators) UnreadPolicies(q Query, r *resolve.Resolution, kinds []model.GroupKind) []*unread.Input {
	var ends []topology.NodeID
	for _, p := range []Peer{q.From, q.To} {
		if p.Workload != topology.None {
			ends = append(ends, p.Workload)
		}
	}
	return unread.ConnectionPolicies(r, ends, func(k *resolve.Kind) bool { return e[k.Evaluate] != nil }, kinds)
}

// CombineOutcomes returns the outcome where two have to allow.
func CombineOutcomes(a, b request.Outcome) request.Outcome {
	switch {
	case a == request.Denied || b == request.Denied:
		return request.Denied
	case a == request.NotEvaluated || b == request.NotEvaluated:
		return request.NotEvaluated
	}
	return request.Allowed
}
