package cover

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// changeTexts is each change in words; %s is the part.
var changeTexts = map[string]string{
	PolicyDeleted:   "could vanish",
	SettingRemoved:  "could lose %s",
	NumberRaised:    "could have 1000 × %s",
	OverrideLowered: "could have its overrides made defaults",
	TargetRemoved:   "could lose its target %s",
	GrantDeleted:    "could vanish",
	FilterRemoved:   "could lose filter %s",
	ParentRemoved:   "could lose its parent %s",
	RuleDeleted:     "could lose rule %s",
}

// Describe says what could happen unnoticed.
func (g *UnnoticedChange) Describe() string {
	text := changeTexts[g.Change]
	if g.Part == "" {
		text = changeTexts[PolicyDeleted]
	}
	if strings.Contains(text, "%s") {
		text = fmt.Sprintf(text, g.Part)
	}
	return text
}

var changeNouns = map[string]string{
	PolicyDeleted: "policy to delete|policies to delete", SettingRemoved: "setting to remove|settings to remove",
	NumberRaised:    "number to raise|numbers to raise",
	OverrideLowered: "override to make a default|overrides to make defaults",
	TargetRemoved:   "target to remove|targets to remove", GrantDeleted: "grant to delete|grants to delete",
	FilterRemoved: "filter to remove|filters to remove",
	ParentRemoved: "parent to remove|parents to remove", RuleDeleted: "route rule to delete|route rules to delete",
}

// Headline says how much the requirements notice.
func (r *Report) Headline() string {
	if n := r.Noticed + len(r.Items); n > 0 {
		return fmt.Sprintf("the requirements notice %d of %s (%d%%)", r.Noticed, view.FormatCount(n, "change"),
			r.Percent)
	}
	return "no change was tried that has an effect"
}

// Table lists what could happen unnoticed, then what each requirement notices.
func (r *Report) Table(o view.TableOptions) view.Table {
	t := view.Table{Blocks: []view.Block{{Heading: []string{r.Headline()}}}}
	b := &t.Blocks[0]
	if len(r.Items) > 0 {
		b.Columns = []view.Column{{Name: "OBJECT", Rank: 2, MinWidth: 16}, {Name: "UNNOTICED", Rank: 1,
			MinWidth: 16}, {Name: "EFFECT", Rank: 3, MinWidth: 24, Wrap: true}, {Name: "ORIGIN", Wide: true}}
		shown := r.Items
		if o.Limit > 0 && len(shown) > o.Limit {
			shown = shown[:o.Limit]
		}
		for i := range shown {
			g := &shown[i]
			b.Rows = append(b.Rows, []view.Cell{{Text: formatObject(g.Object)}, {Text: g.Describe(), Tone: view.Bad},
				{Text: g.Effect}, {Text: g.Origin.String()}})
		}
		if hidden := len(r.Items) - len(shown); hidden > 0 {
			t.Footer = append(t.Footer, fmt.Sprintf("… and %s (--limit 0 shows all)",
				view.FormatCount(hidden, "more change")))
		}
	}
	if len(r.Requirements) > 0 {
		reqs := view.Block{Columns: []view.Column{{Name: "REQUIREMENT", Rank: 1, MinWidth: 16},
			{Name: "NOTICES", Rank: 2}, {Name: "ALONE", Rank: 2}, {Name: "", Rank: 3, Wrap: true}}}
		for i := range r.Requirements {
			q := &r.Requirements[i]
			note := ""
			switch {
			case q.Notices == 0:
				note = "notices nothing that was tried"
			case q.Alone == 0:
				note = "could vanish: others notice the same"
			}
			reqs.Rows = append(reqs.Rows, []view.Cell{{Text: q.Name}, {Text: fmt.Sprint(q.Notices)},
				{Text: fmt.Sprint(q.Alone)}, {Text: note}})
		}
		t.Blocks = append(t.Blocks, reqs)
	}
	if r.NoEffect > 0 {
		t.Footer = append(t.Footer, view.FormatCount(r.NoEffect, "change has|changes have")+
			" no effect and are left out")
	}
	if r.Failing > 0 {
		t.Footer = append(t.Footer, "the requirements have "+view.FormatCount(r.Failing, "finding")+
			" before anything is changed: what fails already notices nothing more there")
	}
	if len(r.NotTried) > 0 {
		parts := make([]string, len(r.NotTried))
		for i, c := range r.NotTried {
			parts[i] = view.FormatCount(c.Count, changeNouns[c.Change])
		}
		t.Footer = append(t.Footer, "not tried, because the budget is spent: "+strings.Join(parts, ", ")+" (--budget)")
	}
	t.Footer = append(t.Footer, r.IncompleteLines()...)
	return t
}

func formatObject(ref model.Ref) string { return strings.ToLower(ref.Kind) + "/" + ref.FullName() }

// FilterNames are the objects that could change unnoticed.
func (r *Report) FilterNames() []string {
	refs := make([]*model.Ref, len(r.Items))
	for i := range r.Items {
		refs[i] = &r.Items[i].Object
	}
	return view.ObjectNames(refs)
}
