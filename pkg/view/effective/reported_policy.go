package effective

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ReportedPolicy is what a report in the namespace says of one policy at one route rule. It stands
// beside the items of an answer that is not complete, because not all objects may be read; whoever
// wrote the report could read them.
type ReportedPolicy struct {
	Target     model.Ref  `json:"target"`               // the route rule
	PolicyKind string     `json:"policyKind,omitempty"` // Kind.group; absent where no policy is in force
	Policy     *model.Ref `json:"policy,omitempty"`     // absent where no policy is in force
	// effective, partial, overridden, ignored; none: no policy is in force at the rule; unknown: it
	// is not known whether one is
	State string `json:"state"`
	Level string `json:"level,omitempty"` // the role at which the policy stands
	// what the policy is attached to, as KIND NAMESPACE/NAME SECTION
	AttachedTo string `json:"attachedTo,omitempty"`
	Owner      string `json:"owner,omitempty"` // whose the policy is
	// why settings of it are not in force: words as in Loss.reason
	Reason       string      `json:"reason,omitempty"`
	OverriddenBy []model.Ref `json:"overriddenBy,omitempty"` // the policies that won
	Via          []string    `json:"via,omitempty"`          // how traffic gets there, as GATEWAY/LISTENER
	// the settings in force that it is a source of, as JSON, where the report has them
	Values string    `json:"values,omitempty"`
	Source string    `json:"source"` // report
	Report model.Ref `json:"report"` // that says so
	// when the cluster was read for it, at the latest; RFC 3339
	ReadAt string `json:"readAt"`
	// how long before now that was, as kubectl writes ages: 12m, 2d3h
	Age      string `json:"age,omitempty"`
	Outdated bool   `json:"outdated,omitempty"` // the route has changed since
	// false: whoever wrote the report did not know all that could change it either
	Complete bool `json:"complete"`
}

// reportedBlock lists what reports say.
func (l *EffectivePolicyList) reportedBlock() view.Block {
	b := view.Block{Heading: []string{reportedHeading(l.Reported)}, FormatGroup: view.FormatTargetGroup,
		Columns: []view.Column{{Name: "NAMESPACE", Rank: 2, MinWidth: 9, Shorten: view.ShortCount, Group: true},
			{Name: "ROUTE", Rank: 6, MinWidth: 10, Shorten: view.ShortName, Group: true},
			{Name: "RULE", Rank: 4, MinWidth: 9, Group: true},
			{Name: "KIND", Rank: 7, MinWidth: 9, Shorten: view.ShortKind},
			{Name: "POLICY", Rank: 3, MinWidth: 12, Shorten: view.ShortName}, {Name: "SET ON", Rank: 8, MinWidth: 8},
			{Name: "STATE", Rank: 1, MinWidth: 10, Keep: true},
			{Name: "WHY", Rank: 9, MinWidth: 12, Wrap: true, Keep: true},
			{Name: "OWNER", Rank: 5, MinWidth: 8, Optional: true}}}
	kinds := view.KindNames{}
	for _, r := range l.Reported {
		if r.PolicyKind != "" {
			kinds.Add(r.PolicyKind)
		}
	}
	for _, r := range l.Reported {
		row := []view.Cell{{Text: view.OrDash(r.Target.Namespace)}, {Text: strings.ToLower(r.Target.Kind) + "/" +
			r.Target.Name}, {Text: view.OrDash(r.Target.Section)}}
		if r.Policy == nil {
			dash := view.Cell{Text: "-", Tone: view.Dim}
			row = append(row, dash, dash, dash, view.Cell{Text: formatNothingReported(r.State), Tone: view.Bad}, dash,
				dash)
		} else {
			row = append(row, view.Cell{Text: kinds.ShortName(r.PolicyKind)}, view.Cell{Text: r.Policy.FullName()},
				view.Cell{Text: view.OrDash(r.Level)}, reportedState(r.State), view.Cell{
					Text: view.OrDash(r.formatReason())}, view.Cell{Text: view.OrDash(r.Owner)})
		}
		if !r.Complete || r.Outdated {
			row[0].Text = view.UnsureMark + row[0].Text
		}
		b.Rows = append(b.Rows, row)
	}
	return b
}

// HasReports reports whether published reports tell what could not be read.
func (l *EffectivePolicyList) HasReports() bool { return len(l.Reported) > 0 }

// formatNothingReported says of a rule that no policy is in force on it, or that this is not known.
func formatNothingReported(state string) string {
	if state == "none" {
		return "no policy in force"
	}
	return "not known"
}

func reportedState(state string) view.Cell {
	switch state {
	case "effective":
		return view.Cell{Text: "in force", Tone: view.Good}
	case "partial":
		return view.Cell{Text: "in force in part", Tone: view.Partly}
	}
	return view.Cell{Text: state, Tone: view.Bad}
}

// formatReason says the reason, and who won.
func (r *ReportedPolicy) formatReason() string {
	var winners []string
	for _, w := range r.OverriddenBy {
		winners = append(winners, w.FullName())
	}
	switch {
	case len(winners) == 0:
		return r.Reason
	case r.Reason == "":
		return strings.Join(winners, ", ") + " won"
	}
	return r.Reason + ": " + strings.Join(winners, ", ") + " won"
}

// reportedHeading says where the lines are from, and how old they are: as old as the oldest.
func reportedHeading(all []ReportedPolicy) string {
	var namespaces []string
	oldest := all[0]
	for _, r := range all {
		namespaces = append(namespaces, r.Report.Namespace)
		if r.ReadAt < oldest.ReadAt {
			oldest = r
		}
	}
	slices.Sort(namespaces)
	where := strings.Join(slices.Compact(namespaces), ", ")
	when := "at an unknown time"
	switch {
	case oldest.Age != "":
		when = oldest.Age + " ago"
	case oldest.ReadAt != "":
		when = "at " + oldest.ReadAt
	}
	return fmt.Sprintf(
		"not all policies may be read here; this is what published reports in %s say, of the cluster as it was %s:",
		where, when)
}

// reportedNotes explains the marks of reported lines.
func reportedNotes(all []ReportedPolicy) []string {
	var out []string
	if slices.ContainsFunc(all, func(r ReportedPolicy) bool { return r.Outdated }) {
		out = append(out, "? = the route has changed since the report was made")
	}
	if slices.ContainsFunc(all, func(r ReportedPolicy) bool { return !r.Complete }) {
		out = append(out, "? = the report was made without reading all that could change this line")
	}
	return out
}
