package check

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/lint"
	"github.com/dopolicy/kubectl-dopolicy/pkg/metric"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// Options say what is checked and what does not count.
type Options struct {
	Kinds []model.GroupKind // findings about policies of other kinds are left out; nil: every kind
	// findings about objects of other namespaces are left out; nil: every namespace
	In           func(namespace string) bool
	Ignore       []string // ids that do not count, of the command line
	Config       Config
	Requirements []*requirement.Requirement // that have to be met
	Requests     requirement.Deciders       // decide what requirements ask about requests
	// says of which kinds no schema is known; nil: not asked
	Unjudged func(*resolve.Resolution) []model.Problem
	// looks for spellings of requests that bypass policies; nil: not checked
	Spellings func(*resolve.Resolution) []model.Problem
	// looks for policies that do not protect as they seem to; nil: not checked
	Protection     func(*resolve.Resolution) []model.Problem
	ShowSuppressed bool      // list what does not count as well
	Verbose        bool      // print notes as well
	Catalogue      Catalogue // documents what can be found
	FailOn         Threshold // from which severity on a finding fails

	// Findings look for more; nil: there is nobody to ask.
	Findings func(*resolve.Resolution) []model.Problem
}

// Summary counts findings by severity; those that do not count are counted apart.
type Summary struct {
	Error      int `json:"error"`      // that count, of severity error
	Warning    int `json:"warning"`    // that count, of severity warning
	Info       int `json:"info"`       // that count, of severity info
	Suppressed int `json:"suppressed"` // that do not count
}

// Report answers `check`. Its problems are what makes it incomplete; they are findings as well.
type Report struct {
	view.Envelope
	Summary Summary   `json:"summary"` // how many findings there are
	Items   []Finding `json:"items"`   // sorted by severity, id, object, place and message
	// what a baseline left out; absent if there is none
	Baseline *BaselineResult `json:"baseline,omitempty"`

	Suppressed []Finding `json:"-"` // those that do not count, whether or not Items has them
	Checked    int       `json:"-"` // how many objects were looked at
	FailOn     Threshold `json:"-"`
	Catalogue  Catalogue `json:"-"` // documents the findings, those about requirements as well
	Command    string    `json:"-"` // that made it, if it is another than check
	Unused     []string  `json:"-"` // entries of the config that matched nothing, a sentence each

	Beside []metric.Family `json:"-"` // what other answers about the input count, for Metrics

	verbose bool
}

// Run checks everything that was read and resolved.
func Run(r *resolve.Resolution, o Options) *Report {
	found := collectFindings(r, o)
	out := &Report{Items: []Finding{}, Checked: r.Snapshot.CountRead(), FailOn: o.FailOn,
		Catalogue: o.Catalogue.With(o.Requirements), verbose: o.Verbose}
	var incomplete []model.Problem
	for _, f := range found {
		if p := f.toProblem(); f.isIncomplete() && (p.Severity == model.Error || o.selectsFinding(f, r)) {
			incomplete = append(incomplete, p)
		}
	}
	out.Finish("CheckReport", incomplete)
	found = slices.DeleteFunc(found, func(f Finding) bool { return !o.selectsFinding(f, r) })
	found = sortFindings(append(found, findUnknownIgnores(r, o)...))
	s := newSuppressor(r, o)
	for _, f := range found {
		f.Severity = cmp.Or(o.Config.severityOf(f.ID), o.Catalogue.findSeverity(f.toProblem(), r.Snapshot))
		if f.Suppressed = s.findSuppression(&f); f.Suppressed != nil {
			out.Suppressed = append(out.Suppressed, f)
			if !o.ShowSuppressed {
				continue
			}
		}
		out.Items = append(out.Items, f)
	}
	out.Items, out.Unused = sortFindings(out.Items), s.listUnused()
	out.countItems()
	return out
}

// collectFindings returns all findings, as they come. Every package that looks for problems has its
// line here.
func collectFindings(r *resolve.Resolution, o Options) []Finding {
	var out []Finding
	var protection, more []model.Problem
	if o.Protection != nil {
		protection = o.Protection(r)
	}
	if o.Findings != nil {
		more = o.Findings(r)
	}
	required := requirement.FindProblems(r, o.Requirements, o.Requests)
	for _, problems := range [][]model.Problem{
		collect.Problems(r, o.Kinds), // the input, the graph, the resolution, every fold
		lint.FindProblems(r, o.Catalogue.sameTargetCodes()),
		o.unjudgedProblems(r),
		required,
		o.spellingProblems(r, required),
		protection,
	} {
		for _, p := range problems {
			out = append(out, NewFinding(p))
		}
	}
	for _, p := range more {
		f := NewFinding(p)
		f.isKnown = p.Code != model.NotEvaluated // an error is one of the policy, not of reading it
		out = append(out, f)
	}
	return out
}

