package behavior

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/diff"
)

// Headline says in a sentence what changes.
func (d *BehaviorDiff) Headline() string {
	if d.Verdict != "" {
		return d.acrossHeadline()
	}
	text := "nothing changes for any request"
	switch {
	case d.Changed > 0:
		verb := "change"
		if d.Changed == 1 {
			verb = "changes"
		}
		text = fmt.Sprintf("%d of %s %s", d.Changed, view.FormatCount(d.Classes,
			"class of requests|classes of requests"), verb)
		if d.Opened > 0 {
			text += "; " + view.FormatCount(d.Opened,
				"gets access that it did not have|get access that they did not have")
		}
		if lost := d.Loses.FormatCounts(); lost != "" {
			text += "; " + lost
		}
		if d.Closed > 0 {
			text += "; " + view.FormatCount(d.Closed,
				"loses access or is protected now|lose access or are protected now")
		}
	case d.Classes == 0:
		text = "nothing is compared: no request comes to a Gateway of either side"
	case !d.IsCertain():
		text = "no change is known, and not everything that could be one is"
	default:
		text += fmt.Sprintf(": %s, the same on both sides", view.FormatCount(d.Classes, "class|classes"))
	}
	return text
}

// Table says what changes, then lists the changes, those first that open something.
func (d *BehaviorDiff) Table(o view.TableOptions) view.Table {
	if d.Verdict != "" {
		return d.buildAcrossTable(o)
	}
	t := view.Table{Blocks: []view.Block{{Heading: []string{d.Headline()}}}}
	if len(d.Items) == 0 {
		t = view.Table{Footer: []string{d.Headline()}}
	} else {
		b := &t.Blocks[0]
		b.Columns = []view.Column{{Name: "REQUEST", Rank: 3, MinWidth: 24, Wrap: true}, {Name: "CLASSES", Rank: 5, Optional: true},
			{Name: "WHAT", Rank: 2, MinWidth: 10},
			{Name: "BEFORE", Rank: 4, MinWidth: 16, Wrap: true, Keep: true},
			{Name: "AFTER", Rank: 4, MinWidth: 16, Wrap: true, Keep: true}}
		if d.Traffic != nil {
			b.Columns = slices.Insert(b.Columns, 2, view.Column{Name: "TRAFFIC", Rank: 1})
		}
		shown := d.Items[:o.CountShown(len(d.Items))]
		for i := range shown {
			b.Rows = append(b.Rows, shown[i].buildRows()...)
		}
		t.Footer = append(t.Footer, view.FormatMoreLine(len(d.Items)-len(shown)+d.More, "change")...)
	}
	if block, more := d.undecidedBlock(o); block != nil {
		t.Blocks = append(t.Blocks, *block)
		t.Footer = append(t.Footer, more...)
	}
	if d.Traffic != nil {
		t.Footer = append(t.Footer, fmt.Sprintf("of %s in the log, %s (%s) get something else",
			view.FormatCount(d.Traffic.Requests, "request"), strconv.Itoa(d.Traffic.Touched), formatPercent(
				d.Traffic.Percent)))
		t.Footer = append(t.Footer, d.Traffic.Notes...)
	}
	for _, what := range d.LeftOut {
		t.Footer = append(t.Footer, "not compared: "+what)
	}
	t.Footer = append(t.Footer, d.IncompleteLines()...)
	return t
}

// undecidedBlock lists what could not be decided; nil: nothing.
func (d *BehaviorDiff) undecidedBlock(o view.TableOptions) (block *view.Block, footer []string) {
	if len(d.Undecided) == 0 {
		return nil, nil
	}
	b := view.Block{Heading: []string{"not decided"}, Columns: []view.Column{{Name: "CLASSES", Rank: 2},
		{Name: "EXAMPLE", Rank: 3, MinWidth: 24, Wrap: true}, {Name: "WHY", Rank: 1, MinWidth: 24, Wrap: true, Keep: true}}}
	shown := d.Undecided[:o.CountShown(len(d.Undecided))]
	for i := range shown {
		b.Rows = append(b.Rows, []view.Cell{{Text: fmt.Sprint(shown[i].Classes)}, {Text: shown[i].Example},
			{Text: shown[i].Why}})
	}
	return &b, view.FormatMoreLine(len(d.Undecided)-len(shown), "reason")
}

func formatPercent(p float64) string { return strconv.FormatFloat(p, 'f', -1, 64) + "%" }

