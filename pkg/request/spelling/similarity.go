package spelling

import "strings"

// CountSimilar returns how many characters two texts have in common at their beginnings and ends.
func CountSimilar(a, b string) int {
	begin, end := countCommon([]byte(a), []byte(b))
	return begin + end
}

// countCommon returns how much two lists have in common at their beginnings, and of the rest at
// their ends.
func countCommon[E comparable](a, b []E) (begin, end int) {
	most := min(len(a), len(b))
	for begin < most && a[begin] == b[begin] {
		begin++
	}
	for end < most-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	return begin, end
}

// IsSimilarPath reports whether a path may be a slip for another: their first segments are similar.
func IsSimilarPath(a, b string) bool {
	first := func(path string) string {
		one, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
		return one
	}
	a, b = first(a), first(b)
	return 2*CountSimilar(a, b) >= max(len(a), len(b), 1)
}

// IsSimilarHost reports whether a host may be a slip for a hostname: one label is misspelt, differs
// behind a first one that is right, is missing, or is one too many.
func IsSimilarHost(name, host string) bool {
	if rest, wild := strings.CutPrefix(name, "*."); wild {
		first, _, _ := strings.Cut(host, ".")
		if rest == host {
			return true
		}
		name = first + "." + rest
	}
	a, b := strings.Split(name, "."), strings.Split(host, ".")
	begin, end := countCommon(a, b)
	a, b = a[begin:len(a)-end], b[begin:len(b)-end]
	switch {
	case begin+end < 1 || len(a) > 1 || len(b) > 1:
		return false
	case len(a) == 0 || len(b) == 0:
		return begin+end > 1
	}
	return begin > 0 && begin+end > 1 || 2*CountSimilar(a[0], b[0]) >= max(len(a[0]), len(b[0]))
}
