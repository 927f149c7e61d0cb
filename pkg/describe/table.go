package describe

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/reach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/status"
)

// How many lines the parts of a description have at most, so that it fits one screen.
const (
	mostNames    = 4
	mostPolicies = 6
	mostSettings = 10
	mostLosses   = 5
	mostFindings = 4
)

// Table is the description on one screen: what the object is, what is in force, what was
// overridden, what is wrong, and what to ask next.
func (d *ObjectDescription) Table(o view.TableOptions) view.Table {
	t := view.Table{Blocks: []view.Block{d.factBlock(o)}}
	add := func(title string, b view.Block, more string) {
		if len(b.Rows) == 0 {
			return
		}
		b.Heading = []string{title}
		if more != "" {
			b.Heading[0] += " (" + more + ")"
		}
		t.Blocks = append(t.Blocks, b)
	}
	policies, more := limitRows(d.policyBlock(), mostPolicies)
	add("Policies that target it", policies, more)
	inForce, more := d.settingsBlock(o)
	add("In force", inForce, more)
	reached, more := limitRows(d.reachBlock(o), mostPolicies)
	add("Where it is in force", reached, more)
	lost, more := limitRows(d.overriddenBlock(o), mostLosses)
	add("Overridden", lost, more)
	findings, more := limitRows(d.findingBlock(), mostFindings)
	add("Findings", findings, more)
	t.Footer = append(t.Footer, d.nextCommands(o)...)
	t.Footer = append(t.Footer, d.IncompleteLines()...)
	return t
}

// limitRows keeps the first rows of a block, and says how many there are where some are left out.
func limitRows(b view.Block, most int) (view.Block, string) {
	if len(b.Rows) <= most {
		return b, ""
	}
	text := fmt.Sprintf("first %d of %d rows", most, len(b.Rows))
	b.Rows = b.Rows[:most]
	return b, text
}

// factBlock says what the object is, how its traffic flows, and how it fares.
func (d *ObjectDescription) factBlock(o view.TableOptions) view.Block {
	f := view.NewFacts()
	f.Add("object", d.Object.String())
	if d.Origin != nil {
		f.Add("written in", d.Origin.String())
	}
	f.Add("traffic from", joinRefs(d.Above))
	f.Add("traffic to", joinRefs(d.Below))
	f.Add("sets", joinSome(d.Settings))
	if d.isPolicy {
		for _, s := range d.Status {
			f.Add("targets", joinRefs(s.Targets))
		}
	}
	f.AddList("status", d.statusLines())
	f.Add("in force", d.countText(o))
	return f.Block()
}

// joinRefs names a few objects, and counts the rest.
func joinRefs(refs []model.Ref) string {
	names := make([]string, len(refs))
	for i, r := range refs {
		names[i] = r.String()
	}
	return joinSome(names)
}

// joinSome lists a few names, and counts the rest.
func joinSome(names []string) string {
	if len(names) > mostNames+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), len(names)-mostNames)
	}
	return strings.Join(names, ", ")
}

// countText says how many settings of each kind are in force, and on how many targets.
func (d *ObjectDescription) countText(o view.TableOptions) string {
	if d.isPolicy {
		if len(d.Reach) == 0 {
			return "nowhere: no traffic passes what it targets"
		}
		on := 0
		for i := range d.Reach {
			if s := d.Reach[i].State; s == "Effective" || s == "Partial" {
				on++
			}
		}
		if on == 0 {
			return "nowhere"
		}
		return fmt.Sprintf("on %d of %s", on, view.FormatCount(len(d.Reach), "target"))
	}
	if len(d.Effective) == 0 {
		switch text := d.ElsewhereText(o); {
		case text == "":
			return d.NoPolicyText()
		case len(d.Policies) == 0 && d.NoPolicyText() == "no policy":
			return "no policy is set on it" + text
		default:
			return d.NoPolicyText() + " is in force on it" + text
		}
	}
	kinds := view.KindNames{}
	var order []string
	settings, targets := map[string]map[string]bool{}, map[string]map[model.Ref]bool{}
	for i := range d.Effective {
		item := &d.Effective[i]
		kind := item.PolicyKind
		if settings[kind] == nil {
			kinds.Add(kind)
			order = append(order, kind)
			settings[kind], targets[kind] = map[string]bool{}, map[model.Ref]bool{}
		}
		targets[kind][item.Target] = true
		for j := range item.Rules {
			settings[kind][item.Rules[j].Name] = true
		}
	}
	for i, kind := range order {
		noun := "setting"
		if len(targets[kind]) > 1 {
			noun = "different setting"
		}
		order[i] = kinds.ShortName(kind) + ": " + view.FormatCount(len(settings[kind]), noun) +
			d.placesText(targets[kind])
	}
	return strings.Join(order, "; ")
}