// buildRows returns the rows of a change: one for each thing that changes.
func (c *BehaviorChange) buildRows() [][]view.Cell {
	classes := len(c.Classes) + c.More
	lead := []view.Cell{{Text: c.Command}, {Text: strconv.Itoa(classes)}}
	if c.Traffic != nil {
		lead = append(lead, view.Cell{Text: formatPercent(c.Traffic.Percent)})
	}
	var out [][]view.Cell
	add := func(what, before, after string, tone view.Tone) {
		row := slices.Clone(lead)
		if len(out) > 0 {
			for i := range row {
				row[i] = view.Cell{}
			}
		}
		out = append(out, append(row, view.Cell{Text: what}, view.Cell{Text: before},
			view.Cell{Text: after, Tone: tone}))
	}
	for _, l := range c.lost {
		add("access", string(l.property)+" ("+l.by+")", "lost: "+l.why, view.Bad)
	}
	if c.Access == AccessOpened && len(c.lost) == 0 {
		add("access", c.Reason, "open", view.Bad)
	}
	if before, after := c.Before.formatRule(), c.After.formatRule(); before != after {
		add("taken by", before, after, view.Plain)
	}
	for _, what := range c.Changes {
		switch what {
		case BehaviorOutcome:
			add("outcome", c.Before.formatOutcome(), c.After.formatOutcome(), view.Plain)
		case BehaviorBackends:
			add("backends", c.Before.formatBackends(), c.After.formatBackends(), view.Plain)
		case BehaviorFilters:
			add("filters", formatFilters(c.Before.filters), formatFilters(c.After.filters), view.Plain)
		case BehaviorDecision:
			add("decision", formatDecision(&c.Before), formatDecision(&c.After), view.Plain)
		case BehaviorProtection:
			c.addShifts(add)
		case BehaviorPolicies:
			if len(c.Policies) == 0 {
				add("policies", "in an order", "in another order", view.Plain)
			}
			if c.Before.Route == nil || c.After.Route == nil { // all of them come or go with the rule
				continue
			}
			for i := range c.Policies {
				p := &c.Policies[i]
				kind, _, _ := strings.Cut(p.PolicyKind, ".")
				add(kind+" "+p.Name, formatSetting(p.Before), formatSetting(p.After), view.Plain)
			}
		}
	}
	return out
}

// addShifts adds rows for the properties that are lost, in doubt or gained, without the losses that
// have a row already.
func (c *BehaviorChange) addShifts(add func(what, before, after string, tone view.Tone)) {
	for i := range c.Protection {
		s := &c.Protection[i]
		change := diff.ClassifyProtectionChange(s.Property, &s.Before, &s.After)
		if change == "" || slices.ContainsFunc(c.lost, func(l lostProperty) bool { return l.property == s.Property }) {
			continue
		}
		tone := view.Plain
		if change == diff.ProtectionLost {
			tone = view.Bad
		}
		add(string(s.Property), propertyText(&s.Before), propertyText(&s.After), tone)
	}
}

// propertyText says the verdict about a property, and why.
func propertyText(r *protect.Result) string {
	why := diff.FormatGrounds(r)
	if why == "-" {
		return string(r.Verdict)
	}
	return string(r.Verdict) + ": " + why
}

func formatSetting(v any) string {
	if v == nil {
		return "-"
	}
	return string(model.AppendJSON(nil, v))
}

// formatRule names the rule that takes a request.
func (s *BehaviorSide) formatRule() string {
	if s.Route == nil {
		return "no rule"
	}
	return s.Route.String()
}

func (s *BehaviorSide) formatOutcome() string {
	text := cmp.Or(s.Assumed, s.Outcome)
	if s.Status != 0 {
		text += " " + strconv.Itoa(s.Status)
	}
	if s.Location != "" {
		text += " to " + s.Location
	}
	return text
}

func (s *BehaviorSide) formatBackends() string {
	var out []string
	for _, b := range s.Backends {
		text := b.Ref.WithoutSection().String()
		if b.Ref.Section != "" {
			text += ":" + b.Ref.Section
		}
		if len(s.Backends) > 1 {
			text += " (" + strconv.Itoa(b.Weight) + ")"
		}
		out = append(out, text)
	}
	if s.Failing != "" {
		out = append(out, s.Failing)
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

func formatFilters(filters []any) string {
	var out []string
	for _, f := range filters {
		out = append(out, string(model.AppendJSON(nil, f)))
	}
	return cmp.Or(strings.Join(out, ", "), "none")
}

func formatDecision(s *BehaviorSide) string {
	if len(s.Denied) > 0 {
		return "denied by " + formatKindNames(s.Denied)
	}
	return "not denied"
}
