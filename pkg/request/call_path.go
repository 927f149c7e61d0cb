package request

import (
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/routing"
)

// callPath returns what the service and the method of a match are as a path, as a data plane reads
// them.
func (m *match) callPath(of routing.GRPCPath) pathMatch {
	if m.anyCall {
		return pathMatch{form: prefix, value: "/"}
	}
	if known := m.callPaths[of]; known != nil {
		return *known
	}
	text := func(v *valueMatch, any string) string {
		switch {
		case v.form == anything:
			return any
		case v.form == exact:
			return regexp.QuoteMeta(v.value)
		}
		return v.value
	}
	out := pathMatch{form: expression,
		value: "/" + text(&m.service, of.AnyService) + "/" + text(&m.call, of.AnyCall)}
	switch {
	case of.Expressions:
	case m.service.form == exact && m.call.form == exact:
		out = pathMatch{form: exact, value: "/" + m.service.value + "/" + m.call.value}
	case m.service.form == exact && m.call.form == anything && of.Prefix != "":
		out = pathMatch{form: prefix, value: strings.ReplaceAll(of.Prefix, "SERVICE", m.service.value)}
	}
	if of.CallAsHeader && m.service.form == anything && m.call.form == exact && !of.Expressions {
		out = pathMatch{form: expression, value: "(?s:.*)/" + text(&m.call, of.AnyCall), asRoot: true}
	}
	if out.form == expression {
		out.regex = m.compiler.compileRegex(out.value)
	}
	if m.callPaths == nil {
		m.callPaths = map[routing.GRPCPath]*pathMatch{}
	}
	m.callPaths[of] = &out
	return out
}
