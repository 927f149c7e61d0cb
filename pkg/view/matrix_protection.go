package view

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// shownProperties returns the properties with columns: those that must not be missing and, in the
// wide form without requirements, authentication and each property that something sets.
func (m *PolicyMatrix) shownProperties(o TableOptions) []gate.Property {
	var out []gate.Property
	for _, p := range gate.Properties() {
		isSet := slices.ContainsFunc(m.Items, func(r MatrixRow) bool {
			got := r.Protection.ResultOf(p)
			says := func(b protect.Reason) bool {
				return b.Code != gate.NoGate && b.Code != gate.NotRead && b.Code != gate.MissingObject
			}
			return got.Verdict == gate.Holds || slices.ContainsFunc(got.Because, says)
		})
		if m.isRequired(p) || len(m.Required) == 0 && o.Wide && (p == gate.Authentication || isSet) {
			out = append(out, p)
		}
	}
	return out
}

// isRequired reports whether a property must not be missing.
func (m *PolicyMatrix) isRequired(p gate.Property) bool {
	return slices.ContainsFunc(m.properties, func(q RequestProperty) bool { return q.Property == p })
}

// joinAlikeRows joins rows of one rule in which a reader sees no difference.
func (m *PolicyMatrix) joinAlikeRows(rows []MatrixRow, properties []gate.Property) []MatrixRow {
	var out []MatrixRow
	looks := func(r *MatrixRow) string {
		words := []string{r.Target.String()}
		for i := range r.Cells {
			words = append(words, r.Cells[i].formatState(), r.Cells[i].Why)
		}
		for _, p := range properties {
			got := r.Protection.ResultOf(p)
			words = append(words, formatProtection(got), joinReasons(got.Because))
		}
		return strings.Join(append(append(words, r.Missing...), r.Unknown...), "\x00")
	}
	last := ""
	for _, r := range rows {
		key := looks(&r)
		if n := len(out) - 1; n >= 0 && key == last {
			out[n].Paths = sortPaths(append(slices.Clone(out[n].Paths), r.Paths...))
			continue
		}
		last = key
		out = append(out, r)
	}
	for i := range out {
		other := func(j int) bool { return j >= 0 && j < len(out) && out[j].Target == out[i].Target }
		out[i].hasOtherRows = other(i-1) || other(i+1) || out[i].hasOtherRows && len(m.Required) > 0
	}
	return out
}

// formatProtection writes a verdict in a cell: the methods, or why not.
func formatProtection(r *protect.Result) string {
	switch r.Verdict {
	case gate.Holds:
		switch {
		case r.HasReason(gate.DeniesAll):
			return "denies all"
		case len(r.Methods) > 0:
			return strings.Join(r.Methods, "+")
		}
		return "yes"
	case gate.NotApplicable:
		return markNotApplicable
	}
	word := "no"
	if r.Verdict == gate.Depends {
		word = "depends"
	}
	for _, because := range r.Because {
		if text := formatGateCode(because.Code); text != "" && because.Code.VerdictOf() == r.Verdict {
			return word + ": " + text
		}
	}
	return word
}

// formatGateCode writes a reason in a word or two.
func formatGateCode(c gate.Code) string {
	switch c {
	case gate.Replaced:
		return "overridden"
	case gate.AnonymousAllowed:
		return "anonymous"
	case gate.MissingAllowed:
		return "optional"
	case gate.NeverRefused:
		return "never refused"
	case gate.NotVerified:
		return "not verified"
	case gate.AllowsAll:
		return "allows all"
	case gate.AnyAddress:
		return "any address"
	case gate.AnyOrigin:
		return "any origin"
	case gate.Unlimited:
		return "no limit"
	case gate.DryRun:
		return "dry run"
	case gate.Disabled:
		return "switched off"
	case gate.Skipped:
		return "exceptions"
	case gate.OtherMethod:
		return "other method"
	case gate.ExternalDecision:
		return "ext-auth"
	case gate.FailOpen:
		return "fail-open"
	case gate.Condition:
		return "condition"
	case gate.Expression:
		return "expression"
	case gate.Consumer:
		return "consumer"
	case gate.ExternalObject:
		return "outside"
	case gate.MissingObject:
		return "not in input"
	case gate.NotRead:
		return "not read"
	}
	return ""
}

func protectionTone(v gate.Verdict, required bool) Tone {
	switch v {
	case gate.Fails:
		if required {
			return Bad
		}
		return Dim
	case gate.Depends:
		return Partly
	case gate.NotApplicable:
		return Dim
	}
	return Plain
}

// formatPropertySentence says a count of a property in a sentence. It claims that a property holds
// everywhere only if that is known.
func (c *MatrixCount) formatPropertySentence(property string, complete bool) string {
	judged := c.Missing + c.Unknown + c.InForce
	var line string
	switch {
	case judged == 0:
		line = fmt.Sprintf("%s applies to none of %s", property, FormatCount(c.NotApplicable, "route rule"))
	case c.Missing > 0 && c.Unknown > 0:
		line = fmt.Sprintf("%d of %s %s without %s, and %d cannot be told", c.Missing, FormatCount(judged, "route rule"), inflectNoun(c.Missing, "is|are"), property, c.Unknown)
	case c.Missing > 0:
		line = fmt.Sprintf("%d of %s %s without %s", c.Missing, FormatCount(judged, "route rule"), inflectNoun(c.Missing, "is|are"), property)
	case c.Unknown > 0:
		line = fmt.Sprintf("cannot tell whether %s holds on %d of %s", property, c.Unknown, FormatCount(judged, "route rule"))
	case !complete:
		line = fmt.Sprintf("%s holds on %s, all that were read, but the answer is incomplete", property, FormatCount(judged, "route rule"))
	case judged == 1:
		line = property + " holds on the only route rule"
	default:
		line = fmt.Sprintf("%s holds on all %s", property, FormatCount(judged, "route rule"))
	}
	if c.NotApplicable > 0 && judged > 0 {
		line += fmt.Sprintf("; %s no backend, not listed", FormatCount(c.NotApplicable, "more reaches|more reach"))
	}
	return line
}
