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
func (p printer) tree(roots []view.Branch) {
	for i := range roots {
		if i > 0 && (len(roots[i].Children) > 0 || len(roots[i-1].Children) > 0) {
			p.line()
		}
		p.rows([][]view.Cell{roots[i].Cells}, "")
		p.branches(roots[i].Children, "")
	}
}

// branches writes siblings, aligned with each other, and what is below them.
func (p printer) branches(siblings []view.Branch, indent string) {
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
		p.row(rows[i], texts[i], widths, indent+stroke)
		p.branches(siblings[i].Children, indent+below)
	}
}
