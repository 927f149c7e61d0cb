package viewtest

import (
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// TableText is a table in a form that is easy to compare: "| " between cells, "# " before headings,
// "> " before closing lines.
func TableText(t view.Table) string {
	var lines []string
	for _, b := range t.Blocks {
		for _, h := range b.Heading {
			lines = append(lines, "# "+h)
		}
		for _, row := range b.Rows {
			var cells []string
			for i, c := range row {
				if i >= len(b.Columns) || !b.Columns[i].Wide {
					cells = append(cells, c.Text)
				}
			}
			lines = append(lines, strings.Join(cells, " | "))
		}
	}
	for _, f := range t.Footer {
		lines = append(lines, "> "+f)
	}
	return strings.Join(lines, "\n")
}

// Same fails the test if a text does not have the given lines.
func Same(t *testing.T, got string, want ...string) {
	t.Helper()
	if w := strings.Join(want, "\n"); got != w {
		t.Errorf("got\n%s\n\nwant\n%s", got, w)
	}
}
