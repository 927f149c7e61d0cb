package render

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// columnFit is how the columns of a block share a line.
type columnFit struct {
	gap     int
	widths  []int
	hidden  []bool // columns that are left out; nil: none
	dropped []string
}

// narrowGap is what stands between two columns that have to share a terminal.
const narrowGap = 2

// fitColumns gives each column its width. If the rows are wider than the terminal, columns give up
// room in the order of their Rank: their cells are shortened, then cut down to Least; then those
// that are Optional are left out; then the others are cut further, and at last left out as well.
// texts has the cells as they are then shown.
func fitColumns(texts [][]string, all []view.Column, width int) columnFit {
	f := columnFit{gap: cellGap, widths: naturalWidths(texts, all), hidden: make([]bool, len(all))}
	if f.lineWidth() <= width {
		return f
	}
	f.gap = narrowGap
	natural, order, short := f.widths, sortByRank(all), shortColumns(texts, all)
	for {
		f.widths = slices.Clone(natural)
		shortened := f.shortenColumns(short, order, width)
		drop := slices.IndexFunc(order, func(c int) bool { return all[c].Optional })
		f.narrowColumns(all, order, width, leastWidth)
		if f.lineWidth() > width && drop < 0 {
			f.narrowColumns(all, order, width, tightWidth)
			drop = slices.IndexFunc(order, func(c int) bool { return all[c].Rank > 1 })
		}
		if f.lineWidth() <= width || drop < 0 {
			for _, c := range shortened {
				for i, row := range texts {
					if c < len(row) {
						row[c] = short[c].cells[i]
					}
				}
			}
			return f
		}
		c := order[drop]
		f.hidden[c] = true
		f.dropped = append(f.dropped, all[c].Name)
		order = slices.Delete(order, drop, drop+1)
	}
}

// narrowColumns takes room from column after column until the rows fit, but leaves each what least
// says.
func (f *columnFit) narrowColumns(all []view.Column, order []int, width int, least func(view.Column) int) {
	for _, c := range order {
		spare := f.widths[c] - max(least(all[c]), textwidth.DisplayWidth(all[c].Name))
		f.widths[c] -= max(0, min(spare, f.lineWidth()-width))
	}
}

// leastWidth is what a column needs to be read with ease, tightWidth what it needs to be
// recognised.
func leastWidth(c view.Column) int { return c.MinWidth }
func tightWidth(c view.Column) int { return max(6, c.MinWidth*2/3) }

// naturalWidths returns the widths that the cells ask for. The last cell of a row that is shorter
// than the table asks for nothing.
func naturalWidths(texts [][]string, all []view.Column) []int {
	out := make([]int, len(all))
	for _, row := range texts {
		for c, text := range row {
			if c < len(row)-1 || len(row) == len(all) {
				out[c] = max(out[c], textwidth.DisplayWidth(text))
			}
		}
	}
	return out
}

// shortColumn is a column in its short form.
type shortColumn struct {
	cells []string // by row
	width int
}

// shortColumns are those columns that have a short form.
func shortColumns(texts [][]string, all []view.Column) map[int]shortColumn {
	out := map[int]shortColumn{}
	for c := range all {
		if all[c].Shorten == nil {
			continue
		}
		short := shortColumn{cells: make([]string, len(texts)), width: textwidth.DisplayWidth(all[c].Name)}
		for i, row := range texts {
			if c < len(row) {
				short.cells[i] = all[c].Shorten(row[c])
				short.width = max(short.width, textwidth.DisplayWidth(short.cells[i]))
			}
		}
		out[c] = short
	}
	return out
}

// shortenColumns shortens column after column until the rows fit, and returns which.
func (f *columnFit) shortenColumns(short map[int]shortColumn, order []int, width int) []int {
	var out []int
	for _, c := range order {
		if f.lineWidth() <= width {
			break
		}
		if column, has := short[c]; has {
			f.widths[c] = min(f.widths[c], column.width)
			out = append(out, c)
		}
	}
	return out
}

// sortByRank returns the columns that may give up room, the first to do so first.
func sortByRank(all []view.Column) []int {
	var out []int
	for c := range all {
		if all[c].Rank > 0 {
			out = append(out, c)
		}
	}
	slices.SortStableFunc(out, func(a, b int) int { return cmp.Compare(all[b].Rank, all[a].Rank) })
	return out
}

// isHidden reports whether a column is not shown.
func (f *columnFit) isHidden(c int) bool { return c < len(f.hidden) && f.hidden[c] }

// lineWidth is the width of a line.
func (f *columnFit) lineWidth() int { return f.widthFrom(0) }

// widthFrom is the room from a column to the end of the line.
func (f *columnFit) widthFrom(column int) int {
	sum := -f.gap
	for c := column; c < len(f.widths); c++ {
		if !f.isHidden(c) {
			sum += f.widths[c] + f.gap
		}
	}
	return max(sum, 0)
}

// layOutRow returns the lines that a row takes: cells are cut, and those of columns that wrap go on
// below. The last cell of a row that is shorter than the table has the rest of its line.
func (f *columnFit) layOutRow(row []string, all []view.Column, mark string) [][]string {
	out := [][]string{make([]string, len(row))}
	for c, text := range row {
		room, wraps := f.widths[c], all[c].Wrap
		if c == len(row)-1 && len(row) < len(all) {
			room, wraps = f.widthFrom(c), true
		}
		switch {
		case textwidth.DisplayWidth(text) <= room || f.isHidden(c):
			out[0][c] = text
		case wraps:
			for i, line := range textwidth.WrapWords(text, room) {
				if i == len(out) {
					out = append(out, make([]string, len(row)))
				}
				out[i][c] = line
			}
		case all[c].KeepEnd:
			out[0][c] = mark + takeLastColumns(text, room-textwidth.DisplayWidth(mark))
		default:
			out[0][c] = truncate(text, room, mark)
		}
	}
	return out
}

// truncate returns text that ends with mark where it does not fit into width columns.
func truncate(text string, width int, mark string) string {
	if textwidth.DisplayWidth(text) <= width {
		return text
	}
	return strings.TrimRight(textwidth.TakeFirstColumns(text, width-textwidth.DisplayWidth(mark)), " ,") + mark
}

// takeLastColumns is the end of text that fits into width columns.
func takeLastColumns(text string, width int) string {
	at := len(text)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(text[:at])
		if width -= textwidth.DisplayWidth(string(r)); width < 0 {
			break
		}
		at -= size
	}
	return text[at:]
}
