package requirement

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/collect"
)

// describeInForce says what is in force of what the requirement looks at.
func (c *conclusion) describeInForce(p *collect.EffectiveTarget) string {
	var in []*collect.InForce
	for _, f := range p.InForce {
		if len(f.Policy.Rules) > 0 && (c.req.looks.allInForce || c.req.namesKind(f.Kind.GroupKind)) {
			in = append(in, f)
		}
	}
	var told, no []string
	for _, f := range in {
		told = append(told, qualifyKind(f, in)+formatPolicies(&f.Policy))
	}
	if !c.req.looks.allInForce {
		for _, name := range c.req.looks.kinds {
			if !slices.ContainsFunc(in, func(f *collect.InForce) bool {
				return matchesKindName(name,
					f.Kind.GroupKind)
			}) {
				no = append(no, name)
			}
		}
	}
	return formatInForce(told, no, c.req.looks)
}

// qualifyKind is the kind of what is in force, with its group where that of another group is in
// force as well.
func qualifyKind(f *collect.InForce, all []*collect.InForce) string {
	for _, o := range all {
		if o != f && o.Kind.GroupKind.Kind == f.Kind.GroupKind.Kind {
			return f.Kind.GroupKind.String()
		}
	}
	return f.Kind.GroupKind.Kind
}

// formatPolicies names the policies that have a say.
func formatPolicies(e *view.EffectivePolicy) string {
	var names []string
	for _, u := range e.Policies {
		if u.Policy != nil && (u.Role == "contributing" || u.Role == "partial") &&
			!slices.Contains(names, u.Policy.FullName()) {
			names = append(names, u.Policy.FullName())
		}
	}
	if names == nil {
		return ""
	}
	return " of " + strings.Join(names, " and ")
}

func formatInForce(in, no []string, l lookups) string {
	switch {
	case len(in)+len(no) == 0 && !l.allInForce:
		return ""
	case len(in)+len(no) == 0:
		return "no policy is in force"
	}
	var parts []string
	if len(no) > 0 {
		parts = append(parts, "no "+strings.Join(no, " and no ")+" is in force")
	}
	if len(in) > 0 {
		parts = append(parts, strings.Join(in, ", ")+formatVerb(len(in))+" in force")
	}
	return strings.Join(parts, ", ")
}

func formatVerb(n int) string {
	if n == 1 {
		return " is"
	}
	return " are"
}
