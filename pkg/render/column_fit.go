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

// fit finds the first arrangement with which the rows fit into the terminal.
func (t *fitter) fit() *columnFit {
	f := t.newFit(cellGap)
	if f.lineWidth(0) <= t.width {
		return f
	}
	for _, a := range arrangements {
		if f = t.arrange(a); f != nil {
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
	f.measure()
	return f
}

// arrange returns the rows in one arrangement, nil where they do not fit.
func (t *fitter) arrange(a arrangement) *columnFit {
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
	f.narrow(soft, t.width, func(c int) int { return 2 * t.columns[c].MinWidth })
	f.shorten(t, order, natural)
	f.narrow(soft, t.width, func(c int) int { return t.columns[c].MinWidth })
	if a.names {
		f.narrow(order, t.width, func(c int) int { return max(t.columns[c].MinWidth, f.longestPart(c)) })
	}
	switch {
	case a.stacked:
		f.stack(natural, t.width)
	case f.lineWidth(0) > t.width:
		return nil
	}
	f.widen(order, natural, t.width)
	f.sortGroups()
	for k := 1; k < len(f.lines) && !a.stacked; k++ {
		for _, c := range f.lines[k] {
			f.widths[c] = t.width - f.lineIndent(k)
		}
	}
	return f
}

// measure finds the width that each column asks for. The last cell of a row that is shorter than
// the table asks for nothing.
func (f *columnFit) measure() {
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

// takeGroups takes the columns that are Group out of the rows. A mark in the first cell of a row
// stays with the row.
func (f *columnFit) takeGroups() {
	for _, c := range slices.Clone(f.lines[0]) {
		if f.columns[c].Group {
			f.groups = append(f.groups, c)
			f.leaveOut(c)
		}
	}
	if len(f.groups) > 0 {
		f.indent = groupIndent
		f.measure()
	}
}

// leaveOut takes a column out of the rows.
func (f *columnFit) leaveOut(c int) {
	next := slices.Index(f.lines[0], c) + 1
	for _, row := range f.texts {
		if c >= len(row) || next >= len(f.lines[0]) || f.lines[0][next] >= len(row) {
			continue
		}
		if text, marked := strings.CutPrefix(row[c], view.UnsureMark); marked {
			row[c] = text
			row[f.lines[0][next]] = view.UnsureMark + row[f.lines[0][next]]
		}
	}
	f.lines[0] = slices.Delete(f.lines[0], next-1, next)
}

// putBelow puts the columns that are Below on lines of their own.
func (f *columnFit) putBelow() {
	for _, c := range slices.Clone(f.lines[0]) {
		if f.columns[c].Below {
			f.lines[0] = slices.DeleteFunc(f.lines[0], func(other int) bool { return other == c })
			f.lines = append(f.lines, []int{c})
		}
	}
}

// dropSameColumns leaves out columns that are the same in all rows until these fit.
func (f *columnFit) dropSameColumns(t *fitter) {
	for _, c := range slices.Clone(f.lines[0]) {
		if f.lineWidth(0) <= t.width {
			return
		}
		if len(f.lines[0]) > 1 && !f.columns[c].Keep && f.columns[c].Name != "" && t.isSame(c) {
			f.same = append(f.same, c)
			f.leaveOut(c)
		}
	}
}

// isSame reports whether several rows have the same text in a column. One that tells which rows are
// not sure is not the same, as rows have to say so.
func (t *fitter) isSame(c int) bool {
	first, seen := "", 0
	for _, row := range t.rows {
		if c >= len(row) || c == len(row)-1 && len(row) < len(t.columns) {
			continue
		}
		if seen++; seen == 1 {
			first = row[c]
		}
		if row[c] != first || strings.HasPrefix(row[c], view.UnsureMark) {
			return false
		}
	}
	return seen > 1
}

// dropOptional leaves out columns that are Optional, one by one, until the rows fit: those without
// which all rows can be told apart.
func (f *columnFit) dropOptional(t *fitter) {
	for _, c := range f.sortByRank() {
		if !f.columns[c].Optional {
			continue
		}
		with := f.countDistinct(t.rows)
		before := slices.Clone(f.lines[0])
		if f.lines[0] = slices.DeleteFunc(f.lines[0], func(other int) bool { return other == c }); f.countDistinct(
			t.rows) < with {
			f.lines[0] = before
			continue
		}
		f.dropped = append(f.dropped, c)
	}
}

// rowKey tells rows apart by what is shown of them.
func (f *columnFit) rowKey(row []string) string {
	var b strings.Builder
	write := func(c int) {
		if c < len(row) {
			b.WriteString(row[c])
		}
		b.WriteByte(0)
	}
	for _, c := range f.groups {
		write(c)
	}
	for _, line := range f.lines {
		for _, c := range line {
			write(c)
		}
	}
	return b.String()
}

// countDistinct counts the rows that can be told apart.
func (f *columnFit) countDistinct(rows [][]string) int {
	seen := map[string]bool{}
	for _, row := range rows {
		seen[f.rowKey(row)] = true
	}
	return len(seen)
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

// narrow takes room from column after column until the rows fit, but leaves each what least says.
func (f *columnFit) narrow(order []int, width int, least func(column int) int) {
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

// widen gives back what room is left.
func (f *columnFit) widen(order, natural []int, width int) {
	for _, c := range slices.Backward(order) {
		if slices.Contains(f.lines[0], c) {
			f.widths[c] += max(0, min(natural[c]-f.widths[c], width-f.lineWidth(0)))
		}
	}
}

// shorten makes the cells of column after column shorter until the rows fit, and then, where it
// can, shorter still. natural has the widths that columns then ask for.
func (f *columnFit) shorten(t *fitter, order, natural []int) {
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

// stack spreads the columns over as many lines as they need.
func (f *columnFit) stack(natural []int, width int) {
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

// isShown reports whether a column is in the lines of rows.
func (f *columnFit) isShown(c int) bool {
	return slices.ContainsFunc(f.lines, func(line []int) bool { return slices.Contains(line, c) })
}

// startOf is where a column begins: the one at a place in a line.
func (f *columnFit) startOf(line, at int) int {
	start := f.lineIndent(line)
	for _, c := range f.lines[line][:at] {
		start += f.widths[c] + f.gap
	}
	return start
}

// sortGroups puts the rows of a group together, the first group first.
func (f *columnFit) sortGroups() {
	first := map[string]int{}
	of := make([]int, len(f.texts))
	for i := range f.texts {
		group := f.formatGroup(i)
		if _, known := first[group]; !known {
			first[group] = i
		}
		of[i] = first[group]
	}
	slices.SortStableFunc(f.order, func(a, b int) int { return cmp.Compare(of[a], of[b]) })
}

// formatGroup returns the line above a row and those that share it.
func (f *columnFit) formatGroup(row int) string {
	cells := make([]string, len(f.groups))
	for i, c := range f.groups {
		if c < len(f.texts[row]) {
			cells[i] = f.texts[row][c]
		}
	}
	if f.formatter != nil && len(cells) > 0 {
		return f.formatter(cells)
	}
	return strings.Join(cells, " · ")
}

// findLookalikes finds the rows that look alike, once their cells are cut, and are not.
func (f *columnFit) findLookalikes(t *fitter) {
	alike := map[string][]int{}
	for i, row := range f.texts {
		cut := slices.Clone(row)
		for c := range cut {
			if f.columns[c].Cut {
				cut[c] = truncate(cut[c], f.widths[c], t.mark)
			}
		}
		key := f.rowKey(cut)
		alike[key] = append(alike[key], i)
	}
	for _, rows := range alike {
		for _, i := range rows {
			if f.rowKey(t.rows[i]) != f.rowKey(t.rows[rows[0]]) {
				for _, i := range rows {
					f.whole[i] = true
				}
				break
			}
		}
	}
}

// layOutCell returns the lines that a cell takes. What of the first cell of a row goes on below is
// indented, so that it does not look like another row. The last cell of a row that is shorter than the
// table has room for all that is left of its line.
func (f *columnFit) layOutCell(row, c, room int, mark string) []string {
	text := f.texts[row][c]
	switch {
	case textwidth.DisplayWidth(text) <= room:
		return []string{text}
	case f.columns[c].Cut && !f.whole[row]:
		return []string{truncate(text, room, mark)}
	}
	first := c == f.lines[0][0]
	if first {
		room -= groupIndent
	}
	lines := textwidth.WrapWords(text, room)
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
		if first && i > 0 {
			lines[i] = strings.Repeat(" ", groupIndent) + lines[i]
		}
	}
	return lines
}

// truncate returns text that ends with mark where it does not fit into width columns.
func truncate(text string, width int, mark string) string {
	if textwidth.DisplayWidth(text) <= width {
		return text
	}
	return strings.TrimRight(textwidth.TakeFirstColumns(text, width-textwidth.DisplayWidth(mark)), " ,") + mark
}

// splitHead returns the parts of the name of a column that can stand below each other: words, and
// the words in the name of a kind.
func splitHead(name string) []string {
	var out []string
	start := 0
	for i := 1; i < len(name); i++ {
		isLower := func(i int) bool { return name[i] >= 'a' && name[i] <= 'z' }
		isUpper := func(i int) bool { return name[i] >= 'A' && name[i] <= 'Z' }
		if name[i-1] == ' ' || isUpper(i) && isLower(i-1) {
			out = append(out, name[start:i])
			start = i
		}
	}
	return append(out, name[start:])
}

// longestHeadPart is how wide a column has to be for its name.
func longestHeadPart(name string) int {
	widest := 0
	for _, part := range splitHead(name) {
		widest = max(widest, textwidth.DisplayWidth(strings.TrimSpace(part)))
	}
	return widest
}

// wrapHead returns the name of a column in lines of a width.
func wrapHead(name string, width int) []string {
	out := []string{""}
	for _, part := range splitHead(name) {
		last := len(out) - 1
		if out[last] != "" && textwidth.DisplayWidth(strings.TrimSpace(out[last]+part)) > width {
			out = append(out, "")
			last++
		}
		out[last] += part
	}
	for i := range out {
		out[i] = strings.TrimSpace(out[i])
	}
	return out
}
