package merge

// Criterion is what decided between the winner of a loss and the loser.
type Criterion string

// The criteria. All but the first four are keys of a comparator.
const (
	CriterionLevel      Criterion = "level"    // the one is more specific
	CriterionBlock      Criterion = "block"    // overrides beat what is not one, in the order of levels and in that of a comparator
	CriterionStrategy   Criterion = "strategy" // a set gives way, or replaces, as a whole
	CriterionBuiltin    Criterion = "builtIn"  // what no policy wrote beats policies
	CriterionOrder      Criterion = "order"    // an order that has no name
	CriterionAge        Criterion = "age"
	CriterionName       Criterion = "name"
	CriterionNamespace  Criterion = "namespace"
	CriterionSection    Criterion = "section"
	CriterionPosition   Criterion = "position"
	CriterionField      Criterion = "field"
	CriterionLabel      Criterion = "label"
	CriterionAnnotation Criterion = "annotation"
)

// Decision is what made a winner win, with what was compared.
type Decision struct {
	Criterion     Criterion
	Called        string // the field, label or annotation, or what the kind calls the key; "": the key has no other name
	Winner, Loser string // what was compared; "" where there is nothing to show
	Last          bool   // of a comparator: the winner comes behind the loser, else before it
	Overrides     bool   // of a comparator: wherever the winner stands, its overrides beat defaults
	Age           Age    // of a comparator: why the age did not decide, where it comes before the key
}

// Age says why the age of two policies does not tell them apart.
type Age uint8

// Why age did not decide.
const (
	AgeNotAsked Age = iota // it decided, or comes behind the key
	AgeUnknown             // one of the two has no creation time
	AgeIgnored             // some other policy that they are ordered with has none
	AgeEqual               // they were created in the same second
)

// Winner is who a rule was lost to, and what decided.
type Winner struct {
	From
	By Decision
}

// Decide says what decided between the loser of a loss and one of its winners, after the last step of the fold. The winners of the loss are
// not read.
type Decide func(trace []Step, l *Loss, winner From) Decision

// LossOf is an effect of a step of the trace that is a loss.
func (r *Result) LossOf(step int, e Effect) Loss {
	return newLoss(e, e.From[0], step, r.Trace, r.decide)
}

func newLoss(e Effect, from From, step int, trace []Step, decide Decide) Loss {
	l := Loss{Rule: e.Rule, Path: e.Path, Value: e.Value, From: from, Reason: e.Reason, Step: step}
	if e.Reason == ConditionFalse {
		l.When = trace[step].When
	}
	l.lostTo(e.Other, trace, decide)
	return l
}

// Decision is what decides between the loser of a loss and somebody else than its winners.
func (r *Result) Decision(l *Loss, other From) Decision {
	if r.decide == nil {
		return Decision{}
	}
	return r.decide(r.Trace, l, other)
}

// lostTo notes the winners.
func (l *Loss) lostTo(winners []From, trace []Step, decide Decide) {
	if len(winners) == 0 {
		return
	}
	l.To = make([]Winner, len(winners))
	for i, w := range winners {
		l.To[i].From = w
		if decide != nil {
			l.To[i].By = decide(trace, l, w)
		}
	}
}

// Sources are the winners without what decided.
func (l *Loss) Sources() []From {
	out := make([]From, len(l.To))
	for i, w := range l.To {
		out[i] = w.From
	}
	return out
}
