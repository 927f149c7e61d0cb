package evaluate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// Evaluator judges a request by the policies of a kind where it enters: at its Gateway, or at the
// Service that a client in the mesh asks for. nil: they have no say in it. It is pure.
type Evaluator func(a *request.Answer, r *resolve.Resolution, k *resolve.Kind) *Judgement

// Judgement is what the policies of one kind say about a request.
type Judgement struct {
	Kind      model.GroupKind // filled in by Judge
	Outcome   request.Outcome
	Why       []string   // in plain words, the most telling first
	Decisions []Decision // at each place where it is decided; all have to allow
	Problems  []model.Problem
}

// Decision is what is decided about a request or a connection at one place.
type Decision struct {
	Name    string // of the direction, "" where there is only one
	At      model.Ref
	Outcome request.Outcome
	Stage   string    // that decided; "" if none did
	By      []Decider // the rules that decided; of what is not evaluated those that might
	Why     []string
	Passed  []PassedStage // the stages before, in order
	// Refusing are the policies there that may refuse, in the order in which they are asked, of a kind
	// whose policies need not; nil: all that are in force.
	Refusing []model.Ref
}

// FormatReason says in one sentence what decided: the rules, else why.
func (d *Decision) FormatReason() string {
	const most = 2
	var by []string
	for _, r := range d.By[:min(len(d.By), most)] {
		by = append(by, cmp.Or(r.Title, r.Rule)+" of "+r.Policy.String())
	}
	if more := len(d.By) - most; more > 0 {
		by = append(by, fmt.Sprintf("%d more", more))
	}
	why := strings.Join(d.Why, "; ")
	switch {
	case len(by) == 0 || d.Outcome == request.NotEvaluated && why != "":
		return why
	case why == "":
		return strings.Join(by, ", ")
	}
	return strings.Join(by, ", ") + ": " + why
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

// Judge asks the kinds that judge requests, all or those given.
func (e Evaluators) Judge(a *request.Answer, r *resolve.Resolution, kinds []model.GroupKind) []Judgement {
	var judgements []Judgement
	for _, k := range r.Kinds {
		f := e[k.Evaluate]
		if f == nil || k.IsLaterScope() || !k.IsInUse() || kinds != nil && !slices.Contains(kinds, k.GroupKind) {
			continue
		}
		v := f(a, r, k)
		if v == nil {
			continue
		}
		v.Kind = k.GroupKind
		judgements = append(judgements, *v)
	}
	return judgements
}
