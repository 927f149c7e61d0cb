package render

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
)

// writeTestJUnit writes the results of tests of requirements as JUnit XML: a suite for every file,
// in it a case for every test.
func writeTestJUnit(w *bufio.Writer, r *requirement.TestReport) error {
	all := junitSuites{Name: "kubectl dopolicy check test"}
	suites := map[string]*junitSuite{}
	for _, t := range r.Items {
		s := suites[t.File]
		if s == nil {
			s = &junitSuite{Name: escape.Escape(t.File)}
			suites[t.File], all.Suites = s, append(all.Suites, s)
		}
		c := &junitCase{Class: escape.Escape(t.File), Name: escape.Escape(t.Name)}
		if lines := t.Differences(); !t.Passed {
			for i := range lines {
				lines[i] = escape.Escape(lines[i])
			}
			c.Failure = &junitFailure{Type: "RequirementTest", Message: lines[0], Text: fmt.Sprintf("%s:%d\n%s",
				escape.Escape(t.File), t.Line, strings.Join(lines, "\n"))}
			s.Failures++
		}
		s.Tests++
		s.Cases = append(s.Cases, c)
	}
	for _, s := range all.Suites {
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
	}
	return all.writeXML(w)
}
