package source

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// ParseProperty reads PROPERTY or PROPERTY=METHOD|METHOD; is is false for a word that is no
// property, and may be a policy kind.
func ParseProperty(text string) (p requests.Property, is bool, err error) {
	word, methods, given := strings.Cut(text, "=")
	if !gate.IsProperty(word) {
		if given {
			return p, false, unknownProperty(word)
		}
		return p, false, nil
	}
	p.Property = gate.Property(word)
	if !given {
		return p, true, nil
	}
	if p.Property != gate.Authentication {
		return p, true, failure.Usage("write --require "+word, "%s has no methods", word)
	}
	for _, m := range strings.Split(methods, "|") {
		if !slices.Contains(gate.Methods(), m) {
			return p, true, failure.Usage("use one of: "+strings.Join(gate.Methods(), ", "),
				"there is no method of authentication %q%s", m, SuggestNearest(m, gate.Methods()))
		}
		p.Methods = append(p.Methods, m)
	}
	return p, true, nil
}

// unknownProperty is a usage error about a word that is no property.
func unknownProperty(word string) error {
	var known []string
	for _, p := range gate.Properties() {
		known = append(known, string(p))
	}
	return failure.Usage("use one of: "+strings.Join(known, ", "), "there is no property %q%s", word,
		SuggestNearest(word, known))
}

// UnknownRequirement is a usage error about a word that is neither a property nor a policy kind. A
// word that nearly is a property was to be one.
func (s *Session) UnknownRequirement(word string) error {
	if slices.Contains(gate.Methods(), word) {
		return failure.Usage("write authentication="+word, "%s is a method of authentication", word)
	}
	if len(word) > 5 {
		var known []string
		for _, p := range gate.Properties() {
			known = append(known, string(p))
		}
		if len(form.Nearest(word, known)) > 0 {
			return unknownProperty(word)
		}
	}
	return s.UnknownPolicyKind(word)
}

// SuggestNearest proposes the nearest of some words.
func SuggestNearest(word string, known []string) string {
	if near := form.Nearest(word, known); len(near) > 0 {
		return " (did you mean " + near[0] + "?)"
	}
	return ""
}
