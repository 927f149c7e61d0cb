package render

import (
	"cmp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// Which columns stand in the rows, which above or below them, and which are left out.

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
		f.measureColumns()
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

// isShown reports whether a column is in the lines of rows.
func (f *columnFit) isShown(c int) bool {
	return slices.ContainsFunc(f.lines, func(line []int) bool { return slices.Contains(line, c) })
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
