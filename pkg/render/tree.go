package render

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// treeGlyphs are the four pieces that a tree is drawn with.
type treeGlyphs struct{ fork, corner, pass, blank string }

func (st textStyle) treeGlyphs() treeGlyphs {
	if st.ascii {
		return treeGlyphs{fork: "|- ", corner: "`- ", pass: "|  ", blank: "   "}
	}
	return treeGlyphs{fork: "├─ ", corner: "└─ ", pass: "│  ", blank: "   "}
}

// writeTree writes the roots, an empty line between any two that have something below them.
func (p *printer) writeTree(roots []view.Branch) {
	for i := range roots {
		if i > 0 && (len(roots[i].Children) > 0 || len(roots[i-1].Children) > 0) {
			p.writeLine()
		}
		if len(roots[i].Cells) == 1 {
			p.writeParagraph(roots[i].Cells[0].Text)
		} else {
			p.writeRows([][]view.Cell{roots[i].Cells}, "")
		}
		p.writeBranches(roots[i].Children, "")
	}
}

// writeBranches writes siblings, aligned with each other, and what is below them.
func (p *printer) writeBranches(siblings []view.Branch, indent string) {
	rows := make([][]view.Cell, len(siblings))
	for i := range siblings {
		rows[i] = siblings[i].Cells
	}
	texts, widths := p.measureCells(rows)
	s := p.style.treeGlyphs()
	for i := range siblings {
		stroke, below := s.fork, s.pass
		if i == len(siblings)-1 {
			stroke, below = s.corner, s.blank
		}
		children := siblings[i].Children
		first := p.countFitting(texts[i], widths, textwidth.DisplayWidth(indent+stroke))
		if c := first - 1; c == 0 && p.width > 0 {
			texts[i][c] = truncate(texts[i][c], p.width-textwidth.DisplayWidth(indent+stroke), p.style.escapeText("…"))
		}
		p.writeText(indent + stroke)
		p.writeRow(rows[i][:first], texts[i][:first], widths)
		for c := first; c < len(rows[i]); c++ {
			children = append(children[:len(children):len(children)], view.Branch{Cells: rows[i][c : c+1]})
		}
		p.writeBranches(children, indent+below)
	}
}

// countFitting is how many cells of a line of the tree fit into the terminal; the others go below
// it.
func (p *printer) countFitting(texts []string, widths []int, indent int) int {
	const always = 1
	end := indent
	for c, text := range texts {
		if c >= always && p.width > 0 && end+textwidth.DisplayWidth(text) > p.width {
			return c
		}
		end += max(textwidth.DisplayWidth(text), widths[c]) + cellGap
	}
	return len(texts)
}
