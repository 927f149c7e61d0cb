package render

import (
	"bufio"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// cellGap is what stands between two columns.
const cellGap = 3

// printer writes text for people. Errors of the writer show when it is flushed.
type printer struct {
	w      *bufio.Writer
	style  textStyle
	width  int // columns of the terminal; 0: any
	blocks int // of the table

	headings []string // of the blocks so far
	dropped  []string // columns that were left out
	same     []string // columns that were left out as they are the same in all rows, with their texts
}

// writeLine writes its parts and ends the line.
func (p printer) writeLine(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s)
	}
	_ = p.w.WriteByte('\n')
}

// writeNames writes one name a line.
func (p printer) writeNames(names []string) {
	for _, n := range names {
		p.writeLine(p.style.escapeText(n))
	}
}

// writeTable writes the blocks of t and its closing lines, with an empty line between any two.
func (p *printer) writeTable(t view.Table, o Options) {
	p.blocks = len(t.Blocks)
	for i := range t.Blocks {
		if i > 0 {
			p.writeLine()
		}
		p.writeBlock(&t.Blocks[i], o)
	}
	if len(t.Blocks) > 0 && len(t.Footer)+len(p.same)+len(p.dropped) > 0 {
		p.writeLine()
	}
	for _, s := range t.Footer {
		p.writeParagraph(s)
	}
	if len(p.same) > 0 {
		p.writeParagraph(formatSame(p.same))
	}
	if len(p.dropped) > 0 {
		p.writeParagraph("columns left out to fit the terminal: " +
			strings.Join(slices.Compact(slices.Sorted(slices.Values(p.dropped))), ", ") + " (-o wide shows all)")
	}
}

// formatSame says what the columns have that are left out as they are the same in all rows.
func formatSame(columns []string) string {
	return "the same in all rows: " + strings.Join(columns, ", ")
}

// writeParagraph writes a line, or several if it is wider than the terminal.
func (p *printer) writeParagraph(s string) {
	text := p.style.escapeText(s)
	if p.width == 0 {
		p.writeLine(strings.TrimRight(text, " "))
		return
	}
	for _, line := range textwidth.WrapWords(text, p.width) {
		p.writeLine(strings.TrimRight(line, " "))
	}
}

// writeBlock writes a heading, the column names and the rows, each column as wide as it must be.
func (p *printer) writeBlock(b *view.Block, o Options) {
	p.headings = append(p.headings, b.Heading...)
	for _, s := range b.Heading {
		p.writeParagraph(s)
	}
	header, named := buildHeader(b)
	named = named && !o.NoHeaders
	if len(b.Heading) > 0 && (named || len(b.Rows) > 0) {
		p.writeLine()
	}
	if p.width > 0 && o.Format != Wide {
		p.fitBlock(b, named)
		return
	}
	var rows [][]view.Cell
	if named {
		rows = append(rows, header)
	}
	rows = append(rows, b.Rows...)
	if o.Format != Wide {
		rows = dropWideCells(rows, b.Columns)
	}
	p.writeRows(rows, "")
}

// fitBlock writes the rows of a block as a terminal has room for them, and notes what that leaves
// out.
func (p *printer) fitBlock(b *view.Block, header bool) {
	if len(b.Columns) == 0 {
		return
	}
	columns := slices.DeleteFunc(slices.Clone(b.Columns), func(c view.Column) bool { return c.Wide })
	rows := dropWideCells(b.Rows, b.Columns)
	texts, _ := p.measureCells(rows)
	fitter := fitter{columns: columns, rows: texts, width: p.width, mark: p.style.escapeText("…"),
		escape: p.style.escapeText, formatGroup: b.FormatGroup}
	f := fitter.findFit()
	for _, c := range f.dropped {
		p.dropped = append(p.dropped, columns[c].Name)
	}
	var same []string
	for _, c := range f.same {
		if !slices.ContainsFunc(p.headings, func(s string) bool { return strings.Contains(s, b.Rows[0][c].Text) }) {
			same = append(same, columns[c].Name+" "+texts[0][c])
		}
	}
	if p.blocks == 1 {
		p.same = same
	} else if len(same) > 0 {
		p.writeParagraph(formatSame(same))
		p.writeLine()
	}
	p.writeFittedRows(rows, f, header)
}

