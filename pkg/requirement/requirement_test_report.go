package requirement

import (
	"fmt"
	"path"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// TestSummary counts tests.
type TestSummary struct {
	Passed int `json:"passed"` // tests that pass
	Failed int `json:"failed"` // tests that fail
}

// TestReport answers `check test`.
type TestReport struct {
	view.Envelope
	Summary TestSummary  `json:"summary"` // how many tests there are
	Items   []TestResult `json:"items"`   // by file and line

	files map[string]bool
}

// NewTestReport gathers the results of tests, in their order.
func NewTestReport(results []TestResult) *TestReport {
	out := &TestReport{Items: []TestResult{}, files: map[string]bool{}}
	for _, r := range results {
		out.files[r.File] = true
		out.Items = append(out.Items, r)
		if r.Passed {
			out.Summary.Passed++
		} else {
			out.Summary.Failed++
		}
	}
	out.Finish("RequirementTestReport", nil)
	return out
}

// Table is a line for every test, and below those that fail what is different.
func (r *TestReport) Table(view.TableOptions) view.Table {
	b := view.Block{Columns: []view.Column{{Name: "RESULT"}, {Name: "WHERE", Rank: 2, MinWidth: 16, Shorten: path.Base}, {Name: "TEST", Rank: 9, MinWidth: 40, Wrap: true}}}
	for _, t := range r.Items {
		result := view.Cell{Text: "ok", Tone: view.Good}
		if !t.Passed {
			result = view.Cell{Text: "FAIL", Tone: view.Bad}
		}
		b.Rows = append(b.Rows, []view.Cell{result, {Text: fmt.Sprintf("%s:%d", t.File, t.Line)}, {Text: t.Name}})
		for _, line := range t.Differences() {
			b.Rows = append(b.Rows, []view.Cell{{}, {}, {Text: "  " + line}})
		}
	}
	line := fmt.Sprintf("%s passed", view.FormatCount(r.Summary.Passed, "test"))
	if r.Summary.Failed > 0 {
		line = fmt.Sprintf("%d of %s failed", r.Summary.Failed, view.FormatCount(len(r.Items), "test"))
	}
	return view.Table{Blocks: []view.Block{b}, Footer: []string{line + " in " + view.FormatCount(len(r.files), "file")}}
}

// Differences are what makes a test fail, a line each.
func (t *TestResult) Differences() []string {
	var out []string
	for _, of := range []struct {
		word  string
		lines []string
	}{{"missing: ", t.Missing}, {"unexpected: ", t.Unexpected}, {"", t.Problems}} {
		for _, line := range of.lines {
			out = append(out, of.word+line)
		}
	}
	return out
}

// Fails reports whether a test fails.
func (r *TestReport) Fails() bool { return r.Summary.Failed > 0 }
