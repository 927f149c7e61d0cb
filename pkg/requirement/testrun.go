package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// TestResult is what became of one test.
type TestResult struct {
	File       string   `json:"file"`       // that the test is in
	Line       int      `json:"line"`       // where it begins
	Name       string   `json:"name"`       // that it gives itself
	Passed     bool     `json:"passed"`     // everything expected was found, and nothing else
	Missing    []string `json:"missing"`    // what was expected and is not found
	Unexpected []string `json:"unexpected"` // what is found and was not expected
	Problems   []string `json:"problems"`   // why the test says less than it seems to, or cannot be run
	Checked    int      `json:"checked"`    // targets that were held against requirements
}

// NewTestResult begins the result of a test.
func NewTestResult(t *Test) TestResult {
	return TestResult{File: t.Origin.File, Line: t.Origin.Line, Name: t.Name, Missing: []string{}, Unexpected: []string{}, Problems: []string{}}
}

// Run holds the input of a test against requirements, and what is found against what is expected.
//
// Every finding has to be expected, and every expectation found. Of the requirements that the test names each has to select something;
// a test that names none is about all. That the others select nothing is no finding.
func (t *Test) Run(res *resolve.Resolution, reqs []*Requirement, by Deciders) TestResult {
	out := NewTestResult(t)
	out.Problems = append(out.Problems, t.strangeNames(reqs)...)
	judged := Judge(res, reqs, by)
	used := make([]bool, len(t.Expect))
	for _, f := range judged.told {
		if !t.covered(&f, used) {
			out.Unexpected = append(out.Unexpected, f.text())
		}
	}
	for i, e := range t.Expect {
		if !used[i] {
			out.Missing = append(out.Missing, e.text())
		}
	}
	for _, tally := range judged.Tallies {
		out.Checked += tally.Met + tally.NotMet + tally.Unknown + tally.Failed
		out.Problems = append(out.Problems, t.selected(tally)...)
	}
	out.Passed = len(out.Missing)+len(out.Unexpected)+len(out.Problems) == 0
	return out
}

// covered reports whether a finding is expected on all its paths, and notes the expectations that are met. The paths on which it is expected
// are taken from it.
func (t *Test) covered(f *told, used []bool) bool {
	expected := func(paths []view.Path) bool {
		any := false
		for i := range t.Expect {
			if t.Expect[i].matches(f, paths) {
				used[i], any = true, true
			}
		}
		return any
	}
	if len(f.paths) == 0 {
		return expected(nil)
	}
	var left []view.Path
	for i := range f.paths {
		if !expected(f.paths[i : i+1]) {
			left = append(left, f.paths[i])
		}
	}
	f.paths = left
	return left == nil
}

// selected says what is wrong with what a requirement selects in a test.
func (t *Test) selected(tally Tally) []string {
	name := tally.Requirement.Name
	named := len(t.Met)+len(t.SelectsNothing)+len(t.Expect) == 0 || slices.Contains(t.Met, name)
	for _, e := range t.Expect {
		named = named || e.Requirement == name
	}
	switch {
	case slices.Contains(t.SelectsNothing, name) && !tally.Nothing:
		return []string{fmt.Sprintf("%s selects something", name)}
	case !slices.Contains(t.SelectsNothing, name) && named && tally.Nothing:
		return []string{fmt.Sprintf("%s selects nothing (if that is meant: selectsNothing: [%s])", name, name)}
	case slices.Contains(t.Met, name) && tally.Met == 0 && !tally.Nothing:
		return []string{fmt.Sprintf("%s is met nowhere", name)}
	}
	return nil
}

// told is a finding as tests compare it.
type told struct {
	requirement string
	outcome     string
	target      model.Ref
	paths       []view.Path
	message     string
}

func (f *told) text() string {
	s := f.requirement + " "
	switch f.outcome {
	case notMet:
		s += "is not met"
	case unknown:
		s += "is not known to be met"
	default:
		s += "fails"
	}
	if f.target.Name != "" {
		s += " on " + targetText(f.target)
	}
	if via := view.Via(f.paths, f.target); via != "" {
		s += " via " + via
	}
	return s + ": " + f.message
}

// targetText is a target as tests write it.
func targetText(r model.Ref) string {
	s := strings.ToLower(r.Kind) + "/" + r.FullName()
	if r.Section != "" {
		s += "/" + r.Section
	}
	return s
}

func (e *Expectation) text() string {
	f := told{requirement: e.Requirement, outcome: e.Outcome}
	s := strings.TrimSuffix(f.text(), ": ")
	if e.Target != "" {
		s += " on " + e.Target
	}
	if e.Via != "" {
		s += " via " + e.Via
	}
	if e.Message != "" {
		s += ": …" + e.Message + "…"
	}
	return s
}

// matches reports whether a finding on some paths is what is expected.
func (e *Expectation) matches(f *told, paths []view.Path) bool {
	return e.Requirement == f.requirement && e.Outcome == f.outcome && strings.Contains(f.message, e.Message) && e.on(f.target) && e.through(paths)
}

// on reports whether a target is meant: a name without a section means all of the object.
func (e *Expectation) on(target model.Ref) bool {
	kind, rest, _ := strings.Cut(e.Target, "/")
	want := strings.ToLower(kind) + "/" + rest
	return e.Target == "" || want == targetText(target) || want == targetText(target.WithoutSection())
}

// through reports whether all paths are through what is meant.
func (e *Expectation) through(paths []view.Path) bool {
	if e.Via == "" {
		return true
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p view.Path) bool { return e.Via != p.Gateway && e.Via != p.Gateway+"/"+p.Listener })
}