// writeFittedRows writes rows as a terminal has room for them.
func (p *printer) writeFittedRows(rows [][]view.Cell, f *columnFit, header bool) {
	if header {
		heads := make([][][]string, len(f.lines))
		for k, line := range f.lines {
			for _, c := range line {
				heads[k] = append(heads[k], wrapHead(p.style.escapeText(f.columns[c].Name), f.widths[c]))
			}
		}
		for k, head := range heads {
			if k == 0 || !f.columns[f.lines[k][0]].Below {
				p.writeLines(f, k, head, nil)
			}
		}
	}
	mark, group := p.style.escapeText("…"), ""
	for _, i := range f.order {
		row := rows[i]
		if text := f.formatGroup(i); text != group {
			group = text
			p.writeParagraph(view.OrDash(group))
		}
		written := false
		for k, line := range f.lines {
			var cells [][]string
			empty := true
			for at, c := range line {
				if c >= len(row) {
					break
				}
				room := f.widths[c]
				if c == len(row)-1 && len(row) < len(f.columns) {
					room = p.width - f.startOf(k, at)
				}
				cells = append(cells, f.layOutCell(i, c, room, mark))
				empty = empty && f.texts[i][c] == ""
			}
			if !empty || k == len(f.lines)-1 && !written {
				p.writeLines(f, k, cells, row)
				written = true
			}
		}
		if last := len(row) - 1; last >= 0 && len(row) < len(f.columns) && !f.isShown(last) {
			for _, line := range textwidth.WrapWords(f.texts[i][last], p.width-f.lineIndent(1)) {
				p.writeLine(strings.Repeat(" ", f.lineIndent(1)), p.style.colorText(line, row[last].Tone))
			}
		}
	}
}

// writeLines writes what stands in one line of a row, and what of it goes on below.
func (p *printer) writeLines(f *columnFit, line int, cells [][]string, row []view.Cell) {
	for n, more := 0, true; more; n++ {
		more = false
		pending := f.lineIndent(line)
		for at, c := range f.lines[line][:len(cells)] {
			text := ""
			if n < len(cells[at]) {
				text = cells[at][n]
			}
			more = more || n+1 < len(cells[at])
			if text != "" {
				tone := view.Plain
				if row != nil {
					tone = row[c].Tone
				}
				p.writeText(strings.Repeat(" ", pending))
				p.writeText(p.style.colorText(text, tone))
				pending = 0
			}
			pending += max(f.widths[c]-textwidth.DisplayWidth(text), 0) + f.gap
		}
		p.writeLine()
	}
}

// buildHeader is the line of column names, if they have any.
func buildHeader(b *view.Block) (row []view.Cell, named bool) {
	for _, c := range b.Columns {
		row = append(row, view.Cell{Text: c.Name})
		named = named || c.Name != ""
	}
	return row, named
}

// dropWideCells drops the cells of wide columns.
func dropWideCells(rows [][]view.Cell, columns []view.Column) [][]view.Cell {
	if !slices.ContainsFunc(columns, func(c view.Column) bool { return c.Wide }) {
		return rows
	}
	out := make([][]view.Cell, len(rows))
	for i, row := range rows {
		for c, cell := range row {
			if c >= len(columns) || !columns[c].Wide {
				out[i] = append(out[i], cell)
			}
		}
	}
	return out
}

// writeRows writes aligned rows behind an indent. The last cell of a row takes the rest of its
// line: it makes no column wider.
func (p printer) writeRows(rows [][]view.Cell, indent string) {
	texts, widths := p.measureCells(rows)
	for i, row := range rows {
		p.writeText(indent)
		p.writeRow(row, texts[i], widths)
	}
}

// measureCells escapes the cells and finds the width of each column.
func (p printer) measureCells(rows [][]view.Cell) (texts [][]string, widths []int) {
	texts = make([][]string, len(rows))
	for i, row := range rows {
		texts[i] = make([]string, len(row))
		for c, cell := range row {
			texts[i][c] = p.style.escapeText(cell.Text)
			if c == len(widths) {
				widths = append(widths, 0)
			}
			if c < len(row)-1 {
				widths[c] = max(widths[c], textwidth.DisplayWidth(texts[i][c]))
			}
		}
	}
	return texts, widths
}

// writeRow writes one line. Spaces are written only once something follows them.
func (p printer) writeRow(cells []view.Cell, texts []string, widths []int) {
	pending := 0
	for c, text := range texts {
		if text != "" {
			_, _ = p.w.WriteString(strings.Repeat(" ", pending))
			_, _ = p.w.WriteString(p.style.colorText(text, cells[c].Tone))
			pending = 0
		}
		pending += max(widths[c]-textwidth.DisplayWidth(text), 0) + cellGap
	}
	p.writeLine()
}