// placesText says on which targets settings are in force, as the end of a sentence: on how many of
// the route rules; "" where it is the object itself.
func (d *ObjectDescription) placesText(targets map[model.Ref]bool) string {
	var rules int
	var others []string
	for ref := range targets {
		switch {
		case isRule(ref):
			rules++
		case ref != d.Object:
			others = append(others, ref.String())
		}
	}
	slices.Sort(others)
	var out []string
	if all := d.countRules(); rules > 0 && (rules != 1 || all != 1) {
		out = append(out, fmt.Sprintf("%d of %s", rules, view.FormatCount(all, "route rule")))
	}
	if len(others) > 0 {
		out = append(out, joinSome(others))
	}
	if len(out) == 0 {
		return ""
	}
	return ", on " + strings.Join(out, " and on ")
}

func isRule(ref model.Ref) bool { return ref.Section != "" && view.SectionNoun(ref.Kind) == "rule" }

// countRules counts the route rules that the object covers.
func (d *ObjectDescription) countRules() int {
	rules := map[model.Ref]bool{}
	for _, ref := range d.rulesWithoutPolicy {
		rules[ref] = true
	}
	for i := range d.Effective {
		if ref := d.Effective[i].Target; isRule(ref) {
			rules[ref] = true
		}
	}
	return len(rules)
}

// statusLines say the conditions of the object, those that differ between parents each with its
// parent.
func (d *ObjectDescription) statusLines() []string {
	var out []string
	for i := range d.Status {
		item := &d.Status[i]
		name := ""
		if item.Object.Section != d.Object.Section {
			name = item.Object.Section + ": "
		}
		if item.Note != "" {
			out = append(out, name+item.Note)
		}
		var texts []string
		var at [][]string
		for _, a := range item.Ancestors {
			text := conditionText(a.Conditions)
			if text == "" {
				continue
			}
			k := slices.Index(texts, text)
			if k < 0 {
				k = len(texts)
				texts, at = append(texts, text), append(at, nil)
			}
			if a.AncestorRef != nil {
				at[k] = append(at[k], a.AncestorRef.String())
			}
		}
		for k, text := range texts {
			if len(at[k]) > 0 && len(texts) > 1 {
				text += " at " + joinSome(slices.Compact(at[k]))
			}
			out = append(out, name+text)
		}
	}
	return out
}

// conditionText says the conditions in one line: those that are well by their name, the others with
// why.
func conditionText(conditions []status.Condition) string {
	var well, others []string
	for _, c := range conditions {
		switch {
		case c.Status == "True" && strings.Contains(c.Type, "/"): // a mark of a policy kind
		case c.Status == "True":
			well = append(well, c.Type)
		default:
			others = append(others, c.Type+"="+c.Status+" ("+c.Reason+": "+c.Message+")")
		}
	}
	return strings.Join(append(others, well...), ", ")
}

// policyBlock has a line for each policy that targets the object: whether it is accepted, and
// where it is in force.
func (d *ObjectDescription) policyBlock() view.Block {
	b := view.Block{Columns: []view.Column{{Name: "POLICY", Rank: 2, MinWidth: 30}, {Name: "ON", Rank: 6, MinWidth: 8},
		{Name: "ACCEPTED", Rank: 5, MinWidth: 8}, {Name: "IN FORCE", Rank: 1, MinWidth: 8}}}
	for i := range d.Policies {
		p := &d.Policies[i]
		var sections []string
		for _, t := range p.Targets {
			if d.isAbout(t) && t.Section != "" {
				sections = append(sections, t.Section)
			}
		}
		b.Rows = append(b.Rows, []view.Cell{{Text: p.Object.String()},
			{Text: cmp.Or(strings.Join(sections, ", "), d.wholeText())},
			acceptedCell(p), forceCell(p.InForce)})
	}
	return b
}

