package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// TestResult is the result of one test.
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
	return TestResult{File: t.Origin.File, Line: t.Origin.Line, Name: t.Name, Missing: []string{},
		Unexpected: []string{}, Problems: []string{}}
}

// Run checks the input of a test against requirements, and compares the findings with those
// expected. Every finding has to be expected, and every expectation found. Of the requirements that
// the test names each has to select something; a test that names none is about all. That the others
// select nothing is no finding.
func (t *Test) Run(res *resolve.Resolution, reqs []*Requirement, by Deciders) TestResult {
	out := NewTestResult(t)
	out.Problems = append(out.Problems, t.findUnknownNames(reqs)...)
	judged := Assess(res, reqs, by)
	used := make([]bool, len(t.Expect))
	for _, f := range judged.testFindings {
		if !t.isExpected(&f, used) {
			out.Unexpected = append(out.Unexpected, f.formatFinding())
		}
	}
	for i, e := range t.Expect {
		if !used[i] {
			out.Missing = append(out.Missing, e.formatExpectation())
		}
	}
	for _, tally := range judged.Tallies {
		out.Checked += tally.Met + tally.NotMet + tally.Unknown + tally.Failed
		out.Problems = append(out.Problems, t.checkSelected(tally)...)
	}
	out.Passed = len(out.Missing)+len(out.Unexpected)+len(out.Problems) == 0
	return out
}

// isExpected reports whether a finding is expected on all its paths, and notes the expectations
// that are met. The paths on which it is expected are taken from it.
func (t *Test) isExpected(f *testFinding, used []bool) bool {
	expected := func(paths []view.Path) bool {
		any := false
		for i := range t.Expect {
			if t.Expect[i].matchesFinding(f, paths) {
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

// checkSelected says what is wrong with what a requirement selects in a test.
func (t *Test) checkSelected(tally Tally) []string {
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

// testFinding is a finding as tests compare it.
type testFinding struct {
	requirement string
	outcome     string
	target      model.Ref
	paths       []view.Path
	message     string
}

func (f *testFinding) formatFinding() string {
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
		s += " on " + formatTarget(f.target)
	}
	if via := view.PathsVia(f.paths, f.target); via != "" {
		s += " via " + via
	}
	return s + ": " + f.message
}

// formatTarget is a target as tests write it.
func formatTarget(r model.Ref) string {
	s := strings.ToLower(r.Kind) + "/" + r.FullName()
	if r.Section != "" {
		s += "/" + r.Section
	}
	return s
}

func (e *Expectation) formatExpectation() string {
	f := testFinding{requirement: e.Requirement, outcome: e.Outcome}
	s := strings.TrimSuffix(f.formatFinding(), ": ")
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

// matchesFinding reports whether a finding on some paths is what is expected.
func (e *Expectation) matchesFinding(f *testFinding, paths []view.Path) bool {
	return e.Requirement == f.requirement && e.Outcome == f.outcome && strings.Contains(f.message, e.Message) &&
		e.matchesTarget(f.target) && e.matchesPaths(paths)
}

// matchesTarget reports whether a target is meant: a name without a section means all of the
// object.
func (e *Expectation) matchesTarget(target model.Ref) bool {
	kind, rest, _ := strings.Cut(e.Target, "/")
	want := strings.ToLower(kind) + "/" + rest
	return e.Target == "" || want == formatTarget(target) || want == formatTarget(target.WithoutSection())
}

// matchesPaths reports whether all paths are through what is meant.
func (e *Expectation) matchesPaths(paths []view.Path) bool {
	if e.Via == "" {
		return true
	}
	return len(paths) > 0 && !slices.ContainsFunc(paths, func(p view.Path) bool {
		return e.Via != p.Gateway &&
			e.Via != p.Gateway+"/"+p.Listener
	})
}
