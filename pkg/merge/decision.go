package merge

// Criterion is what decided between the winner of a loss and the loser.
type Criterion string

// The criteria. All but the first four are keys of a comparator.
const (
	CriterionLevel Criterion = "level" // the one is more specific
	// overrides beat what is not one, in the order of levels and in that of a comparator
	CriterionBlock      Criterion = "block"
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
	Criterion Criterion
	// the field, label or annotation, or what the kind calls the key; "": the key has no other name
	KeyName       string
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
	Source
	Decision Decision
}

// DecisionFunc says what decided between the loser of a loss and one of its winners, after the last
// step of the fold. It does not read the winners of the loss.
type DecisionFunc func(trace []Step, l *Loss, winner Source) Decision

// LossOf is an effect of a step of the trace that is a loss.
func (r *Result) LossOf(step int, e Effect) Loss {
	return newLoss(e, e.From[0], step, r.Trace, r.decide)
}

func newLoss(e Effect, from Source, step int, trace []Step, decide DecisionFunc) Loss {
	l := Loss{Rule: e.Rule, Path: e.Path, Value: e.Value, From: from, Reason: e.Reason, Step: step}
	if e.Reason == ConditionFalse {
		l.When = trace[step].When
	}
	l.setWinners(e.Other, trace, decide)
	return l
}

// DecisionAgainst returns what decides between the loser of a loss and a source that is not among
// its winners.
func (r *Result) DecisionAgainst(l *Loss, other Source) Decision {
	if r.decide == nil {
		return Decision{}
	}
	return r.decide(r.Trace, l, other)
}

// setWinners records the winners, each with what decided.
func (l *Loss) setWinners(winners []Source, trace []Step, decide DecisionFunc) {
	if len(winners) == 0 {
		return
	}
	l.To = make([]Winner, len(winners))
	for i, w := range winners {
		l.To[i].Source = w
		if decide != nil {
			l.To[i].Decision = decide(trace, l, w)
		}
	}
}

// WinningSources returns the winners without what decided.
func (l *Loss) WinningSources() []Source {
	out := make([]Source, len(l.To))
	for i, w := range l.To {
		out[i] = w.Source
	}
	return out
}
