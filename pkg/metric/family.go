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
	Series []Series // sorted by their values, each once
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

// Family returns what was counted. Nothing may be added afterwards.
func (c *Counter) Family() Family {
	slices.SortFunc(c.family.Series, compareSeries)
	return c.family
}

func compareSeries(a, b Series) int { return slices.Compare(a.Values, b.Values) }

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
	var out []Family
	counters := map[string]*Counter{}
	for _, f := range slices.Concat(families...) {
		c := counters[f.Name]
		if c == nil {
			c = &Counter{Family{Name: f.Name, Help: f.Help, Unit: f.Unit, Labels: f.Labels}, map[string]int{}}
			counters[f.Name] = c
		}
		for _, s := range f.Series {
			c.addValue(s.Value, s.Values)
		}
	}
	for _, c := range counters {
		out = append(out, c.Family())
	}
	slices.SortFunc(out, func(a, b Family) int { return cmp.Compare(a.Name, b.Name) })
	return out
}
