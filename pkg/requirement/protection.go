package requirement

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/cel-go/common/types/ref"
	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/protection"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// Protector tells what requests to route rules are protected by. asked are properties with methods,
// which are asked about beside all others.
type Protector func(r *resolve.Resolution, asked []requests.Property) (*protection.Protections, error)

// alternatives are policy kinds of which one has to be in force, or properties of which one has to
// hold.
type alternatives struct {
	kinds      []model.GroupKind
	properties []requests.Property
}

// readRequired reads a list of policy kinds, or of properties as authentication and
// authentication=jwt|oidc.
func (r *requirementReader) readRequired(into *alternatives) func(*yaml.Node) {
	return func(n *yaml.Node) {
		r.form.List(n, func(e *yaml.Node) {
			var s string
			r.form.Text(&s)(e)
			switch {
			case s == "":
			case s[0] >= 'A' && s[0] <= 'Z':
				into.kinds = append(into.kinds, model.ParseGroupKind(s))
			default:
				p, wrong := readProperty(s)
				if wrong != "" {
					r.form.Fail(e, "%s", wrong)
				}
				into.properties = append(into.properties, p)
			}
		})
		if len(into.kinds) > 0 && len(into.properties) > 0 {
			r.form.Fail(n,
				"a property says what policies do, and a kind only that there are some: make two requirements")
		}
	}
}

// readProperty reads PROPERTY or PROPERTY=METHOD|METHOD.
func readProperty(text string) (p requests.Property, wrong string) {
	word, methods, given := strings.Cut(text, "=")
	if !gate.IsProperty(word) {
		return p,
			fmt.Sprintf(
				"there is no property %q%s: properties are %s; kinds are written as in manifests, as AuthPolicy", word,
				suggestWord(word, propertyNames()), strings.Join(propertyNames(), ", "))
	}
	p.Property = gate.Property(word)
	if given && p.Property != gate.Authentication {
		return p, fmt.Sprintf("%s has no methods: write %s", word, word)
	}
	if given {
		p.Methods = strings.Split(methods, "|")
	}
	for _, m := range p.Methods {
		if !slices.Contains(gate.Methods(), m) {
			return p, fmt.Sprintf("there is no method of authentication %q%s: methods are %s", m,
				suggestWord(m, gate.Methods()), strings.Join(gate.Methods(), ", "))
		}
	}
	return p, ""
}

func propertyNames() []string {
	var out []string
	for _, p := range gate.Properties() {
		out = append(out, string(p))
	}
	return out
}

// suggestWord proposes the word that may be meant.
func suggestWord(word string, known []string) string {
	if near := form.Nearest(word, known); len(near) > 0 {
		return fmt.Sprintf(" (did you mean %q?)", near[0])
	}
	return ""
}

// looksAtProtection reports whether it matters by what requests are protected.
func (c *requirementCase) looksAtProtection() bool {
	return len(c.looks.properties) > 0 || c.demands != nil && len(c.demands.properties) > 0
}

// loadProtections finds by what requests are protected, if a requirement over targets asks for
// that.
func (j *evaluation) loadProtections(by Protector) {
	var asked []requests.Property
	needed := false
	for i := range j.cases {
		c := &j.cases[i]
		if c.requests != nil || !c.looksAtProtection() {
			continue
		}
		needed = true
		c.firstAsked = len(asked)
		if c.demands != nil {
			asked = append(asked, c.demands.properties...)
		}
	}
	switch {
	case !needed:
	case by == nil:
		j.protectionUnknown = "what requests are protected by is not looked at here"
	default:
		var err error
		if j.protections, err = by(j.res, asked); err != nil {
			j.protections, j.protectionUnknown = nil, err.Error()
		}
	}
}

// protectionAt is what requests to a target are protected by on a path, and its number; -1 and why,
// if that is not known.
func (j *evaluation) protectionAt(p *collect.EffectiveTarget, path view.Path) (number int, unknown string) {
	if j.protections == nil {
		return -1, j.protectionUnknown
	}
	one := j.protections.FindProtection(p.Node, path)
	if one == nil {
		return -1, "what requests are protected by is known of route rules only"
	}
	at, known := j.protectionIndex[one]
	if !known {
		at = len(j.protected)
		j.protectionIndex[one], j.protected = at, append(j.protected, one)
	}
	return at, ""
}

// demandedResults returns the results for the properties that a requirement demands.
func (c *requirementCase) demandedResults(p *protection.Protection) []*protect.Result {
	var out []*protect.Result
	for i := range c.demands.properties {
		out = append(out, p.AskedResult(c.firstAsked+i))
	}
	return out
}

// isMet reports whether one of the properties that are demanded holds, or why that is not known.
// Where nothing gets through, there is nothing to demand.
func (c *requirementCase) isMet(p *protection.Protection) (met bool, unknown string) {
	for i, result := range c.demandedResults(p) {
		switch result.Verdict {
		case gate.Holds, gate.NotApplicable:
			return true, ""
		case gate.Depends:
			if unknown == "" {
				unknown = c.demands.properties[i].String() + " depends: " + formatReasons(result)
			}
		}
	}
	return false, unknown
}

// maxReasons is how many reasons of a verdict a message has.
const maxReasons = 2

func formatReasons(result *protect.Result) string {
	var out []string
	for _, r := range result.Because {
		if len(out) == maxReasons {
			out = append(out, "and more")
			break
		}
		out = append(out, r.Message)
	}
	return strings.Join(out, "; ")
}

// formatProtection gives the results for the properties that a requirement looks at.
func (c *requirementCase) formatProtection(p *protection.Protection) string {
	var out []string
	say := func(name string, result *protect.Result) {
		text := name + " " + string(result.Verdict)
		switch {
		case len(result.Because) > 0:
			text += ": " + formatReasons(result)
		case len(result.Methods) > 0:
			text += " by " + strings.Join(result.Methods, ", ")
		}
		out = append(out, text)
	}
	if c.demands != nil {
		for i, result := range c.demandedResults(p) {
			say(c.demands.properties[i].String(), result)
		}
	}
	for _, name := range c.looks.properties {
		if gate.IsProperty(name) {
			say(name, p.ResultOf(gate.Property(name)))
		}
	}
	return strings.Join(out, "; ")
}

// protectionValue is a protection as expressions see it.
func protectionValue(p *protection.Protection) ref.Val {
	fields := map[string]func() any{}
	for _, property := range gate.Properties() {
		result := p.ResultOf(property)
		fields[string(property)] = func() any {
			codes := []any{}
			for _, r := range result.Because {
				codes = append(codes, string(r.Code))
			}
			return objectValue{"verdict": string(result.Verdict), "methods": textValues(result.Methods),
				"because": codes}
		}
	}
	return newLazyObject(fields)
}
