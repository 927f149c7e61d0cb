package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// APIVersion is the version of all shapes of this package. Fields may be added to them, never
// renamed.
const APIVersion = "dopolicy.dev/v1alpha1"

// Envelope opens every answer.
type Envelope struct {
	APIVersion string `json:"apiVersion"` // of the shape
	Kind       string `json:"kind"`       // the name of the shape
	// false: something that could change the answer is not known; problems say what
	Complete bool            `json:"complete"`
	Problems []model.Problem `json:"problems"` // what is wrong or not known, the worst first

	isRelevant        func(model.Problem) bool // whether a problem matters to the answer; nil: each does
	isForceUnknown    bool                     // it is not known whether a policy is in force where none is found
	hasUnreadPolicies bool                     // not all policies were read that may be in force there
	elsewhere         []model.Ref              // where policies are in force on its traffic, if none are on itself
}

// Finish fills in the version and the kind, sorts the problems, and sets whether the answer is
// complete.
func (e *Envelope) Finish(kind string, problems []model.Problem) {
	e.APIVersion, e.Kind, e.Complete = APIVersion, kind, true
	e.Problems = model.SortProblems(problems)
	if e.Problems == nil {
		e.Problems = []model.Problem{}
	}
	for _, p := range e.Problems {
		if p.IsIncomplete() {
			e.Complete = false
		}
	}
}

// Opening returns the envelope with which the answer begins.
func (e *Envelope) Opening() *Envelope { return e }

// GenericLine names the kinds in view that have no descriptor.
func (e *Envelope) GenericLine() []string {
	var kinds []string
	for _, p := range e.Problems {
		if p.Code == model.GenericKind && p.Ref != nil {
			kinds = append(kinds, p.Ref.Kind)
		}
	}
	if len(kinds) == 0 {
		return nil
	}
	return []string{strings.Join(kinds, ", ") + ": not built in, so read by the general rules of GEP-713; the controller may differ"}
}

// NothingInForceText says that nothing is in force on what was asked about.
func (e *Envelope) NothingInForceText(o TableOptions) string {
	text := e.NoPolicyText() + " is in force "
	if o.Target == "" {
		text += "here"
	} else {
		text += "on " + o.Target
	}
	return text + e.ElsewhereText(o)
}

// SetElsewhere notes where policies are in force on the traffic of what was asked about, if none
// are on itself.
func (e *Envelope) SetElsewhere(places []model.Ref) { e.elsewhere = places }

// Elsewhere is where policies are in force on the traffic of what was asked about, if none are on
// itself.
func (e *Envelope) Elsewhere() []model.Ref { return e.elsewhere }

// ElsewhereText says the same as the end of a sentence, with the command that shows them; "" where
// there is nothing to say.
func (e *Envelope) ElsewhereText(o TableOptions) string {
	if len(e.elsewhere) == 0 {
		return ""
	}
	names := make([]string, len(e.elsewhere))
	for i, place := range e.elsewhere {
		names[i] = place.String()
	}
	return "; policies at " + JoinNames(names, o) + " apply to its traffic: " + o.FormatCommand("effective", names[0])
}

// NoPolicyText is the subject of a sentence about the absence of policies. It claims no more than
// is known.
func (e *Envelope) NoPolicyText() string {
	if e.isForceUnknown ||
		slices.ContainsFunc(e.Problems, func(p model.Problem) bool { return p.Code == model.Forbidden }) {
		return "cannot tell whether a policy"
	}
	if e.hasUnreadPolicies {
		return "no policy that was read"
	}
	return "no policy"
}

// LimitRelevance adds a condition that a problem has to meet to matter to the answer.
func (e *Envelope) LimitRelevance(isRelevant func(model.Problem) bool) {
	before := e.isRelevant
	if before == nil {
		e.isRelevant = isRelevant
		return
	}
	e.isRelevant = func(p model.Problem) bool { return isRelevant(p) && before(p) }
}

// SetPolicyUnknown notes whether it is unknown if a policy is in force where none is found.
func (e *Envelope) SetPolicyUnknown(unknown bool) { e.isForceUnknown = unknown }

// SetPolicyOmission notes what was not read and may make a policy where none is found; nil is
// nothing. An answer that does not say that something is not evaluated says it of that, and is
// incomplete. It is called after Finish.
func (e *Envelope) SetPolicyOmission(o *model.Omission) {
	if o == nil {
		return
	}
	e.hasUnreadPolicies = true
	if !slices.ContainsFunc(e.Problems, model.Problem.IsUnevaluated) {
		e.Complete = false
		e.Problems = model.SortProblems(append(e.Problems, model.Problem{Severity: model.Warning,
			Code: model.NotEvaluated, Message: o.String() + ", and may make a policy that is in force here"}))
	}
}

// RelevantProblems returns the problems that could change the answer, and those of what it depends
// on, in their order. What else is wrong with the input is only among Problems.
func (e *Envelope) RelevantProblems() []model.Problem {
	if e.isRelevant == nil {
		return e.Problems
	}
	return slices.DeleteFunc(slices.Clone(e.Problems), func(p model.Problem) bool { return !e.isRelevant(p) })
}

// IncompleteLines returns the last line of an answer that may be wrong because input is missing,
// with the causes in counts. It is nil if the answer is complete.
func (e *Envelope) IncompleteLines() []string {
	if e.Complete {
		return nil
	}
	var lists, unjudged, errors int
	for _, p := range e.Problems {
		switch {
		case p.Severity == model.Error:
			errors++
		case !p.IsIncomplete():
		case p.Code == model.Forbidden:
			lists++
		default:
			unjudged++
		}
	}
	var causes []string
	add := func(n int, noun string) {
		if n > 0 {
			causes = append(causes, FormatCount(n, noun))
		}
	}
	add(lists, "list was not readable|lists were not readable")
	add(errors, "error")
	add(unjudged, "thing was not evaluated|things were not evaluated")
	if causes == nil {
		return []string{"incomplete"}
	}
	return []string{"incomplete: " + strings.Join(causes, ", ")}
}
