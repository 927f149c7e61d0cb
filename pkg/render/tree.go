package render

import "github.com/dopolicy/kubectl-dopolicy/pkg/view"

// strokes are the four pieces that a tree is drawn with.
type strokes struct{ fork, corner, pass, blank string }

func (st style) strokes() strokes {
	if st.ascii {
		return strokes{fork: "|- ", corner: "`- ", pass: "|  ", blank: "   "}
	}
	return strokes{fork: "├─ ", corner: "└─ ", pass: "│  ", blank: "   "}
}

// tree writes the roots, an empty line between any two that have something below them.
func (p *printer) tree(roots []view.Branch) {
	for i := range roots {
		if i > 0 && (len(roots[i].Children) > 0 || len(roots[i-1].Children) > 0) {
			p.line()
		}
		if len(roots[i].Cells) == 1 {
			p.paragraph(roots[i].Cells[0].Text)
		} else {
			p.rows([][]view.Cell{roots[i].Cells}, "")
		}
		p.branches(roots[i].Children, "")
	}
}

// branches writes siblings, aligned with each other, and what is below them.
func (p *printer) branches(siblings []view.Branch, indent string) {
	rows := make([][]view.Cell, len(siblings))
	for i := range siblings {
		rows[i] = siblings[i].Cells
	}
	texts, widths := p.measure(rows)
	s := p.style.strokes()
	for i := range siblings {
		stroke, below := s.fork, s.pass
		if i == len(siblings)-1 {
			stroke, below = s.corner, s.blank
		}
		f := &fit{gap: gap, widths: widths}
		children := siblings[i].Children
		first := p.fitting(texts[i], f, columns(indent+stroke))
		if c := first - 1; c == 0 && p.width > 0 {
			texts[i][c] = cutColumns(texts[i][c], p.width-columns(indent+stroke), p.style.text("…"))
		}
		p.write(indent + stroke)
		p.row(rows[i][:first], texts[i][:first], f)
		for c := first; c < len(rows[i]); c++ {
			children = append(children[:len(children):len(children)], view.Branch{Cells: rows[i][c : c+1]})
		}
		p.branches(children, indent+below)
	}
}

// fitting is how many cells of a line of the tree fit into the terminal; the others go below it.
func (p *printer) fitting(texts []string, f *fit, indent int) int {
	const always = 1
	end := indent
	for c, text := range texts {
		if c >= always && p.width > 0 && end+columns(text) > p.width {
			return c
		}
		end += max(columns(text), f.widths[c]) + f.gap
	}
	return len(texts)
}
