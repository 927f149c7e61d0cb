package metric

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Prefix begins the name of every metric.
const Prefix = "dopolicy_"

// The labels whose values come from the input. All others have the values that the program knows.
const (
	Namespace   = "namespace"
	Kind        = "kind"        // of policies, as Kind.group
	Requirement = "requirement" // a property or policy kinds that must not be missing
	ID          = "id"          // of a finding
)

// Family is a gauge with all its series.
type Family struct {
	Name   string   // with the prefix
	Help   string   // one sentence, without quotes
	Unit   string   // that the name ends with; "" for counts
	Labels []string // their names, in the order of the values of the series
	Series []Series // each once; Bound sorts them
}

// Series is one time series: the values of the labels, and what is counted.
type Series struct {
	Values []string
	Value  int64
}

// Counter counts into a family.
type Counter struct {
	family Family
	at     map[string]int // the place of a series, by its values
}

// NewCounter returns a counter of a gauge with these labels. The prefix is put before the name.
func NewCounter(name, help string, labels ...string) *Counter {
	return &Counter{Family{Name: Prefix + name, Help: help, Labels: labels}, map[string]int{}}
}

// Add adds to a series. Adding 0 makes sure that there is one.
func (c *Counter) Add(n int, values ...string) { c.addValue(int64(n), values) }

func (c *Counter) addValue(n int64, values []string) {
	var key strings.Builder
	for _, value := range values {
		key.WriteString(strconv.Itoa(len(value)) + ":" + value)
	}
	at, known := c.at[key.String()]
	if !known {
		at = len(c.family.Series)
		c.at[key.String()] = at
		c.family.Series = append(c.family.Series, Series{Values: values})
	}
	c.family.Series[at].Value += n
}

// Family returns what was counted, in the order in which it was added first. Nothing may be added
// afterwards.
func (c *Counter) Family() Family { return c.family }

// NewGauge returns a family of one series without labels.
func NewGauge(name, help string, value int) Family {
	c := NewCounter(name, help)
	c.Add(value)
	return c.Family()
}

// WithUnit is the family in a unit, which its name ends with.
func (f Family) WithUnit(unit string) Family {
	f.Unit = unit
	return f
}

// WithLabel is the family with a label before the others, which has the same value in every series.
func (f Family) WithLabel(name, value string) Family {
	f.Labels = append([]string{name}, f.Labels...)
	series := make([]Series, len(f.Series))
	for i, s := range f.Series {
		series[i] = Series{append([]string{value}, s.Values...), s.Value}
	}
	f.Series = series
	return f
}

// Join returns the families by name, those of one name as one. They have the same labels then.
func Join(families ...[]Family) []Family {
	all := slices.Concat(families...)
	slices.SortStableFunc(all, func(a, b Family) int { return cmp.Compare(a.Name, b.Name) })
	var out []Family
	for len(all) > 0 {
		n := 1
		for n < len(all) && all[n].Name == all[0].Name {
			n++
		}
		if n == 1 { // nothing to add up
			out = append(out, all[0])
		} else {
			out = append(out, addFamilies(all[:n]))
		}
		all = all[n:]
	}
	return out
}

// addFamilies returns families of one name as one.
func addFamilies(families []Family) Family {
	c := newCounterOf(families[0])
	for _, f := range families {
		for _, s := range f.Series {
			c.addValue(s.Value, s.Values)
		}
	}
	return c.family.sortSeries()
}

// newCounterOf returns a counter of the same gauge with nothing counted.
func newCounterOf(f Family) *Counter {
	f.Series = nil
	return &Counter{f, map[string]int{}}
}

// sortSeries is the family with its series sorted by their values.
func (f Family) sortSeries() Family {
	slices.SortFunc(f.Series, func(a, b Series) int { return slices.Compare(a.Values, b.Values) })
	return f
}
