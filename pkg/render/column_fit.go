package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// columnFit is how the columns of a block share lines.
type columnFit struct {
	columns []view.Column
	texts   [][]string // the cells as they are shown, by row
	whole   []bool     // rows that would look like another one if cells were cut: theirs go on below
	gap     int
	widths  []int
	lines   [][]int // the columns on each line of a row
	indent  int     // of rows; they stand below the lines of their groups
	order   []int   // in which the rows are shown
	groups  []int   // columns that stand in a line of their own above the rows that share them
	same    []int   // columns that are left out, as they are the same in all rows
	dropped []int   // columns that are left out for other reasons

	formatter func(cells []string) string // writes the line of a group; nil: the cells as they are
}

// narrowGap is what stands between two columns that have to share a terminal.
const narrowGap = 2

// groupIndent is what stands before rows below the line of their group.
const groupIndent = 2

// fitter looks for an arrangement of rows that a terminal has room for.
type fitter struct {
	columns []view.Column
	rows    [][]string
	width   int
	mark    string              // stands for what was cut
	escape  func(string) string // makes a shortened cell fit to be written

	formatGroup func(cells []string) string // writes the line of a group; nil: the cells as they are
}

// arrangement is what is done for rows that are too wide, beside leaving out columns that are the
// same in all rows and shortening cells.
type arrangement struct {
	below    bool // cells that are Below stand on lines of their own
	group    bool // cells of Group columns stand above the rows that share them
	optional bool // columns that are Optional are left out
	names    bool // cells that are neither cut nor prose go on below as well
	stacked  bool // columns are spread over several lines
}

// arrangements are tried in this order: each does more to a table than the one before.
var arrangements = []arrangement{{}, {below: true}, {below: true, group: true},
	{below: true, group: true, optional: true}, {below: true, group: true, optional: true, names: true},
	{below: true, group: true, optional: true, stacked: true}}

// findFit finds the first arrangement with which the rows fit into the terminal.
func (t *fitter) findFit() *columnFit {
	f := t.newFit(cellGap)
	if f.lineWidth(0) <= t.width {
		return f
	}
	for _, a := range arrangements {
		if f = t.tryArrangement(a); f != nil {
			break
		}
	}
	f.findLookalikes(t)
	return f
}

// newFit returns all columns beside each other, as wide as they ask for.
func (t *fitter) newFit(gap int) *columnFit {
	f := &columnFit{columns: t.columns, formatter: t.formatGroup, gap: gap, lines: [][]int{nil}, whole: make([]bool, len(t.rows))}
	f.texts = make([][]string, len(t.rows))
	for i, row := range t.rows {
		f.texts[i] = slices.Clone(row)
		f.order = append(f.order, i)
	}
	for c := range t.columns {
		f.lines[0] = append(f.lines[0], c)
	}
	f.measureColumns()
	return f
}

// tryArrangement returns the rows in one arrangement, nil where they do not fit.
func (t *fitter) tryArrangement(a arrangement) *columnFit {
	f := t.newFit(narrowGap)
	if a.group {
		f.takeGroups()
	}
	if a.below {
		f.putBelow()
	}
	f.dropSameColumns(t)
	if a.optional {
		f.dropOptional(t)
	}
	order := f.sortByRank()
	soft := slices.DeleteFunc(slices.Clone(order), func(c int) bool { return !t.columns[c].Cut && !t.columns[c].Wrap })
	natural := slices.Clone(f.widths)
	f.narrowColumns(soft, t.width, func(c int) int { return 2 * t.columns[c].MinWidth })
	f.shortenColumns(t, order, natural)
	f.narrowColumns(soft, t.width, func(c int) int { return t.columns[c].MinWidth })
	if a.names {
		f.narrowColumns(order, t.width, func(c int) int { return max(t.columns[c].MinWidth, f.longestPart(c)) })
	}
	switch {
	case a.stacked:
		f.stackColumns(natural, t.width)
	case f.lineWidth(0) > t.width:
		return nil
	}
	f.widenColumns(order, natural, t.width)
	f.sortGroups()
	for k := 1; k < len(f.lines) && !a.stacked; k++ {
		for _, c := range f.lines[k] {
			f.widths[c] = t.width - f.lineIndent(k)
		}
	}
	return f
}

// measureColumns finds the width that each column asks for. The last cell of a row that is shorter than
// the table asks for nothing.
func (f *columnFit) measureColumns() {
	f.widths = make([]int, len(f.columns))
	for c := range f.columns {
		f.measureColumn(c)
	}
}

func (f *columnFit) measureColumn(c int) {
	f.widths[c] = textwidth.DisplayWidth(f.columns[c].Name)
	for _, row := range f.texts {
		if c < len(row)-1 || c < len(row) && len(row) == len(f.columns) {
			f.widths[c] = max(f.widths[c], textwidth.DisplayWidth(row[c]))
		}
	}
}

// sortByRank returns the columns that may give up room, the first to do so first.
func (f *columnFit) sortByRank() []int {
	var out []int
	for _, c := range f.lines[0] {
		if f.columns[c].Rank > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(f.columns[b].Rank, f.columns[a].Rank) })
	return out
}

