package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

// shownProperties returns the properties with columns: those that must not be missing and, in the
// wide form without requirements, authentication and each property that something sets.
func (m *PolicyMatrix) shownProperties(o view.TableOptions) []gate.Property {
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
	return slices.ContainsFunc(m.properties, func(q requests.Property) bool { return q.Property == p })
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
			words = append(words, view.FormatProtection(got), view.JoinReasons(got.Because))
		}
		return strings.Join(append(append(words, r.Missing...), r.Unknown...), "\x00")
	}
	last := ""
	for _, r := range rows {
		key := looks(&r)
		if n := len(out) - 1; n >= 0 && key == last {
			out[n].Paths = view.SortPaths(append(slices.Clone(out[n].Paths), r.Paths...))
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

func protectionTone(v gate.Verdict, required bool) view.Tone {
	switch v {
	case gate.Fails:
		if required {
			return view.Bad
		}
		return view.Dim
	case gate.Depends:
		return view.Partly
	case gate.NotApplicable:
		return view.Dim
	}
	return view.Plain
}

// formatPropertySentence says a count of a property in a sentence. It claims that a property holds
// everywhere only if that is known.
func (c *MatrixCount) formatPropertySentence(property string, complete bool) string {
	judged := c.Missing + c.Unknown + c.InForce
	var line string
	switch {
	case judged == 0:
		line = fmt.Sprintf("%s applies to none of %s", property, view.FormatCount(c.NotApplicable, "route rule"))
	case c.Missing > 0 && c.Unknown > 0:
		line = fmt.Sprintf("%d of %s %s without %s, and %d cannot be told", c.Missing,
			view.FormatCount(judged, "route rule"), view.InflectNoun(c.Missing, "is|are"), property, c.Unknown)
	case c.Missing > 0:
		line = fmt.Sprintf("%d of %s %s without %s", c.Missing, view.FormatCount(judged, "route rule"),
			view.InflectNoun(c.Missing, "is|are"), property)
	case c.Unknown > 0:
		line = fmt.Sprintf("cannot tell whether %s holds on %d of %s", property, c.Unknown,
			view.FormatCount(judged, "route rule"))
	case !complete:
		line = fmt.Sprintf("%s holds on %s, all that were read, but the answer is incomplete", property,
			view.FormatCount(judged, "route rule"))
	case judged == 1:
		line = property + " holds on the only route rule"
	default:
		line = fmt.Sprintf("%s holds on all %s", property, view.FormatCount(judged, "route rule"))
	}
	if c.NotApplicable > 0 && judged > 0 {
		line += fmt.Sprintf("; %s no backend, not listed", view.FormatCount(c.NotApplicable, "more reaches|more reach"))
	}
	return line
}

// stateOfVerdict is what a matrix counts of a verdict.
func stateOfVerdict(v gate.Verdict) string {
	switch v {
	case gate.Fails:
		return CellNone
	case gate.Depends:
		return CellUnknown
	case gate.NotApplicable:
		return CellNotApplicable
	}
	return CellInForce
}
