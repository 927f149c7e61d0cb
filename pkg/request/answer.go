package request

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Outcome is what becomes of a request.
type Outcome string

// The outcomes. Passthrough: traffic in the mesh that no route governs goes to the Service itself.
// Conditional: it depends on something that no manifest tells.
const (
	Matched      Outcome = "Matched"
	NoMatch      Outcome = "NoMatch"
	Misdirected  Outcome = "Misdirected"
	Redirect     Outcome = "Redirect"
	BackendError Outcome = "BackendError"
	Passthrough  Outcome = "Passthrough"
	Conditional  Outcome = "Conditional"
)

// Answer is what becomes of a request, and why. Nodes that it has none of are topology.None.
type Answer struct {
	Request  Request
	Outcome  Outcome
	Assumed  Outcome // of a Conditional answer: the outcome if what is not known changes nothing
	Gateway  topology.NodeID
	Listener topology.NodeID // or the Service, or its port, that a request in the mesh is made to
	Service  model.Ref       // of a request in the mesh
	Route    topology.NodeID
	Rule     topology.NodeID
	// of the path, that the match asks for by which the rule takes it; "": it asks for none
	Prefix   string
	Backends []topology.BackendRef // the usable ones
	Sends    *Sent                 // what the backends get; nil: none gets the request, or nothing of it is seen
	Location *Location             // of a Redirect
	Status   int                   // that the Gateway itself answers with; 0: it does not, or not with HTTP
	Filters  []string              // of the rule, by type
	// OpenFilters are the filters of the rule that may answer the request themselves.
	OpenFilters []OpenFilter
	Why         []string    // the comparisons that decided
	Shadowed    []model.Ref // rules of other routes that match as well, best first, one of each route
	NearMisses  []NearMiss  // where nothing takes it: what nearly does, nearest first
	// of a rule of which some backends cannot be used: which share of the requests fails, and why
	Failing  string
	Problems []model.Problem

	// RuleUncertain is set in a Conditional answer if even the rule is not certain. If it is not
	// set, only what the rule does is open.
	RuleUncertain bool

	// RewrittenByListener is set if filters of the listener may change what rules look at. Possible
	// then has all rules of the listener that are for the host.
	RewrittenByListener bool

	// Possible is what becomes of the request by each rule that may take it, where it is not known
	// which one does and these are all; one without a rule means that no rule takes it. Only
	// FindRule sets it.
	Possible []*Answer

	// the path as filters and policies see it, where the data plane normalises the request itself
	// and not only what it compares; "": as it is written
	SeenPath string

	doubts, candidateDoubts int // how many reasons make the rule uncertain: in all, and because of its candidates
	// how many reasons make the answer conditional: in all, and because of the filters of the listener
	conditions, listenerConditions int
}

// OpenFilter is a filter of a rule of which neither the Gateway API nor what is known of the
// implementation says what it does.
type OpenFilter struct {
	Type string
	Ref  model.Ref // what an ExtensionRef names
}

// describe names the filter.
func (f OpenFilter) describe() string {
	if f.Ref.Kind == "" {
		return "filter " + f.Type
	}
	return "filter " + f.Ref.Kind + " " + f.Ref.Name
}

// Location is where a redirect leads.
type Location struct {
	Status int
	URL    string

	loops bool // it is the request itself
}

// makeRuleUncertain makes the outcome, and with it the rule, depend on something. The first reason
// says what is assumed.
func (a *Answer) makeRuleUncertain(why string) {
	a.RuleUncertain = true
	a.doubts++
	a.makeConditional(why)
}

// makeConditional makes the outcome depend on something that cannot change which rule takes the
// request.
func (a *Answer) makeConditional(why string) {
	if a.Outcome != Conditional {
		a.Assumed, a.Outcome = a.Outcome, Conditional
	}
	a.conditions++
	a.Why = append(a.Why, "it depends: "+why)
}

// IsRuleConditional reports whether what becomes of the request depends on more than the filters of the
// listener.
func (a *Answer) IsRuleConditional() bool {
	return a.Outcome == Conditional && a.conditions > a.listenerConditions
}

// DependsOnFiltersAlone reports whether nothing makes the answer conditional but filters of the rule:
// who knows what each of OpenFilters does knows that Assumed is the outcome.
func (a *Answer) DependsOnFiltersAlone() bool {
	return a.Outcome == Conditional && a.conditions == len(a.OpenFilters)
}

func (a *Answer) addProblem(severity model.Severity, code model.Code, about *model.Object, message, hint string) {
	p := model.Problem{Severity: severity, Code: code, Message: message, Hint: hint}
	if about != nil {
		p = p.At(about)
	}
	a.Problems = append(a.Problems, p)
}

// answerKey is the part of an answer that another setting may change.
type answerKey struct {
	outcome  Outcome
	listener topology.NodeID
	rule     topology.NodeID
}

func (a *Answer) toKey() answerKey { return answerKey{a.Outcome, a.Listener, a.Rule} }

// The outcomes at a proxy of Ingresses, beside those of routing and of judgements. Answered: the proxy
// itself answers, and no backend gets it.
const (
	Answered Outcome = "Answered"
	Limited  Outcome = "Limited" // a limit refuses it, or some of those that are sent with it
)

// The outcomes of a judgement. NotEvaluated: the input does not tell.
const (
	Allowed      Outcome = "Allowed"
	Denied       Outcome = "Denied"
	NotEvaluated Outcome = "NotEvaluated"
)
