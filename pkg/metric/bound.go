package metric

import (
	"cmp"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Other is the value of a label in the series that sum up what has no series of its own. No object
// of a cluster can be called so.
const Other = "_other"

// MaxSeries is how many series a family of an answer has at most.
const MaxSeries = 5000

// maxValueLength is how long the value of a label may be: as a kind with its group.
const maxValueLength = 317

// maxValues is how many values a label has at most whose values come from the input, beside Other.
var maxValues = map[string]int{Namespace: 500, Kind: 50, Requirement: 50, ID: 200}

// openLabels are the labels whose values come from the input, in the order in which values are
// given up where there are too many series.
var openLabels = []string{Namespace, Kind, Requirement, ID}

// Bound returns the families with bounded labels. Values that occur least, over all families, that
// are too long or that have characters that cannot be shown are summed up as Other; the sum of a
// family stays what it was.
func Bound(families []Family) []Family {
	ranks := map[string]map[string]int{}
	for _, label := range openLabels {
		ranks[label] = rankValues(families, label)
	}
	out := make([]Family, len(families))
	for i, f := range families {
		out[i] = f.boundLabels(ranks).sortSeries()
	}
	return out
}

// isFit reports whether a value can be that of a label as it is.
func isFit(value string) bool {
	if len(value) > maxValueLength || !utf8.ValidString(value) {
		return false
	}
	for _, r := range value {
		if !unicode.IsPrint(r) || r == utf8.RuneError || r == '#' { // "##" opens commands of CI runners
			return false
		}
	}
	return true
}

// rankValues orders the values of a label that are fit, from 0 for the one that is counted most.
func rankValues(families []Family, label string) map[string]int {
	counts := map[string]int64{}
	for _, f := range families {
		at := slices.Index(f.Labels, label)
		if at < 0 {
			continue
		}
		for _, s := range f.Series {
			counts[s.Values[at]] += s.Value
		}
	}
	values := make([]string, 0, len(counts))
	for value := range counts {
		if value != "" && value != Other && isFit(value) {
			values = append(values, value)
		}
	}
	slices.SortFunc(values, func(a, b string) int { return cmp.Or(cmp.Compare(counts[b], counts[a]), cmp.Compare(a, b)) })
	ranks := make(map[string]int, len(values))
	for i, value := range values {
		ranks[value] = i
	}
	return ranks
}

// boundLabels returns the family with so few values of each label that it has at most MaxSeries series.
func (f Family) boundLabels(ranks map[string]map[string]int) Family {
	limits := map[string]int{}
	for label, n := range maxValues {
		limits[label] = n
	}
	keep := func(label, value string) bool {
		limit, bounded := limits[label]
		rank, ranked := ranks[label][value]
		return !bounded || value == "" || ranked && rank < limit
	}
	out := f.foldValues(keep)
	for _, label := range openLabels {
		for len(out.Series) > MaxSeries && limits[label] > 0 {
			limits[label] /= 2
			out = out.foldValues(keep) // which keeps less than before
		}
	}
	return out
}

// foldValues returns the family with Other in place of the values that are not kept.
func (f Family) foldValues(keep func(label, value string) bool) Family {
	c := newCounterOf(f)
	for _, s := range f.Series {
		values := slices.Clone(s.Values)
		for i, label := range f.Labels {
			if !keep(label, values[i]) {
				values[i] = Other
			}
		}
		c.addValue(s.Value, values)
	}
	return c.Family()
}
