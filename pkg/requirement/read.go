package requirement

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

const (
	apiVersion       = "dopolicy.dev/v1alpha1"
	requirementsKind = "Requirements"
	requirementsHelp = "the format is described in docs/requirements.md"
)

// Read reads files of requirements, sorted by name. The error is a *FileError with every mistake.
func Read(files []form.Source) ([]*Requirement, error) {
	env, err := newEnvironment()
	if err != nil {
		return nil, err
	}
	var out []*Requirement
	var wrong []string
	for _, file := range files {
		r := requirementReader{form: &form.Reader{File: file.Name}, file: file.Name, env: env, known: &out}
		docs, err := file.ReadDocuments()
		if err == nil && len(docs) == 0 {
			err = fmt.Errorf("%s:1: there are no requirements in it", file.Name)
		}
		for _, doc := range docs {
			r.readDocument(doc)
		}
		for _, err := range []error{err, r.form.Err()} {
			if err != nil {
				wrong = append(wrong, err.Error())
			}
		}
	}
	if wrong != nil {
		return nil, &FileError{strings.Join(wrong, "\n"), requirementsHelp}
	}
	slices.SortFunc(out, func(a, b *Requirement) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// requirementReader reads one file.
type requirementReader struct {
	form  *form.Reader
	file  string
	env   *environment
	known *[]*Requirement // of all files
}

func (r *requirementReader) readDocument(n *yaml.Node) {
	var version, kind string
	var list *yaml.Node
	r.form.Object(n, map[string]form.Field{"apiVersion": r.form.Word(&version, []string{apiVersion}),
		"kind":         r.form.Word(&kind, []string{requirementsKind}),
		"requirements": func(n *yaml.Node) { list = n }})
	switch {
	case n.Kind != yaml.MappingNode:
	case list == nil:
		r.form.Fail(n, "field \"requirements\" is missing")
	case version == "" || kind == "":
		r.form.Fail(n, "the document needs apiVersion: %s and kind: %s", apiVersion, requirementsKind)
	default:
		r.form.List(list, r.readRequirement)
	}
}

func (r *requirementReader) readRequirement(n *yaml.Node) {
	req := &Requirement{Severity: model.Error, Origin: model.Origin{File: r.file, Line: n.Line}}
	severity := string(model.Error)
	var nameAt *yaml.Node
	r.form.Object(n, map[string]form.Field{
		"name": func(n *yaml.Node) { nameAt = n; r.form.Text(&req.Name)(n) },
		"severity": r.form.Word(&severity, []string{string(model.Error), string(model.Warning),
			string(model.Info)}),
		"select":            func(n *yaml.Node) { r.readSelection(req, n) },
		"expression":        r.readExpression(&req.holds, newResultType(boolean)),
		"message":           r.form.Text(&req.message),
		"messageExpression": r.readExpression(&req.messageFrom, newResultType(text)),
		"over":              func(n *yaml.Node) { r.readOver(req, n) },
		"require": func(n *yaml.Node) {
			requestScopeOf(req).setPosition(n)
			r.readRequired(&requestScopeOf(req).require)(n)
		},
		"property": func(n *yaml.Node) {
			requestScopeOf(req).setPosition(n)
			r.form.Word(&requestScopeOf(req).name, readyPropertyNames())(n)
		},
		"allow": func(n *yaml.Node) { requestScopeOf(req).setPosition(n); r.form.Texts(&requestScopeOf(req).allow)(n) },
	})
	req.Severity = model.Severity(severity)
	switch {
	case n.Kind != yaml.MappingNode:
		return
	case nameAt == nil:
		r.form.Fail(n, "field \"name\" is missing")
	// it becomes an id, which is typed into annotations and configurations
	case len(validation.IsDNS1123Subdomain(req.Name)) > 0:
		r.form.Fail(nameAt, "the name %q is not made of lower-case letters, digits, - and .", req.Name)
	}
	if req.requests != nil {
		r.checkRequests(req, n)
	} else if req.holds == nil && form.Member(n, "expression") == nil {
		r.form.Fail(n,
			"field \"expression\" is missing: what has to hold, in CEL; or \"require\", properties of requests or policy kinds")
	}
	if req.message == "" && form.Member(n, "messageExpression") == nil {
		r.form.Fail(n, "field \"message\" is missing: what to tell where it does not hold")
	}
	for _, other := range *r.known {
		if req.Name != "" && other.Name == req.Name {
			r.form.Fail(n, "there is a requirement %q already, at %s", req.Name, other.Origin)
			return
		}
	}
	*r.known = append(*r.known, req)
}

// readExpression reads an expression and compiles it.
func (r *requirementReader) readExpression(into **compiled, result resultType) func(*yaml.Node) {
	return func(n *yaml.Node) {
		var text string
		r.form.Text(&text)(n)
		if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!str" {
			return
		}
		e, err := r.env.compileExpression(text, result)
		if err != nil {
			r.form.Fail(n, "the expression %s", err)
			return
		}
		*into = e
	}
}

func (r *requirementReader) readSelection(req *Requirement, n *yaml.Node) {
	s := &req.selects
	r.form.Object(n, map[string]form.Field{
		"kinds": r.readKinds(&s.kinds), "gateways": r.readGlobs(&s.gateways, 1), "listeners": r.readGlobs(&s.listeners,
			0), "namespaces": r.readGlobs(&s.namespaces, 0),
		"namespaceSelector": r.readLabelSelector(&s.namespaceLabels), "labels": r.readLabelSelector(&s.labels),
		"names": r.readGlobs(&s.names, 0), "rules": r.readGlobs(&s.rules, 0),
		"where": r.readExpression(&req.where, newResultType(boolean)),
	})
}

// readKinds reads a list of Kind or Kind.group.
func (r *requirementReader) readKinds(into *[]model.GroupKind) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*into = []model.GroupKind{}
		r.form.List(n, func(e *yaml.Node) {
			var s string
			r.form.Text(&s)(e)
			if s != "" && (s[0] < 'A' || s[0] > 'Z') {
				r.form.Fail(e, "%q is no kind: kinds are written as in manifests, as HTTPRoute or Gateway", s)
			}
			*into = append(*into, model.ParseGroupKind(s))
		})
	}
}

