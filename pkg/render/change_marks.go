package render

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// ChangeMargin is how many columns the marks of MarkChanges take.
const ChangeMargin = 2

// MarkChanges returns a text whose lines tell what is new since an earlier one: a plus is in front of
// those that it did not have, and a minus in front of those that are gone, which stand where they
// were. How wide columns are, and in which order lines come, is no change.
func MarkChanges(before, after string, color bool) (text string, added, removed int) {
	style := textStyle{color: color}
	old, now := splitLines(before), splitLines(after)
	left := map[string]int{} // of the earlier lines, those that no later one is yet
	for _, line := range old {
		left[normalizeLine(line)]++
	}
	isNew := make([]bool, len(now))
	for i, line := range now {
		key := normalizeLine(line)
		if isNew[i] = key != "" && left[key] == 0; !isNew[i] {
			left[key]--
		}
	}
	gone := map[string][]string{} // the lines that are gone, by the one that stays before them
	before = ""
	for _, line := range old {
		switch key := normalizeLine(line); {
		case key == "":
		case left[key] <= 0:
			before = key
		default:
			left[key]--
			removed++
			gone[before] = append(gone[before], line)
		}
	}
	var out strings.Builder
	write := func(mark, line string) { out.WriteString(strings.TrimRight(mark+" "+line, " ") + "\n") }
	writeGone := func(before string) {
		for _, line := range gone[before] {
			write(style.colorText("-", view.Bad), line)
		}
		delete(gone, before)
	}
	writeGone("")
	for i, line := range now {
		if isNew[i] {
			added++
			write(style.colorText("+", view.Good), line)
			continue
		}
		write(" ", line)
		if key := normalizeLine(line); key != "" {
			writeGone(key)
		}
	}
	return out.String(), added, removed
}

// splitLines returns the lines of a text.
func splitLines(text string) []string {
	if text == "" {
		return nil
	}
	return strings.Split(strings.TrimSuffix(text, "\n"), "\n")
}

// normalizeLine returns a line without its colours and the widths of its columns.
func normalizeLine(line string) string {
	var out strings.Builder
	for {
		plain, code, found := strings.Cut(line, "\x1b[")
		out.WriteString(plain)
		if !found {
			return strings.Join(strings.Fields(out.String()), " ")
		}
		_, line, _ = strings.Cut(code, "m")
	}
}
