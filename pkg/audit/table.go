package audit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table shows the differences; wide also what agrees and what is not compared.
func (r *Report) Table(o view.TableOptions) view.Table {
	several := len(r.Proxies) > 1
	b := view.Block{Columns: []view.Column{{Name: "TARGET", Rank: 5, MinWidth: 20, Group: true}, {Name: "POLICY KIND", Rank: 7,
		MinWidth: 12}, {Name: "SETTING", Rank: 4, MinWidth: 12, Shorten: view.ShortSetting, Shorter: view.LastOfSetting}, {Name: "DIFFERENCE", Rank: 3, MinWidth: 12},
		{Name: "PREDICTED", Rank: 8, MinWidth: 10, Wrap: true}, {Name: "FOUND", Rank: 8, MinWidth: 10, Wrap: true}, {Name: "POLICY", Rank: 6,
			MinWidth: 12}, {Name: "WHERE TO LOOK", Rank: 9, MinWidth: 20, Wrap: true, Below: true},
		{Name: "WHAT IT IS", Wide: true}}}
	if several {
		b.Columns = append([]view.Column{{Name: "PROXY", Rank: 6, MinWidth: 12}}, b.Columns...)
	}
	for i := range r.Items {
		if !r.Items[i].Verdict.IsDifference() && !o.Wide {
			continue
		}
		row := r.Items[i].tableRow()
		if several {
			row = append([]view.Cell{{Text: r.Items[i].Proxy}}, row...)
		}
		b.Rows = append(b.Rows, row)
	}
	var t view.Table
	if len(b.Rows) > 0 {
		shown := len(b.Rows)
		if o.Limit > 0 && o.Limit < shown {
			shown = o.Limit
			t.Footer = append(t.Footer, fmt.Sprintf("%d more lines", len(b.Rows)-shown))
		}
		b.Rows = b.Rows[:shown]
		t.Blocks = []view.Block{b}
	}
	for _, d := range r.Drift {
		t.Footer = append(t.Footer, d.Message)
	}
	t.Footer = append(t.Footer, r.Summary.formatCounts(o))
	if r.Statuses != nil {
		statuses := r.Statuses.Table(o)
		t.Blocks, t.Footer = append(t.Blocks, statuses.Blocks...), append(t.Footer, statuses.Footer...)
	}
	return t
}

func (i *Item) tableRow() []view.Cell {
	target, policies := "-", make([]string, 0, len(i.Policies))
	if i.Target != nil {
		target = i.Target.String()
	}
	for _, p := range i.Policies {
		policies = append(policies, p.FullName())
	}
	tone := view.Plain
	switch {
	case i.Verdict.IsDifference():
		tone = view.Bad
	case i.Verdict == Same:
		tone = view.Good
	}
	kind := i.PolicyKind
	if gk := model.ParseGroupKind(kind); gk.Kind != "" {
		kind = gk.Kind
	}
	predicted, found := i.formatSides()
	cells := []view.Cell{{Text: target}, {Text: kind}, {Text: cmp.Or(i.Setting, strings.Join(i.Settings, ", "))},
		{Text: string(i.Verdict), Tone: tone}, {Text: predicted}, {Text: found, Tone: tone},
		{Text: strings.Join(policies, ", ")}, {Text: i.XDS.formatNames()}, {Text: i.Message}}
	for n := range cells {
		if cells[n].Text == "" {
			cells[n].Text = "-"
		}
	}
	return cells
}

// formatSides returns both sides of a comparison in cells: of messages only what differs.
func (i *Item) formatSides() (predicted, found string) {
	p, isMap := i.Predicted.(Value)
	f, both := i.Found.(Value)
	if !isMap || !both {
		return formatValue(i.Predicted), formatValue(i.Found)
	}
	left, right := Value{}, Value{}
	for k, v := range p {
		if !reflect.DeepEqual(v, f[k]) {
			left[k] = v
			if f[k] != nil {
				right[k] = f[k]
			}
		}
	}
	if len(left) == 0 { // they differ in what is hidden
		return formatValue(p), formatValue(f)
	}
	return formatValue(left), formatValue(right)
}

// formatValue returns a value in a cell.
func formatValue(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case []string:
		return strings.Join(v, ", ")
	case Value:
		var out []string
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = append(out, k+": "+formatValue(v[k]))
		}
		return strings.Join(out, ", ")
	}
	text, err := json.Marshal(v)
	if err != nil {
		return ""
	}
	return string(text)
}

// formatNames returns the names to look for.
func (x *XDS) formatNames() string {
	if x == nil {
		return ""
	}
	var out []string
	if x.Filter != "" {
		out = append(out, "filter "+x.Filter)
	}
	switch {
	case len(x.Routes) > 1:
		out = append(out, fmt.Sprintf("route %s and %d more", x.Routes[0], len(x.Routes)-1))
	case len(x.Routes) == 1:
		out = append(out, "route "+x.Routes[0])
	case x.Listener != "":
		out = append(out, "listener "+x.Listener)
	}
	return strings.Join(out, ", ")
}

// formatCounts returns the counts in words.
func (s *Summary) formatCounts(o view.TableOptions) string {
	out := fmt.Sprintf("%d of %s found in the proxy; %s as predicted", s.Matched, view.FormatCount(s.Rules, "rule"),
		view.FormatCount(s.Same, "setting"))
	switch n := s.Differences(); {
	case n > 0:
		out += "; " + view.FormatCount(n, "difference")
	case s.Same == 0 && (s.Matched == 0 || s.NotCompared > 0): // no difference is no agreement
		out = "nothing was compared: " + out
	default:
		out += "; no differences"
	}
	if s.NotCompared > 0 {
		out += fmt.Sprintf("; not compared: %d", s.NotCompared)
		if !o.Wide {
			out += " (-o wide says why)"
		}
	}
	return out
}

// FilterNames are the targets that differ, each once.
func (r *Report) FilterNames() []string {
	var out []string
	seen := map[string]bool{}
	for i := range r.Items {
		t := r.Items[i].Target
		if t == nil || !r.Items[i].Verdict.IsDifference() {
			continue
		}
		name := strings.ToLower(t.GroupKind().String()) + "/" + t.Name
		if !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
