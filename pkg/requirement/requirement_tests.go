package requirement

import (
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// TestFile is one document of tests of requirements. File names are as they are written, relative
// to the document's file.
type TestFile struct {
	Name         string // of the file
	Requirements []string
	PolicyKinds  []string // files with descriptors
	Settings     []string // of vendors, as VENDOR.NAME=VALUE
	Tests        []Test
}

// Test is an input and what requirements are expected to say of it.
type Test struct {
	Name           string
	Files          []string
	Input          string // manifests in the test itself
	InputAt        int    // the line of it
	Expect         []Expectation
	Met            []string // requirements that select something, and are met everywhere
	SelectsNothing []string // requirements that select nothing
	Origin         model.Origin
}

// Expectation is a finding that is expected.
type Expectation struct {
	Requirement string
	Outcome     string // notMet, unknown or error
	Target      string // kind/namespace/name[/section]; "": any, one or more
	Via         string // namespace/name of a Gateway, or that and a listener: the finding is about ways through it
	Message     string // that is part of the finding's
}

// The outcomes that can be expected.
const (
	notMet  = "notMet"
	unknown = "unknown"
	failed  = "error"
)

const requirementTestKind = "RequirementTest"

// ReadTests reads the documents of a file that are tests of requirements. Where anyFile is true,
// other documents are passed over; that there are none is then no mistake. The error is a
// *FileError.
func ReadTests(file form.Source, anyFile bool) ([]TestFile, error) {
	docs, err := file.ReadDocuments()
	if err != nil {
		if anyFile && !strings.Contains(string(file.Text), requirementTestKind) {
			return nil, nil
		}
		return nil, &FileError{err.Error(), requirementsHelp}
	}
	r := testReader{form: &form.Reader{File: file.Name}, file: file.Name, names: map[string]model.Origin{}}
	var out []TestFile
	for _, doc := range docs {
		if kind := form.Member(doc, "kind"); anyFile && (kind == nil || kind.Value != requirementTestKind) {
			continue
		}
		out = append(out, r.readDocument(doc))
	}
	if err := r.form.Err(); err != nil {
		return nil, &FileError{err.Error(), requirementsHelp}
	}
	if len(out) == 0 && !anyFile {
		return nil, &FileError{file.Name + ":1: there are no tests in it", requirementsHelp}
	}
	return out, nil
}

// Place says where something in the input of the test stands, as the beginning of a message.
func (t *Test) Place(o *model.Origin) string {
	switch {
	case o == nil:
		return ""
	case o.File == "stdin" && t.Input != "": // the lines of the text in the test
		return model.Origin{File: t.Origin.File, Line: t.InputAt + o.Line}.String() + ": "
	}
	return o.String() + ": "
}

// testReader reads one file of tests.
type testReader struct {
	form  *form.Reader
	file  string
	names map[string]model.Origin // of tests, where they are
}

func (r *testReader) readDocument(n *yaml.Node) TestFile {
	out := TestFile{Name: r.file}
	var version, kind string
	r.form.Object(n, map[string]form.Field{"apiVersion": r.form.Word(&version, []string{apiVersion}),
		"kind":         r.form.Word(&kind, []string{requirementTestKind}),
		"requirements": r.form.Texts(&out.Requirements), "policyKinds": r.form.Texts(&out.PolicyKinds),
		"settings": r.form.Texts(&out.Settings),
		"tests": func(n *yaml.Node) {
			r.form.List(n, func(e *yaml.Node) { out.Tests = append(out.Tests, r.readTest(e)) })
		}})
	switch {
	case n.Kind != yaml.MappingNode:
	case form.Member(n, "apiVersion") == nil || form.Member(n, "kind") == nil:
		r.form.Fail(n, "the document needs apiVersion: %s and kind: %s", apiVersion, requirementTestKind)
	case out.Requirements == nil:
		r.form.Fail(n, "field \"requirements\" is missing: the files with what is tested, relative to this one")
	case out.Tests == nil:
		r.form.Fail(n, "field \"tests\" is missing")
	}
	return out
}

func (r *testReader) readTest(n *yaml.Node) Test {
	out := Test{Origin: model.Origin{File: r.file, Line: n.Line}}
	r.form.Object(n, map[string]form.Field{"name": r.form.Text(&out.Name), "files": r.form.Texts(&out.Files),
		"input": func(n *yaml.Node) { out.InputAt = n.Line; r.form.Text(&out.Input)(n) }, "met": r.form.Texts(
			&out.Met), "selectsNothing": r.form.Texts(&out.SelectsNothing),
		"expect": func(n *yaml.Node) {
			if n.Kind == yaml.SequenceNode && len(n.Content) == 0 { // nothing is expected, and all is to be met
				return
			}
			r.form.List(n, func(e *yaml.Node) { out.Expect = append(out.Expect, r.readExpectation(e)) })
		}})
	switch {
	case n.Kind != yaml.MappingNode:
	case out.Name == "":
		r.form.Fail(n, "field \"name\" is missing")
	case out.Files == nil && out.Input == "":
		r.form.Fail(n, "a test needs files, or manifests as input")
	}
	if at, known := r.names[out.Name]; known && out.Name != "" { // reports could not tell the two apart
		r.form.Fail(n, "there is a test %q already, at %s", out.Name, at)
	}
	r.names[out.Name] = out.Origin
	return out
}

func (r *testReader) readExpectation(n *yaml.Node) Expectation {
	out := Expectation{Outcome: notMet}
	var target, via *yaml.Node
	r.form.Object(n, map[string]form.Field{"requirement": r.form.Text(&out.Requirement),
		"outcome": r.form.Word(&out.Outcome, []string{notMet, unknown, failed}),
		"target":  func(n *yaml.Node) { target = n; r.form.Text(&out.Target)(n) }, "via": func(
			n *yaml.Node) {
			via = n
			r.form.Text(&out.Via)(n)
		}, "message": r.form.Text(&out.Message)})
	if n.Kind == yaml.MappingNode && out.Requirement == "" {
		r.form.Fail(n, "field \"requirement\" is missing: the name of the one that is not met")
	}
	if parts := strings.Split(out.Target, "/"); out.Target != "" && (len(parts) < 2 || len(parts) > 4) {
		r.form.Fail(target, "%q is no target: write kind/namespace/name or kind/namespace/name/section", out.Target)
	}
	if out.Via != "" && (strings.Count(out.Via, "/") < 1 || strings.Count(out.Via, "/") > 2) {
		r.form.Fail(via, "%q is no way: write NAMESPACE/NAME of a Gateway, or NAMESPACE/NAME/LISTENER", out.Via)
	}
	return out
}

// findUnknownNames returns the names in a test that are no requirement's, each with what may be
// meant.
func (t *Test) findUnknownNames(reqs []*Requirement) []string {
	var known, out []string
	for _, r := range reqs {
		known = append(known, r.Name)
	}
	names := append(append([]string{}, t.Met...), t.SelectsNothing...)
	for _, e := range t.Expect {
		names = append(names, e.Requirement)
	}
	for _, name := range names {
		if slices.Contains(known, name) {
			continue
		}
		said := fmt.Sprintf("there is no requirement %q", name)
		if near := form.Nearest(name, known); len(near) > 0 {
			said += ": did you mean " + near[0] + "?"
		}
		if !slices.Contains(out, said) {
			out = append(out, said)
		}
	}
	return out
}
