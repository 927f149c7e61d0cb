package render

import (
	"bufio"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// gap is what stands between two columns.
const gap = 3

// printer writes text for people. Errors of the writer show when it is flushed.
type printer struct {
	w       *bufio.Writer
	style   style
	width   int      // columns of the terminal; 0: any
	dropped []string // columns that were left out
}

// line writes its parts and ends the line.
func (p printer) line(parts ...string) {
	for _, s := range parts {
		_, _ = p.w.WriteString(s)
	}
	_ = p.w.WriteByte('\n')
}

// names writes one name a line.
func (p printer) names(names []string) {
	for _, n := range names {
		p.line(p.style.text(n))
	}
}

// table writes the blocks of t and its closing lines, with an empty line between any two.
func (p *printer) table(t view.Table, o Options) {
	for i := range t.Blocks {
		if i > 0 {
			p.line()
		}
		p.block(&t.Blocks[i], o)
	}
	if len(t.Blocks) > 0 && len(t.Footer) > 0 {
		p.line()
	}
	for _, s := range t.Footer {
		p.paragraph(s)
	}
	if len(p.dropped) > 0 { // a reader has to know that there is more
		p.paragraph("columns left out to fit the terminal: " + strings.Join(slices.Compact(slices.Sorted(slices.Values(p.dropped))), ", ") + " (-o wide shows all)")
	}
}

// paragraph writes a line, or several if it is wider than the terminal.
func (p *printer) paragraph(s string) {
	text := p.style.text(s)
	if p.width == 0 {
		p.line(strings.TrimRight(text, " "))
		return
	}
	for _, line := range wrapWords(text, p.width) {
		p.line(strings.TrimRight(line, " "))
	}
}

// block writes a heading, the column names and the rows, each column as wide as it must be.
func (p *printer) block(b *view.Block, o Options) {
	for _, s := range b.Heading {
		p.paragraph(s)
	}
	var rows [][]view.Cell
	if header, named := headerOf(b); named && !o.NoHeaders {
		rows = append(rows, header)
	}
	rows = append(rows, b.Rows...)
	if len(b.Heading) > 0 && len(rows) > 0 {
		p.line()
	}
	if o.Format == Wide {
		p.rows(rows, "")
		return
	}
	rows = narrow(rows, b.Columns)
	if p.width == 0 {
		p.rows(rows, "")
		return
	}
	p.fittedRows(rows, slices.DeleteFunc(slices.Clone(b.Columns), func(c view.Column) bool { return c.Wide }))
}

// fittedRows writes rows that share the width of a terminal.
func (p *printer) fittedRows(rows [][]view.Cell, all []view.Column) {
	texts, _ := p.measure(rows)
	f := fitColumns(texts, all, p.width)
	p.dropped = append(p.dropped, f.dropped...)
	for i, row := range rows {
		for _, line := range f.lines(texts[i], all, p.style.text("…")) {
			p.row(row, line, &f)
		}
	}
}

// headerOf is the line of column names, if they have any.
func headerOf(b *view.Block) (row []view.Cell, named bool) {
	for _, c := range b.Columns {
		row = append(row, view.Cell{Text: c.Name})
		named = named || c.Name != ""
	}
	return row, named
}

// narrow drops the cells of wide columns.
func narrow(rows [][]view.Cell, columns []view.Column) [][]view.Cell {
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

// rows writes aligned rows behind an indent. The last cell of a row takes the rest of its line: it makes no column wider.
func (p printer) rows(rows [][]view.Cell, indent string) {
	texts, widths := p.measure(rows)
	for i, row := range rows {
		p.write(indent)
		p.row(row, texts[i], &fit{gap: gap, widths: widths})
	}
}

// measure escapes the cells and finds the width of each column.
func (p printer) measure(rows [][]view.Cell) (texts [][]string, widths []int) {
	texts = make([][]string, len(rows))
	for i, row := range rows {
		texts[i] = make([]string, len(row))
		for c, cell := range row {
			texts[i][c] = p.style.text(cell.Text)
			if c == len(widths) {
				widths = append(widths, 0)
			}
			if c < len(row)-1 {
				widths[c] = max(widths[c], columns(texts[i][c]))
			}
		}
	}
	return texts, widths
}

// row writes one line. Spaces are written only once something follows them.
func (p printer) row(cells []view.Cell, texts []string, f *fit) {
	pending := 0
	for c, text := range texts {
		if f.leavesOut(c) {
			continue
		}
		if text != "" {
			_, _ = p.w.WriteString(strings.Repeat(" ", pending))
			_, _ = p.w.WriteString(p.style.paint(text, cells[c].Tone))
			pending = 0
		}
		pending += max(f.widths[c]-columns(text), 0) + f.gap
	}
	p.line()
}
