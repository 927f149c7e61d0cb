package matrix

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Table has a line for every row. Where something must not be missing, the first line says on how
// many rules it is, and the rows of which that cannot be known stand apart, with the reason.
func (m *PolicyMatrix) Table(o view.TableOptions) view.Table {
	var t view.Table
	properties := m.shownProperties(o)
	rows := m.joinAlikeRows(m.Items, properties)
	shown := rows[:o.CountShown(len(rows))]
	var sure, open []MatrixRow
	for _, row := range shown {
		if len(m.Required) > 0 && len(row.Missing) == 0 {
			open = append(open, row)
		} else {
			sure = append(sure, row)
		}
	}
	if len(m.Kinds)+len(properties) > 0 && len(sure) > 0 {
		t.Blocks = append(t.Blocks, m.buildBlock(sure, properties, o, false))
	}
	if len(open) > 0 {
		b := m.buildBlock(open, properties, o, true)
		b.Heading = []string{"cannot tell:"}
		t.Blocks = append(t.Blocks, b)
	}
	ingresses := m.Ingresses[:o.CountShown(len(m.Ingresses))]
	if len(ingresses) > 0 {
		b := m.ingressBlock(ingresses)
		if len(t.Blocks) > 0 {
			b.Heading = []string{"paths of Ingresses:"}
		}
		t.Blocks = append(t.Blocks, b)
	}
	t.Footer = append(t.Footer, view.FormatMoreLine(len(rows)-len(shown)+len(m.Ingresses)-len(ingresses), "line")...)
	if len(t.Blocks) > 0 && len(m.Required) > 0 {
		first := &t.Blocks[0]
		first.Heading = append(m.verdictLines(), first.Heading...)
	} else {
		t.Footer = append(t.Footer, m.verdictLines()...)
	}
	t.Footer = append(t.Footer, m.leftOutLines(o)...)
	t.Footer = append(t.Footer, legendLines(sure, open, o)...)
	t.Footer = append(t.Footer, m.IncompleteLines()...)
	return t
}

// FilterNames are the routes and the Ingresses of the rows, each once.
func (m *PolicyMatrix) FilterNames() []string {
	return append(view.UniqueObjectNames(m.Items, func(r *MatrixRow) *model.Ref { return &r.Target }),
		view.UniqueObjectNames(m.Ingresses, func(r *IngressRow) *model.Ref { return &r.Target })...)
}

// buildBlock returns rows with their columns. VIA is shown where rules have several rows, WHY where
// every reader needs it.
func (m *PolicyMatrix) buildBlock(rows []MatrixRow, properties []gate.Property, o view.TableOptions,
	why bool) view.Block {
	split := slices.ContainsFunc(rows, func(r MatrixRow) bool { return r.hasOtherRows })
	b := view.Block{FormatGroup: formatRouteGroup, Columns: []view.Column{
		{Name: "NAMESPACE", Rank: 2, MinWidth: 9, Group: true},
		{Name: "ROUTE", Rank: 6, MinWidth: 10, Shorten: view.ShortName, Group: true},
		{Name: "RULE", Rank: 2, MinWidth: 10}}}
	kinds := view.KindNames{}
	for _, k := range m.Kinds {
		kinds.Add(k)
	}
	for _, k := range m.Kinds {
		name := kinds.ShortName(k)
		if o.Terminal {
			name = view.ShortKind(name)
		}
		b.Columns = append(b.Columns, view.Column{Name: name, Rank: 3, MinWidth: 8, Wrap: true})
	}
	for _, p := range properties {
		b.Columns = append(b.Columns, view.Column{Name: string(p), Rank: 4, MinWidth: 8, Wrap: true})
	}
	b.Columns = append(b.Columns, view.Column{Name: "VIA", Wide: !split, Rank: 8, MinWidth: 10,
		Shorten: view.ShortVia, Group: split}, view.Column{Name: "WHY", Wide: !why, Rank: 9, MinWidth: 24, Wrap: true,
		Below: true})
	for i := range rows {
		r := &rows[i]
		line := []view.Cell{{Text: r.Target.Namespace}, {Text: strings.ToLower(r.Target.Kind) + "/" + r.Target.Name},
			{Text: r.Target.Section}}
		var reasons []string
		for c := range r.Cells {
			cell := &r.Cells[c]
			line = append(line, view.Cell{Text: cell.formatState(), Tone: cell.stateTone(len(m.Required) > 0)})
			if cell.Why != "" {
				reasons = append(reasons, cell.formatReason(kinds, len(r.Cells) == 1))
			}
		}
		for _, p := range properties {
			got := r.Protection.ResultOf(p)
			line = append(line, view.Cell{Text: view.FormatProtection(got), Tone: protectionTone(got.Verdict,
				m.isRequired(p))})
			if text := view.JoinReasons(got.Because); text != "" && !slices.Contains(reasons, text) &&
				(m.isRequired(p) || len(m.Required) == 0 && got.Verdict != gate.Holds && !got.HasReason(gate.NoGate)) {
				reasons = append(reasons, text)
			}
		}
		b.Rows = append(b.Rows, append(line, view.Cell{Text: view.ViaCell(r.Paths, r.Target, o)},
			view.Cell{Text: view.OrDash(strings.Join(reasons, "; "))}))
	}
	return b
}