// wholeText names all of the object.
func (d *ObjectDescription) wholeText() string {
	if noun := view.SectionNoun(d.Object.Kind); noun != "section" && d.Object.Section == "" {
		return "all " + noun + "s"
	}
	return "-"
}

// acceptedCell says whether a policy is accepted, and else why not.
func acceptedCell(p *status.ObjectStatus) view.Cell {
	out := view.Cell{Text: "-"}
	for _, a := range p.Ancestors {
		for _, c := range a.Conditions {
			switch {
			case c.Type != string(gatewayv1.PolicyConditionAccepted):
			case c.Status != "True":
				return view.Cell{Text: c.Status + " " + c.Reason, Tone: view.Bad}
			default:
				out = view.Cell{Text: c.Status, Tone: view.Good}
			}
		}
	}
	return out
}

// forceCell counts the targets on which a policy is in force.
func forceCell(f *status.PolicyForce) view.Cell {
	if f == nil {
		return view.Cell{Text: "-"}
	}
	noun := "target"
	if f.Level == "rule" {
		noun = "rule"
	}
	of := fmt.Sprintf("%d of %s", f.Wholly+f.Partly, view.FormatCount(f.Targets, noun))
	switch {
	case f.State == "Unknown":
		return view.Cell{Text: "unknown"}
	case f.Wholly+f.Partly == 0:
		return view.Cell{Text: "no", Tone: view.Bad}
	case f.State == "Everywhere":
		return view.Cell{Text: of, Tone: view.Good}
	case f.Partly > 0:
		return view.Cell{Text: of + ", partly", Tone: view.Partly}
	}
	return view.Cell{Text: of, Tone: view.Partly}
}

// reachBlock are the lines of the targets of a policy as `reach` has them.
func (d *ObjectDescription) reachBlock(o view.TableOptions) view.Block {
	if !d.isPolicy || len(d.Reach) == 0 {
		return view.Block{}
	}
	one := reach.PolicyReach{Policy: d.Object, Items: d.Reach}
	one.Complete = true
	t := one.Table(o)
	b := t.Blocks[len(t.Blocks)-1]
	b.Heading = nil
	return b
}

// overriddenBlock are the lines of what was overridden as `overridden` has them.
func (d *ObjectDescription) overriddenBlock(o view.TableOptions) view.Block {
	if len(d.Overridden) == 0 {
		return view.Block{}
	}
	list := overridden.OverriddenRuleList{Items: d.Overridden}
	list.Complete = true
	t := list.Table(o)
	b := t.Blocks[0]
	b.Heading = nil
	return b
}

// findingBlock are the lines of what check finds about the object.
func (d *ObjectDescription) findingBlock() view.Block {
	b := view.Block{Columns: []view.Column{{Name: "SEVERITY"}, {Name: "ID", Rank: 8, MinWidth: 12}, {Name: "MESSAGE",
		Rank: 1, MinWidth: 40, Wrap: true}}}
	for i := range d.Findings {
		f := &d.Findings[i]
		tone := view.Partly
		switch f.Severity {
		case model.Error:
			tone = view.Bad
		case model.Info:
			tone = view.Dim
		}
		b.Rows = append(b.Rows, []view.Cell{{Text: string(f.Severity), Tone: tone}, {Text: f.ID}, {Text: f.Message}})
	}
	return b
}

// nextCommands are what to ask next.
func (d *ObjectDescription) nextCommands(o view.TableOptions) []string {
	argument, command := d.Object.String(), o.FormatCommand
	if d.isPolicy {
		out := []string{"every target: " + command("reach", argument)}
		if deletion := o.FormatDeletion(argument); deletion != "" {
			out = append(out, "what if it were deleted: "+deletion)
		}
		return out
	}
	var out []string
	if len(d.Effective) > 0 {
		out = append(out, "every setting, with why: "+command("effective", argument))
	}
	if len(d.Overridden) > 0 {
		out = append(out, "what was overridden: "+command("overridden", "--target", argument))
	}
	return out
}
