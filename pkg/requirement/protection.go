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
)

// Protector tells what requests to route rules are protected by. asked are properties with methods, which are asked about beside all others.
type Protector func(r *resolve.Resolution, asked []view.RequestProperty) (*view.Protections, error)

// alternatives are policy kinds of which one has to be in force, or properties of which one has to hold.
type alternatives struct {
	kinds      []model.GroupKind
	properties []view.RequestProperty
}

// required reads a list of policy kinds, or of properties as authentication and authentication=jwt|oidc.
func (r *requirementReader) required(into *alternatives) func(*yaml.Node) {
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
			r.form.Fail(n, "a property says what policies do, and a kind only that there are some: make two requirements")
		}
	}
}

// readProperty reads PROPERTY or PROPERTY=METHOD|METHOD.
func readProperty(text string) (p view.RequestProperty, wrong string) {
	word, methods, given := strings.Cut(text, "=")
	if !gate.IsProperty(word) {
		return p, fmt.Sprintf("there is no property %q%s: properties are %s; kinds are written as in manifests, as AuthPolicy", word, nearestWord(word, propertyNames()), strings.Join(propertyNames(), ", "))
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
			return p, fmt.Sprintf("there is no method of authentication %q%s: methods are %s", m, nearestWord(m, gate.Methods()), strings.Join(gate.Methods(), ", "))
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

// nearestWord proposes the word that may be meant.
func nearestWord(word string, known []string) string {
	if near := form.Nearest(word, known); len(near) > 0 {
		return fmt.Sprintf(" (did you mean %q?)", near[0])
	}
	return ""
}

// looksAtProtection reports whether what requests are protected by matters.
func (c *caseOf) looksAtProtection() bool {
	return len(c.looks.properties) > 0 || c.demands != nil && len(c.demands.properties) > 0
}

// protect judges the input, if a requirement over targets asks for that.
func (j *judge) protect(by Protector) {
	var asked []view.RequestProperty
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
		j.unprotected = "what requests are protected by is not looked at here"
	default:
		var err error
		if j.protections, err = by(j.res, asked); err != nil {
			j.protections, j.unprotected = nil, err.Error()
		}
	}
}

// protectionAt is what requests to a target are protected by on a path, and its number; -1 and why, if that is not known.
func (j *judge) protectionAt(p *view.EffectiveTarget, path view.Path) (number int, unknown string) {
	if j.protections == nil {
		return -1, j.unprotected
	}
	one := j.protections.On(p.Node, path)
	if one == nil {
		return -1, "what requests are protected by is known of route rules only"
	}
	at, known := j.protectionOf[one]
	if !known {
		at = len(j.protected)
		j.protectionOf[one], j.protected = at, append(j.protected, one)
	}
	return at, ""
}

// demanded is what is said of the properties that a requirement demands.
func (c *caseOf) demanded(p *view.Protection) []*protect.Result {
	var out []*protect.Result
	for i := range c.demands.properties {
		out = append(out, p.Asked(c.firstAsked+i))
	}
	return out
}

// meets reports whether one of the properties that are demanded holds, or why that is not known. Where nothing gets through, there is nothing to demand.
func (c *caseOf) meets(p *view.Protection) (met bool, unknown string) {
	for i, result := range c.demanded(p) {
		switch result.Verdict {
		case gate.Holds, gate.NotApplicable:
			return true, ""
		case gate.Depends:
			if unknown == "" {
				unknown = c.demands.properties[i].String() + " depends: " + reasonsText(result)
			}
		}
	}
	return false, unknown
}

// mostReasons is how many reasons of a verdict a message has.
const mostReasons = 2

func reasonsText(result *protect.Result) string {
	var out []string
	for _, r := range result.Because {
		if len(out) == mostReasons {
			out = append(out, "and more")
			break
		}
		out = append(out, r.Message)
	}
	return strings.Join(out, "; ")
}

// protectionText says of the properties that a requirement looks at what is so.
func (c *caseOf) protectionText(p *view.Protection) string {
	var out []string
	say := func(name string, result *protect.Result) {
		text := name + " " + string(result.Verdict)
		switch {
		case len(result.Because) > 0:
			text += ": " + reasonsText(result)
		case len(result.Methods) > 0:
			text += " by " + strings.Join(result.Methods, ", ")
		}
		out = append(out, text)
	}
	if c.demands != nil {
		for i, result := range c.demanded(p) {
			say(c.demands.properties[i].String(), result)
		}
	}
	for _, name := range c.looks.properties {
		if gate.IsProperty(name) {
			say(name, p.Of(gate.Property(name)))
		}
	}
	return strings.Join(out, "; ")
}

// protectionValue is a protection as expressions see it.
func protectionValue(p *view.Protection) ref.Val {
	fields := map[string]func() any{}
	for _, property := range gate.Properties() {
		result := p.Of(property)
		fields[string(property)] = func() any {
			codes := []any{}
			for _, r := range result.Because {
				codes = append(codes, string(r.Code))
			}
			return values{"verdict": string(result.Verdict), "methods": textValues(result.Methods), "because": codes}
		}
	}
	return lazyObject(fields)
}
