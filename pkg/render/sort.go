package render

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// UnknownColumn is what Write returns where Options.SortBy names a column that the table does not
// have.
type UnknownColumn struct {
	Name    string
	Columns []string // that there are
}

func (e *UnknownColumn) Error() string {
	return fmt.Sprintf("no column %q in this table; its columns are: %s", e.Name, strings.Join(e.Columns, ", "))
}

// sortTable orders the rows of each block by columns, the first column first. Lines that belong to
// the row above stay below it.
func sortTable(t *view.Table, names []string) error {
	for i := range t.Blocks {
		b := &t.Blocks[i]
		var by []int
		for _, name := range names {
			at := slices.IndexFunc(b.Columns, func(c view.Column) bool { return strings.EqualFold(c.Name, name) })
			if at < 0 {
				return &UnknownColumn{Name: name, Columns: listColumnNames(b)}
			}
			by = append(by, at)
		}
		rows := groupRows(b)
		slices.SortStableFunc(rows, func(x, y [][]view.Cell) int {
			for _, c := range by {
				if order := compareCells(x[0][c].Text, y[0][c].Text); order != 0 {
					return order
				}
			}
			return 0
		})
		b.Rows = slices.Concat(rows...)
	}
	return nil
}

func listColumnNames(b *view.Block) []string {
	var out []string
	for _, c := range b.Columns {
		if c.Name != "" {
			out = append(out, strings.ToLower(c.Name))
		}
	}
	return out
}

// groupRows returns the rows, each with the lines that explain it: those have fewer cells, or none
// to begin with.
func groupRows(b *view.Block) [][][]view.Cell {
	var out [][][]view.Cell
	for _, row := range b.Rows {
		if len(out) > 0 && (len(row) < len(b.Columns) || row[0].Text == "") {
			out[len(out)-1] = append(out[len(out)-1], row)
			continue
		}
		out = append(out, [][]view.Cell{row})
	}
	return out
}

// compareCells compares numbers as such, and all else as text.
func compareCells(a, b string) int {
	x, errX := strconv.Atoi(a)
	y, errY := strconv.Atoi(b)
	if errX == nil && errY == nil {
		return cmp.Compare(x, y)
	}
	return cmp.Compare(a, b)
}