// unjudgedProblems returns of which kinds no schema is known.
func (o *Options) unjudgedProblems(r *resolve.Resolution) []model.Problem {
	if o.Unjudged == nil {
		return nil
	}
	return o.Unjudged(r)
}

// spellingProblems returns the spellings of requests that get around policies, at rules of which
// requirements do not say it already.
func (o *Options) spellingProblems(r *resolve.Resolution, required []model.Problem) []model.Problem {
	if o.Spellings == nil {
		return nil
	}
	return slices.DeleteFunc(o.Spellings(r), func(p model.Problem) bool {
		return slices.ContainsFunc(required, func(q model.Problem) bool {
			return q.Code == model.SpellingBypass && model.ComparePointers(p.Ref, q.Ref, model.Ref.Compare) == 0
		})
	})
}

// isIncomplete reports whether a finding says that something is not known. That a requirement is
// not met is known.
func (f *Finding) isIncomplete() bool {
	if f.isKnown || strings.HasPrefix(f.ID, requirement.CodePrefix) {
		return false
	}
	return f.ID == string(model.RequirementUnknown) || f.toProblem().IsIncomplete()
}

// selectsFinding reports whether a finding is about what was asked for. What is about no object
// always is.
func (o *Options) selectsFinding(f Finding, r *resolve.Resolution) bool {
	if f.Ref == nil {
		return true
	}
	if o.In != nil && f.Ref.Namespace != "" && !o.In(f.Ref.Namespace) {
		return false
	}
	return o.Kinds == nil || slices.Contains(o.Kinds, f.Ref.GroupKind()) ||
		!slices.ContainsFunc(r.Kinds, func(k *resolve.Kind) bool { return k.GroupKind == f.Ref.GroupKind() })
}

func (r *Report) countItems() {
	r.Summary = Summary{Suppressed: len(r.Suppressed)}
	for _, f := range r.Items {
		switch {
		case f.Suppressed != nil:
		case f.Severity == model.Error:
			r.Summary.Error++
		case f.Severity == model.Warning:
			r.Summary.Warning++
		default:
			r.Summary.Info++
		}
	}
}

// Fails reports whether a finding counts that is bad enough.
func (r *Report) Fails() bool { return slices.ContainsFunc(r.Items, r.Failing) }

// Failing reports whether a finding counts and is bad enough to fail.
func (r *Report) Failing(f Finding) bool {
	return f.Suppressed == nil && r.FailOn.isReached(f.Severity)
}

// All returns the findings that count and those that do not, in their order.
func (r *Report) All() []Finding {
	out := slices.DeleteFunc(slices.Clone(r.Items), func(f Finding) bool { return f.Suppressed != nil })
	return sortFindings(append(out, r.Suppressed...))
}

// toProblem is a finding as a problem.
func (f *Finding) toProblem() model.Problem {
	return model.Problem{Severity: f.Severity, Code: model.Code(f.ID), Ref: f.Ref, Origin: f.Origin,
		Message: f.Message, Hint: f.Hint}
}

// sortFindings returns the findings in their order, each once.
func sortFindings(all []Finding) []Finding {
	slices.SortStableFunc(all, func(a, b Finding) int {
		return cmp.Or(a.Severity.Compare(b.Severity), cmp.Compare(a.ID, b.ID), model.ComparePointers(a.Ref, b.Ref,
			model.Ref.Compare),
			model.ComparePointers(a.Origin, b.Origin, model.Origin.Compare), cmp.Compare(a.Message,
				b.Message), cmp.Compare(a.Hint, b.Hint))
	})
	return slices.CompactFunc(all, func(a, b Finding) bool {
		return a.ID == b.ID && a.Severity == b.Severity && a.Message == b.Message &&
			model.ComparePointers(a.Ref, b.Ref, model.Ref.Compare) == 0 &&
			model.ComparePointers(a.Origin, b.Origin, model.Origin.Compare) == 0
	})
}