// narrowColumns takes room from column after column until the rows fit, but leaves each what least says.
func (f *columnFit) narrowColumns(order []int, width int, least func(column int) int) {
	for _, c := range order {
		spare := f.widths[c] - max(least(c), longestHeadPart(f.columns[c].Name))
		f.widths[c] -= max(0, min(spare, f.lineWidth(0)-width))
	}
}

// longestPart is how wide a column has to be so that none of its names is broken within a word. One
// that is cut can be narrower.
func (f *columnFit) longestPart(c int) int {
	widest := 0
	for _, row := range f.texts {
		if c < len(row) && !f.columns[c].Cut && (c < len(row)-1 || len(row) == len(f.columns)) {
			widest = max(widest, textwidth.LongestPart(row[c]))
		}
	}
	if c == f.lines[0][0] {
		widest = min(widest+groupIndent, f.widths[c])
	}
	return widest
}

// widenColumns gives back what room is left.
func (f *columnFit) widenColumns(order, natural []int, width int) {
	for _, c := range slices.Backward(order) {
		if slices.Contains(f.lines[0], c) {
			f.widths[c] += max(0, min(natural[c]-f.widths[c], width-f.lineWidth(0)))
		}
	}
}

// shortenColumns makes the cells of column after column shorter until the rows fit, and then, where it
// can, shorter still. natural has the widths that columns then ask for.
func (f *columnFit) shortenColumns(t *fitter, order, natural []int) {
	for _, step := range []func(view.Column) func(string) string{
		func(c view.Column) func(string) string { return c.Shorten },
		func(c view.Column) func(string) string { return c.Shorter }} {
		for _, c := range order {
			if f.lineWidth(0) <= t.width {
				return
			}
			if short := step(f.columns[c]); short != nil {
				f.shortenColumn(t, c, short)
				width := f.widths[c]
				f.measureColumn(c)
				natural[c], f.widths[c] = f.widths[c], min(f.widths[c], width)
			}
		}
	}
}

// shortenColumn makes the cells of a column shorter. Cells that differ stay different; in a column of
// Words it is enough that their rows do.
func (f *columnFit) shortenColumn(t *fitter, c int, short func(string) string) {
	words := f.columns[c].Words
	cells := make([]string, len(f.texts))
	of := map[string]string{}  // the text of which one is the short form
	clash := map[string]bool{} // short forms of several texts
	key := func(i int, text string) (shown, whole string) {
		if !words {
			return text, t.rows[i][c]
		}
		row := slices.Clone(f.texts[i])
		row[c] = text
		return f.rowKey(row), f.rowKey(t.rows[i])
	}
	for i, row := range f.texts {
		if c >= len(row) || c == len(row)-1 && len(row) < len(f.columns) {
			continue
		}
		text, marked := strings.CutPrefix(row[c], view.UnsureMark)
		cells[i] = t.escape(short(text))
		if marked {
			cells[i] = view.UnsureMark + cells[i]
		}
		shown, whole := key(i, cells[i])
		if other, known := of[shown]; known && other != whole {
			clash[shown] = true
		}
		of[shown] = whole
	}
	for i, row := range f.texts {
		if c >= len(row) || cells[i] == "" || cells[i] == row[c] {
			continue
		}
		if shown, _ := key(i, cells[i]); !clash[shown] {
			row[c] = cells[i]
		}
	}
}

// stackColumns spreads the columns over as many lines as they need.
func (f *columnFit) stackColumns(natural []int, width int) {
	for _, c := range f.lines[0] {
		f.widths[c] = natural[c]
	}
	lines := [][]int{nil}
	for _, line := range f.lines {
		for _, c := range line {
			last := len(lines) - 1
			room := width - f.indent
			if last > 0 {
				room -= f.stackIndent()
			}
			used := 0
			for _, other := range lines[last] {
				used += f.widths[other] + f.gap
			}
			if len(lines[last]) > 0 && used+min(f.widths[c], room) > room {
				lines, used = append(lines, nil), 0
				last, room = last+1, width-f.indent-f.stackIndent()
			}
			f.widths[c] = min(f.widths[c], room-used)
			lines[last] = append(lines[last], c)
		}
	}
	f.lines = lines
}

func (f *columnFit) stackIndent() int { return 2 * groupIndent }

// lineIndent is what stands before the first column of a line.
func (f *columnFit) lineIndent(line int) int {
	if line == 0 {
		return f.indent
	}
	const most = 12 // how far what stands below a row may be to the right
	if first := f.lines[0][0]; len(f.lines[0]) > 1 && f.widths[first]+f.gap <= most {
		return f.indent + f.widths[first] + f.gap
	}
	return f.indent + f.stackIndent()
}

// lineWidth is the width of a line.
func (f *columnFit) lineWidth(line int) int {
	sum := f.indent - f.gap
	for _, c := range f.lines[line] {
		sum += f.widths[c] + f.gap
	}
	return max(sum, 0)
}

// startOf is where a column begins: the one at a place in a line.
func (f *columnFit) startOf(line, at int) int {
	start := f.lineIndent(line)
	for _, c := range f.lines[line][:at] {
		start += f.widths[c] + f.gap
	}
	return start
}
