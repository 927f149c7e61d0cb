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
	w       *bufio.Writer
	style   textStyle
	width   int      // columns of the terminal; 0: any
	dropped []string // columns that were left out
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
	for i := range t.Blocks {
		if i > 0 {
			p.writeLine()
		}
		p.writeBlock(&t.Blocks[i], o)
	}
	if len(t.Blocks) > 0 && len(t.Footer) > 0 {
		p.writeLine()
	}
	for _, s := range t.Footer {
		p.writeParagraph(s)
	}
	if len(p.dropped) > 0 { // say that columns were left out
		p.writeParagraph("columns left out to fit the terminal: " +
			strings.Join(slices.Compact(slices.Sorted(slices.Values(p.dropped))), ", ") + " (-o wide shows all)")
	}
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
	for _, s := range b.Heading {
		p.writeParagraph(s)
	}
	var rows [][]view.Cell
	if header, named := buildHeader(b); named && !o.NoHeaders {
		rows = append(rows, header)
	}
	rows = append(rows, b.Rows...)
	if len(b.Heading) > 0 && len(rows) > 0 {
		p.writeLine()
	}
	if o.Format == Wide {
		p.writeRows(rows, "")
		return
	}
	rows = dropWideCells(rows, b.Columns)
	if p.width == 0 {
		p.writeRows(rows, "")
		return
	}
	p.writeFittedRows(rows, slices.DeleteFunc(slices.Clone(b.Columns), func(c view.Column) bool { return c.Wide }))
}

// writeFittedRows writes rows that share the width of a terminal.
func (p *printer) writeFittedRows(rows [][]view.Cell, all []view.Column) {
	texts, _ := p.measureCells(rows)
	f := fitColumns(texts, all, p.width)
	p.dropped = append(p.dropped, f.dropped...)
	for i, row := range rows {
		for _, line := range f.layOutRow(texts[i], all, p.style.escapeText("…")) {
			p.writeRow(row, line, &f)
		}
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
		p.writeRow(row, texts[i], &columnFit{gap: cellGap, widths: widths})
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
func (p printer) writeRow(cells []view.Cell, texts []string, f *columnFit) {
	pending := 0
	for c, text := range texts {
		if f.isHidden(c) {
			continue
		}
		if text != "" {
			_, _ = p.w.WriteString(strings.Repeat(" ", pending))
			_, _ = p.w.WriteString(p.style.colorText(text, cells[c].Tone))
			pending = 0
		}
		pending += max(f.widths[c]-textwidth.DisplayWidth(text), 0) + f.gap
	}
	p.writeLine()
}
