package form

import (
	"cmp"
	"slices"
	"strings"
)

// Nearest lists the words of known that word may be a typing error of, best first, at most three.
func Nearest(word string, known []string) []string {
	type scored struct {
		word string
		d    int
	}
	var near []scored
	for _, k := range known {
		d := editDistance(strings.ToLower(word), strings.ToLower(k))
		if d <= max(1, len(k)/3) || len(word) > 2 && strings.HasPrefix(k, word) {
			near = append(near, scored{k, d})
		}
	}
	slices.SortFunc(near, func(a, b scored) int {
		return cmp.Or(cmp.Compare(a.d, b.d),
			strings.Compare(a.word, b.word))
	})
	var out []string
	for i := 0; i < len(near) && i < 3; i++ {
		out = append(out, near[i].word)
	}
	return out
}

// editDistance is the number of edits between two words, of which two letters in the wrong order
// are one; very long words are not compared.
func editDistance(a, b string) int {
	const tooLong = 128
	if len(a) > tooLong || len(b) > tooLong {
		return tooLong
	}
	before, last, row := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before, last, row = last, row, before
		row[0] = i + 1
		for j := range len(b) {
			cost := last[j]
			if a[i] != b[j] {
				cost++
			}
			row[j+1] = min(last[j+1]+1, row[j]+1, cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
	}
	return row[len(b)]
}
