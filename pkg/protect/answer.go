package protect

import (
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Answer is a status that a gate may answer with before a backend does.
type Answer struct {
	Status any       `json:"status"`          // a number, or "*" where a service chooses it
	Object model.Ref `json:"object"`          // whose gate it is
	Field  string    `json:"field,omitempty"` // that makes it

	Gate *Gate `json:"-"` // that answers
}

// PossibleAnswers lists what gates may answer to the request, with whatever credentials, in the
// order in which they are asked.
func (g *Gates) PossibleAnswers() []Answer {
	out := []Answer{}
	seen := map[string]bool{}
	for _, step := range g.listSteps() {
		if step.neverRefuses {
			continue
		}
		for _, one := range step.gates {
			for _, status := range one.Answers {
				key := status + " " + one.Object.String() + " " + one.Field
				if seen[key] {
					continue
				}
				seen[key] = true
				out = append(out, Answer{statusValue(status), one.Object, one.Field, one})
			}
		}
	}
	return out
}

// Step is one gate, or a group of alternatives, that a request meets.
type Step struct {
	Gates    []*Gate
	Passable bool // it never refuses the request, whatever the credentials
}

// Steps lists the gates that may answer, in the order in which they are asked.
func (g *Gates) Steps() []Step {
	all := g.listSteps()
	out := make([]Step, len(all))
	for i, s := range all {
		out[i] = Step{s.gates, s.neverRefuses}
	}
	return out
}

// gateStep is one gate, or a group of alternatives, that a request meets.
type gateStep struct {
	order          int
	gates          []*Gate
	neverRefuses   bool // it never refuses the request, whatever the credentials
	onSomeBackends bool // only some of the backends have it
}

// listSteps returns the gates in the order in which they are asked. Those whose credentials are
// missing count as asked.
func (g *Gates) listSteps() []gateStep {
	var out []gateStep
	at := map[string]int{}
	add := func(one *Gate, partly bool) {
		if len(one.Answers) == 0 && !one.HasReason(gate.DeniesAll) {
			return
		}
		if one.Group != "" {
			if i, known := at[one.Group]; known {
				out[i].gates = append(out[i].gates, one)
				return
			}
			at[one.Group] = len(out)
		}
		out = append(out, gateStep{order: one.Order, gates: []*Gate{one}, onSomeBackends: partly})
	}
	for i := range g.Before {
		add(&g.Before[i], false)
	}
	for _, b := range g.Backends {
		for i := range b {
			add(&b[i], len(g.Backends) > 1)
		}
	}
	out = slices.DeleteFunc(out, func(s gateStep) bool { return g.isAnsweredElsewhere(s.gates[0]) })
	for i := range out {
		s := &out[i]
		for _, one := range s.gates {
			s.neverRefuses = s.neverRefuses || one.isPassable()
		}
	}
	slices.SortStableFunc(out, func(a, b gateStep) int { return a.order - b.order })
	return out
}

// isAnsweredElsewhere reports whether a gate without statuses is that of a setting of which another
// gate has some.
func (g *Gates) isAnsweredElsewhere(one *Gate) bool {
	answers := func(all []Gate) bool {
		return slices.ContainsFunc(all, func(o Gate) bool {
			return len(o.Answers) > 0 && o.Object == one.Object &&
				o.Field == one.Field
		})
	}
	return len(one.Answers) == 0 && (answers(g.Before) || slices.ContainsFunc(g.Backends, answers))
}

// isPassable reports whether a gate lets requests pass with and without credentials. One that
// answers nothing where a credential is missing may refuse a bad one.
func (g *Gate) isPassable() bool {
	return g.Refuses == NeverRefuses && !g.HasReason(gate.MissingAllowed) && (len(g.Missing) > 0 || len(g.Answers) == 0)
}

// IsForMissing reports whether a gate answers a request without the credential with a status.
func (g *Gate) IsForMissing(status string) bool { return slices.Contains(g.Missing, status) }

// Outcome is what is known of the status of an answer to the request as it is written.
type Outcome struct {
	Certain  bool     // a gate refuses the request
	Statuses []string // that it may get from gates
	Through  bool     // it may get through to a backend
	By       []Answer // the gates that may answer
	Access   bool     // one of them may refuse it by who sends it, or with what
}

// Outcome tells which statuses the request may get from gates, as it is written: a credential that
// it does not have is missing, one that it has may be good or bad.
func (g *Gates) Outcome() Outcome {
	out := Outcome{Through: true}
	for _, s := range g.listSteps() {
		asked := slices.DeleteFunc(slices.Clone(s.gates), func(one *Gate) bool { return one.Refuses == NotAsked })
		passes := func(one *Gate) bool { return one.Refuses == NeverRefuses } // of alternatives one is enough
		if s.neverRefuses || len(asked) == 0 || slices.ContainsFunc(asked, passes) {
			continue
		}
		certain := !s.onSomeBackends
		for _, one := range asked {
			certain = certain && one.Refuses == AlwaysRefuses
		}
		for _, one := range asked {
			out.Access = out.Access || one.Property.IsAccess()
			answers := one.Answers
			if certain {
				answers = one.Missing
			}
			for _, status := range answers {
				if !slices.Contains(out.Statuses, status) {
					out.Statuses = append(out.Statuses, status)
				}
				out.By = append(out.By, Answer{statusValue(status), one.Object, one.Field, one})
			}
		}
		if certain {
			out.Certain, out.Through = true, false
			break
		}
	}
	return out
}

// statusValue is a status as answers show it: a number, else the text.
func statusValue(status string) any {
	if status == "" {
		return AnyStatus
	}
	if n, err := strconv.ParseUint(status, 10, 16); err == nil {
		return int(n)
	}
	return status
}
