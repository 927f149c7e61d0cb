package render

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/xml"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// The elements of JUnit's XML, as the XSD of Jenkins has them.
type (
	junitSuites struct {
		XMLName  xml.Name `xml:"testsuites"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Suites   []*junitSuite
	}
	junitSuite struct {
		XMLName  xml.Name `xml:"testsuite"`
		Name     string   `xml:"name,attr"`
		Tests    int      `xml:"tests,attr"`
		Failures int      `xml:"failures,attr"`
		Errors   int      `xml:"errors,attr"`
		Skipped  int      `xml:"skipped,attr"`
		Cases    []*junitCase
	}
	junitCase struct {
		XMLName xml.Name      `xml:"testcase"`
		Class   string        `xml:"classname,attr"`
		Name    string        `xml:"name,attr"`
		Skipped *string       `xml:"skipped"`
		Failure *junitFailure `xml:"failure"`
		Out     string        `xml:"system-out,omitempty"`

		failing, ignored, notes []string
		first                   string
	}
	junitFailure struct {
		Type    string `xml:"type,attr"`
		Message string `xml:"message,attr"`
		Text    string `xml:",chardata"`
	}
)

// junitName is the class of all that the program tests.
const junitName = "kubectl dopolicy check"

// writeJUnit writes a report as JUnit XML: a suite for every file, in it a case for every id and
// object. What counts is a failure, what does not count is skipped, what is not bad enough stands
// in the case's output. A case of its own says what was checked, so that there is always one.
func writeJUnit(w *bufio.Writer, r *check.Report, o Options) error {
	command := cmp.Or(r.Command, junitName)
	all := junitSuites{Name: command}
	about := &junitCase{Class: command, Name: "the input can be judged", Out: r.Counts()}
	for _, p := range r.Problems {
		about.ignored = append(about.ignored, "incomplete: "+escape.Escape(p.Message))
	}
	all.Suites = []*junitSuite{{Name: command, Cases: []*junitCase{about}}}
	suites, cases := map[string]*junitSuite{command: all.Suites[0]}, map[[3]string]*junitCase{}
	for _, f := range r.All() {
		where := cmp.Or(junitSuiteName(f, o), command)
		if suites[where] == nil {
			suites[where] = &junitSuite{Name: where}
			all.Suites = append(all.Suites, suites[where])
		}
		key := [3]string{where, f.ID, escape.Escape(cmp.Or(f.Object(), f.ID))}
		if cases[key] == nil {
			cases[key] = &junitCase{Class: f.ID, Name: key[2]}
			suites[where].Cases = append(suites[where].Cases, cases[key])
		}
		cases[key].addFinding(r, f)
	}
	for _, s := range all.Suites {
		s.countCases()
		all.Tests, all.Failures = all.Tests+s.Tests, all.Failures+s.Failures
	}
	return all.writeXML(w)
}

func (all *junitSuites) writeXML(w *bufio.Writer) error {
	if _, err := w.WriteString(xml.Header); err != nil {
		return err
	}
	var text bytes.Buffer
	e := xml.NewEncoder(&text)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return fmt.Errorf("writing XML: %w", err)
	}
	_, _ = w.Write(escape.EscapeBracket(text.Bytes(), "&#91;"))
	return w.WriteByte('\n')
}

// junitSuiteName is the file of a finding, else the cluster or standard input; "" if it is not
// known.
func junitSuiteName(f check.Finding, o Options) string {
	switch file := o.relativeFile(f.Origin); {
	case file != "":
		return escape.Escape(file)
	case f.Origin != nil && f.Origin.Cluster != "":
		return escape.Escape(f.Origin.Cluster)
	case f.Origin != nil:
		return escape.Escape(f.Origin.File)
	}
	return ""
}

func (c *junitCase) addFinding(r *check.Report, f check.Finding) {
	text := escape.Escape(f.Message)
	if f.Origin != nil {
		text = escape.Escape(f.Origin.String()) + ": " + text
	}
	if f.Hint != "" {
		text += "\n  " + escape.Escape(f.Hint)
	}
	switch {
	case f.Suppressed != nil:
		c.ignored = append(c.ignored, text+" ("+escape.Escape(f.Suppressed.Text())+")")
	case r.Failing(f):
		if c.first == "" {
			c.first = escape.Escape(f.Message)
		}
		c.failing = append(c.failing, text)
	default:
		c.notes = append(c.notes, string(f.Severity)+": "+text)
	}
}

// countCases sets what became of each case, and counts the cases.
func (s *junitSuite) countCases() {
	for _, c := range s.Cases {
		s.Tests++
		if len(c.failing) > 0 {
			s.Failures++
			c.Failure = &junitFailure{Type: c.Class, Message: c.first, Text: strings.Join(c.failing, "\n")}
			c.notes = append(c.notes, c.ignored...)
		} else if len(c.ignored) > 0 {
			s.Skipped++
			reason := strings.Join(c.ignored, "\n")
			c.Skipped = &reason
		}
		if len(c.notes) > 0 {
			c.Out = strings.Join(c.notes, "\n")
		}
	}
}
