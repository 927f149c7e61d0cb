package kuma

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// groupCompatible lists the largest groups of items any two of which can meet, by their positions
// as text, the last first.
func groupCompatible(items []tagItem) [][]int {
	var out [][]int
	all := make([]int, len(items))
	for i := range all {
		all[i] = i
	}
	meets := func(i int) func(int) bool {
		return func(j int) bool { return i != j && items[i].subset.isCompatible(items[j].subset) }
	}
	findCliques(nil, all, nil, meets, &out)
	key := func(group []int) string {
		var words []string
		for _, i := range group {
			words = append(words, strconv.Itoa(i))
		}
		return strings.Join(words, ":")
	}
	for _, group := range out {
		slices.Sort(group)
	}
	slices.SortFunc(out, func(a, b []int) int { return cmp.Compare(key(b), key(a)) })
	return out
}

// findCliques adds the maximal groups that hold all of in, some of may, and none of out
// (Bron-Kerbosch, with a pivot).
func findCliques(in, may, out []int, meets func(int) func(int) bool, found *[][]int) {
	if len(may) == 0 {
		if len(out) == 0 && len(in) > 0 {
			*found = append(*found, slices.Clone(in))
		}
		return
	}
	pivot := meets(may[0])
	for _, i := range slices.Clone(may) {
		if pivot(i) {
			continue
		}
		findCliques(append(slices.Clone(in), i), filterItems(may, meets(i)), filterItems(out, meets(i)), meets, found)
		may = slices.DeleteFunc(slices.Clone(may), func(j int) bool { return j == i })
		out = append(slices.Clone(out), i)
	}
}

func filterItems(list []int, keep func(int) bool) []int {
	var out []int
	for _, i := range list {
		if keep(i) {
			out = append(out, i)
		}
	}
	return out
}
