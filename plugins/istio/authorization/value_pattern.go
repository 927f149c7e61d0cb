package authorization

import (
	"regexp"
	"strings"
)

// textExpression is a value of a rule as an expression for all of a text: a prefix (x*) or a suffix
// (*x). plain is true where the value is matched literally.
func textExpression(v string) (expr string, plain bool) {
	switch {
	case strings.HasPrefix(v, "*"):
		return `(?s:.*)` + regexp.QuoteMeta(v[1:]), false
	case strings.HasSuffix(v, "*"):
		return regexp.QuoteMeta(v[:len(v)-1]) + `(?s:.*)`, false
	}
	return "", true
}

// pathExpression is textExpression for paths, which may be templates: {*} is one element, {**} any
// number of them (istio 86c9f01fd73, pilot/pkg/security/authz/matcher/template.go).
func pathExpression(v string) (expr string, plain bool) {
	if !strings.Contains(v, "{*}") && !strings.Contains(v, "{**}") {
		return textExpression(v)
	}
	var b strings.Builder
	for len(v) > 0 {
		switch {
		case strings.HasPrefix(v, "{**}"):
			b.WriteString(`.*`)
			v = v[len("{**}"):]
		case strings.HasPrefix(v, "{*}"):
			b.WriteString(`[^/]+`)
			v = v[len("{*}"):]
		default:
			n := strings.Index(v, "{*")
			if n <= 0 {
				n = len(v)
			}
			b.WriteString(regexp.QuoteMeta(v[:n]))
			v = v[n:]
		}
	}
	return b.String(), false
}
