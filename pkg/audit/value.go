package audit

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// Value is a normalised message: what is compared of it.
type Value = map[string]any

// IsWithin reports whether found has all that is wanted: what a setting leaves open may be
// anything.
func IsWithin(want, found any) bool {
	w, ok := want.(Value)
	f, both := found.(Value)
	if !ok || !both {
		return reflect.DeepEqual(want, found)
	}
	for k, v := range w {
		if !reflect.DeepEqual(v, f[k]) {
			return false
		}
	}
	return true
}

// ParseDuration returns a duration in the form in which they are compared; false: it is none.
func ParseDuration(v any) (string, bool) {
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	return d.String(), err == nil
}

// ParseNumber returns a number; false: it is none.
func ParseNumber(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	}
	return dataplane.Number(v)
}

// byteUnits of quantities, the longer ones first.
var byteUnits = []struct {
	suffix string
	factor float64
}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}

// ParseBytes returns a quantity of bytes (4Mi, or a number); false: it is none.
func ParseBytes(v any) (float64, bool) {
	text, isText := v.(string)
	if !isText {
		return ParseNumber(v)
	}
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(text, u.suffix); ok {
			f, err := strconv.ParseFloat(n, 64)
			return f * u.factor, err == nil
		}
	}
	return ParseNumber(v)
}

// SortedSet returns texts without order, each once.
func SortedSet(texts []string) []string {
	out := slices.Clone(texts)
	slices.Sort(out)
	return slices.Compact(out)
}

// SortedKeys returns the keys of a set.
func SortedKeys(m map[string]bool) []string {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

// Copier copies fields of a message into a Value, where they are there.
type Copier struct{ Value Value }

// Duration copies a duration.
func (c Copier) Duration(name string, v any) {
	if d, ok := ParseDuration(v); ok {
		c.Value[name] = d
	}
}

// Number copies a number.
func (c Copier) Number(name string, v any) {
	if n, ok := ParseNumber(v); ok {
		c.Value[name] = n
	}
}

// PartsPerMillion returns a fraction of a million.
func PartsPerMillion(v any) float64 {
	n, _ := dataplane.Number(v, "numerator")
	switch dataplane.Text(v, "denominator") {
	case "TEN_THOUSAND":
		return n * 100
	case "MILLION":
		return n
	}
	return n * 10_000
}
