package render

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
)

// What cells and the names of columns look like in the room that they have.

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