// readGlobs reads a list of names in which * stands for any text, with so many slashes in them.
func (r *requirementReader) readGlobs(into *[]string, slashes int) func(*yaml.Node) {
	return func(n *yaml.Node) {
		*into = []string{}
		r.form.List(n, func(e *yaml.Node) {
			var s string
			r.form.Text(&s)(e)
			_, err := path.Match(s, "")
			switch {
			case s == "":
			case err != nil:
				r.form.Fail(e, "%q is no pattern: * stands for any text, ? for a character, [a-z] for one of several",
					s)
			case slashes == 1 && strings.Count(s, "/") != 1:
				r.form.Fail(e,
					"%q does not name a Gateway: write NAMESPACE/NAME, where * stands for any text, as */%s",
					s, path.Base(s))
			case slashes == 0 && strings.Contains(s, "/"):
				r.form.Fail(e, "%q is matched with one name, in which there is no slash", s)
			}
			*into = append(*into, s)
		})
	}
}

// readLabelSelector reads a label selector.
func (r *requirementReader) readLabelSelector(into *labelSelector) func(*yaml.Node) {
	return func(n *yaml.Node) {
		into.given = true
		r.form.Object(n, map[string]form.Field{"matchLabels": func(n *yaml.Node) {
			if n.Kind != yaml.MappingNode {
				r.form.Fail(n, "an object is expected here")
				return
			}
			for i := 0; i+1 < len(n.Content); i += 2 {
				var value string
				r.form.Text(&value)(n.Content[i+1])
				into.all = append(into.all, labelRequirement{n.Content[i].Value, "In", []string{value}})
			}
		}, "matchExpressions": func(n *yaml.Node) {
			r.form.List(n, func(e *yaml.Node) {
				var need labelRequirement
				r.form.Object(e, map[string]form.Field{"key": r.form.Text(&need.key),
					"operator": r.form.Word(&need.operator, []string{"In", "NotIn", "Exists", "DoesNotExist"}),
					"values":   r.form.Texts(&need.values)})
				if takes := need.operator == "In" || need.operator == "NotIn"; takes != (need.values != nil) {
					r.form.Fail(e, "values go with the operators In and NotIn")
				}
				into.all = append(into.all, need)
			})
		}})
	}
}
