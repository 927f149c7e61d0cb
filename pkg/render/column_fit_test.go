package render

import (
	"bufio"
	"bytes"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// fitted is a block on a terminal of a width.
func fitted(t *testing.T, width int, columns []view.Column, rows ...string) string {
	t.Helper()
	b := view.Block{Columns: columns}
	for _, row := range rows {
		var cells []view.Cell
		for text := range strings.SplitSeq(row, "|") {
			cells = append(cells, view.Cell{Text: text})
		}
		b.Rows = append(b.Rows, cells)
	}
	var out bytes.Buffer
	w := bufio.NewWriter(&out)
	p := &printer{w: w, width: width}
	p.writeTable(view.Table{Blocks: []view.Block{b}}, Options{Format: Table})
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	return out.String()
}

func lastOf(text string) string { return text[strings.LastIndexByte(text, '/')+1:] }

func TestFitColumns(t *testing.T) {
	name := view.Column{Name: "NAME", Rank: 2, MinWidth: 8, Shorten: lastOf}
	value := view.Column{Name: "VALUE", Rank: 1, MinWidth: 5, Cut: true, Keep: true}
	for _, tc := range []struct {
		name    string
		width   int
		columns []view.Column
		rows    []string
		want    string
	}{
		{"what fits is not touched", 40, []view.Column{name, value}, []string{"shop/cart|100", "shop/cart|100"},
			"NAME        VALUE\nshop/cart   100\nshop/cart   100\n"},
		{"columns that are the same go first", 20, []view.Column{{Name: "KIND", Rank: 3}, name, value},
			[]string{"Auth|shop/cart|100", "Auth|shop/pay|100"},
			"NAME       VALUE\nshop/cart  100\nshop/pay   100\n\nthe same in all\nrows: KIND Auth\n"},
		{"one row has no column that is the same", 17, []view.Column{{Name: "KIND", Rank: 3}, name, value},
			[]string{"Auth|shop/cart|100"}, "KIND  NAME  VALUE\nAuth  cart  100\n"},
		{"names are shortened where they stay different", 16, []view.Column{name, value},
			[]string{"shop/cart|1", "shop/pay|a long value", "infra/pay|2"},
			"NAME       VALUE\ncart       1\nshop/pay   a lo…\ninfra/pay  2\n"},
		{"values are cut", 20, []view.Column{name, value}, []string{"cart|a long value", "pay|another long value"},
			"NAME  VALUE\ncart  a long value\npay   another long…\n"},
		{"values that would look alike are not", 16, []view.Column{name, value},
			[]string{"cart|a long value 1", "cart|a long value 2", "pay|a long value 3"},
			"NAME  VALUE\ncart  a long\n      value 1\ncart  a long\n      value 2\npay   a long va…\n"},
		{"sentences go below", 20, []view.Column{name, {Name: "NOTE", Rank: 9, MinWidth: 16, Wrap: true, Below: true}},
			[]string{"shop/cart|it is not in force", "shop/pay|"},
			"NAME\nshop/cart\n    it is not in\n    force\nshop/pay\n"},
		{"targets stand above their rows", 20, []view.Column{{Name: "ROUTE", Rank: 2, Group: true}, name, value},
			[]string{"httproute/cart|a|1", "httproute/pay|a|1", "httproute/cart|b|2"},
			"  NAME  VALUE\nhttproute/cart\n  a     1\n  b     2\nhttproute/pay\n  a     1\n"},
		{"columns that tell rows apart are not left out", 21, []view.Column{name, {Name: "VIA", Rank: 9, MinWidth: 8,
			Optional: true}, value}, []string{"a|internal|100", "a|external|100", "b|external|a long value"},
			"NAME  VIA       VALUE\na     internal  100\na     external  100\nb     external  a lo…\n"},
		{"names that nothing shortens go on below", 14, []view.Column{{Name: "NAME", Rank: 2, MinWidth: 6}, value},
			[]string{"long-name-of-it|100", "b|100"}, "NAME     VALUE\nlong-    100\n  name-\n  of-it\nb        100\n"},
	} {
		got := fitted(t, tc.width, tc.columns, tc.rows...)
		if got != tc.want {
			t.Errorf("%s: got\n%s\nwant\n%s", tc.name, got, tc.want)
		}
		for line := range strings.Lines(got) {
			if n := len([]rune(strings.TrimRight(line, "\n"))); n > tc.width {
				t.Errorf("%s: a line of %d columns", tc.name, n)
			}
		}
	}
}
