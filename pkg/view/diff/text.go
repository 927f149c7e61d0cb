package diff

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// DiffText is one change as two texts to compare, with every target to which it happens.
type DiffText struct {
	Title         string
	Targets       []string
	Before, After DiffSide
}

// DiffSide is what is in force on one side: where each setting comes from, and the effective spec;
// nil where nothing is.
type DiffSide struct {
	Notes []string
	Spec  any
}

// Texts returns the changes as texts to compare, those first that take protection away. Targets to
// which the same happens share one.
func (d *EffectivePolicyDiff) Texts() []DiffText {
	type change struct {
		idPair
		targetChange, unread string
		unprotected          bool
	}
	at := map[change]int{}
	var groups []changeGroup
	for i := range d.Items {
		c := &d.Items[i]
		key := change{idPair{c.PolicyKind, policyOrEmpty(c.before).ID, policyOrEmpty(c.after).ID}, c.TargetChange,
			strings.Join(c.Unread, "\x00"), c.Unprotected}
		n, known := at[key]
		if !known {
			n = len(groups)
			at[key] = n
			groups = append(groups, changeGroup{})
		}
		groups[n].changes = append(groups[n].changes, c)
	}
	slices.SortStableFunc(groups,
		func(a, b changeGroup) int { return rankChange(a.changes[0]) - rankChange(b.changes[0]) })
	kinds := d.collectKindNames()
	out := make([]DiffText, len(groups))
	for i := range groups {
		out[i] = groups[i].buildText(kinds)
	}
	return out
}

// buildText returns a group as two texts.
func (g *changeGroup) buildText(kinds view.KindNames) DiffText {
	c := g.changes[0]
	kind := kinds.ShortName(c.PolicyKind)
	t := DiffText{Title: kind + " " + strings.ToLower(c.Change), Before: sideText(c, c.before),
		After: sideText(c, c.after)}
	labels, _ := g.buildLabels(view.TableOptions{Wide: true})
	for _, label := range labels {
		t.Targets = append(t.Targets, strings.TrimPrefix(label[0].Text+" "+label[1].Text, "- "))
	}
	if c.before == nil {
		t.Before.Notes = []string{absenceText(c, kind, additionText(c))}
	}
	if c.after == nil {
		word, _ := removalText(c)
		t.After.Notes = []string{absenceText(c, kind, word)}
	}
	if len(c.Unread) > 0 {
		t.Title += ", perhaps only because something could not be read: " + strings.Join(c.Unread, ", ")
	}
	return t
}

// absenceText says that nothing is in force, and why.
func absenceText(c *PolicyChange, kind, why string) string {
	if c.Unprotected {
		return why + ": no " + kind + " is in force"
	}
	if c.TargetChange == "" {
		return "no " + kind + " is in force"
	}
	return why
}

// sideText returns what is in force on one side, and where each setting comes from.
func sideText(c *PolicyChange, e *view.EffectivePolicy) DiffSide {
	if e == nil {
		return DiffSide{}
	}
	out := DiffSide{Spec: e.Spec}
	for _, r := range e.Rules {
		out.Notes = append(out.Notes, r.Name+": "+detailedSourcesText(c, r.Sources))
	}
	return out
}