// formatRouteGroup says the cells NAMESPACE, ROUTE and, where it is shown, VIA in a line.
func formatRouteGroup(cells []string) string {
	return view.FormatTargetGroup(slices.Insert(slices.Clone(cells), 2, "-"))
}

// The marks of cells where no policy of the kind is in force for sure.
const (
	markNone    = "-"
	markLostAll = "overridden"
	markVoid    = "void"
	markUnknown = "?"
)

// formatState writes a cell: the levels from which what is in force comes, or a mark.
func (c *MatrixCell) formatState() string {
	switch c.State {
	case CellInForce:
		return formatLevels(c.Levels)
	case CellUnknown:
		return formatLevels(c.Levels) + markUnknown
	case CellLost:
		return markLostAll
	case CellVoid:
		return markVoid
	case CellNotApplicable:
		return view.MarkNotApplicable
	}
	return markNone
}

func formatLevels(levels []string) string {
	words := make([]string, len(levels))
	for i, level := range levels {
		words[i] = level
		switch level {
		case string(topology.GatewayClass):
			words[i] = "class"
		case string(topology.ListenerSet):
			words[i] = "listenerset"
		case "section": // the listener of a Gateway that a policy names by its section
			words[i] = string(topology.Listener)
		}
	}
	return strings.Join(slices.Compact(words), "+")
}

func (c *MatrixCell) stateTone(required bool) view.Tone {
	switch c.State {
	case CellLost, CellVoid:
		return view.Bad
	case CellUnknown:
		return view.Partly
	case CellNone:
		if required {
			return view.Bad
		}
		return view.Dim
	case CellNotApplicable:
		return view.Dim
	}
	return view.Plain
}

// formatReason says why a cell is as it is, with the policies that it is about. A cell that is
// alone need not name its kind.
func (c *MatrixCell) formatReason(kinds view.KindNames, alone bool) string {
	var about []string
	if !alone {
		about = append(about, kinds.ShortName(c.PolicyKind))
	}
	if c.State != CellUnknown {
		var names []string
		for _, p := range c.Policies {
			names = append(names, p.FullName())
		}
		about = append(about, view.JoinNames(names, view.TableOptions{}))
	}
	if len(about) == 0 {
		return c.Why
	}
	return strings.Join(about, " ") + ": " + c.Why
}

// verdictLines says in a line for each required kind on how many rules it is missing.
func (m *PolicyMatrix) verdictLines() []string {
	if m.Rules == 0 && len(m.Ingresses) > 0 {
		return nil
	}
	if m.Rules == 0 {
		return []string{"no route rule that is asked about gets traffic"}
	}
	if len(m.Kinds) == 0 && len(m.properties) == 0 {
		return []string{m.NoPolicyText() + " of a kind that is in force at route rules is in the input"}
	}
	if len(m.Required) == 0 {
		return nil
	}
	var out []string
	kinds := view.KindNames{}
	for _, k := range m.Kinds {
		kinds.Add(k)
	}
	for i := range m.Counts {
		c := &m.Counts[i]
		if property, _, _ := strings.Cut(c.PolicyKind, "="); gate.IsProperty(property) {
			out = append(out, c.formatPropertySentence(c.PolicyKind, m.Complete))
			continue
		}
		var names []string
		for _, alternative := range strings.Split(c.PolicyKind, " or ") {
			names = append(names, kinds.ShortName(alternative))
		}
		out = append(out, c.formatSentence(strings.Join(names, " or "), m.Complete))
	}
	return out
}

// formatSentence says a count in a sentence. It claims that a kind is everywhere only if that is
// known.
func (c *MatrixCount) formatSentence(kind string, complete bool) string {
	judged := c.Missing + c.Unknown + c.InForce
	var line string
	switch {
	case judged == 0:
		line = fmt.Sprintf("%s applies to none of %s", kind, view.FormatCount(c.NotApplicable, "route rule"))
	case c.Missing > 0 && c.Unknown > 0:
		line = fmt.Sprintf("%s is missing on %d of %s, and cannot be told on %d", kind, c.Missing,
			view.FormatCount(judged, "route rule"), c.Unknown)
	case c.Missing > 0:
		line = fmt.Sprintf("%s is missing on %d of %s", kind, c.Missing, view.FormatCount(judged, "route rule"))
	case c.Unknown > 0:
		line = fmt.Sprintf("cannot tell whether %s is in force on %d of %s", kind, c.Unknown,
			view.FormatCount(judged, "route rule"))
	case !complete:
		line = fmt.Sprintf("%s is in force on %s, all that were read, but the answer is incomplete", kind,
			view.FormatCount(judged, "route rule"))
	case judged == 1:
		line = kind + " is in force on the only route rule"
	default:
		line = fmt.Sprintf("%s is in force on all %s", kind, view.FormatCount(judged, "route rule"))
	}
	if c.NotApplicable > 0 && judged > 0 {
		line += fmt.Sprintf("; it does not apply to %d more, not listed", c.NotApplicable)
	}
	return line
}

// leftOutLines says what has no rows and no columns.
func (m *PolicyMatrix) leftOutLines(o view.TableOptions) []string {
	var out []string
	if n := len(m.Idle); n > 0 {
		names := make([]string, n)
		for i, ref := range m.Idle {
			names[i] = ref.String()
		}
		out = append(out, view.FormatCount(n, "route rule gets|route rules get")+" no traffic and "+view.InflectNoun(n,
			"is|are")+" not listed: "+view.JoinNames(names, o))
	}
	if n := len(m.Elsewhere); n > 0 {
		kinds := view.KindNames{}
		for _, k := range m.Elsewhere {
			kinds.Add(k)
		}
		names := make([]string, n)
		for i, k := range m.Elsewhere {
			names[i] = kinds.ShortName(k)
		}
		out = append(out, "not in force at route rules, and not shown: "+view.JoinNames(names, o))
	}
	if m.leavesIngressesOut {
		out = append(out, "paths of Ingresses are not among them: matrix without --missing lists what protects them")
	}
	return out
}

// legendLines explains the marks in view, and how to see the reasons that are not shown.
func legendLines(sure, open []MatrixRow, o view.TableOptions) []string {
	seen := map[string]bool{}
	see := func(rows []MatrixRow) {
		for i := range rows {
			for c := range rows[i].Cells {
				seen[rows[i].Cells[c].State] = true
			}
		}
	}
	see(sure)
	hidden := !o.Wide && (seen[CellUnknown] || seen[CellLost] || seen[CellVoid])
	see(open)
	var out []string
	for _, mark := range [][2]string{{CellUnknown, markUnknown + " = cannot tell"},
		{CellLost, markLostAll + " = nothing of the policies there is in force"},
		{CellVoid, markVoid + " = a policy names it and does not attach"}, {CellNotApplicable, view.MarkNotApplicable +
			" = does not apply"}} {
		if seen[mark[0]] {
			out = append(out, mark[1])
		}
	}
	if out == nil {
		return nil
	}
	line := strings.Join(out, ", ")
	if hidden {
		line += "; -o wide says why"
	}
	return []string{line}
}
