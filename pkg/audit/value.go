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

// Within tells whether found has all that is wanted: what a setting leaves open may be anything.
func Within(want, found any) bool {
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

// Duration is a duration in the form in which they are compared; false: it is none.
func Duration(v any) (string, bool) {
	text, _ := v.(string)
	d, err := time.ParseDuration(text)
	return d.String(), err == nil
}

// Number is a number; false: it is none.
func Number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case int:
		return float64(n), true
	}
	return dataplane.Number(v)
}

// units of quantities, the longer ones first.
var units = []struct {
	suffix string
	factor float64
}{{"Ki", 1 << 10}, {"Mi", 1 << 20}, {"Gi", 1 << 30}, {"Ti", 1 << 40}, {"k", 1e3}, {"M", 1e6}, {"G", 1e9}, {"T", 1e12}}

// Bytes is a quantity of bytes (4Mi, or a number); false: it is none.
func Bytes(v any) (float64, bool) {
	text, isText := v.(string)
	if !isText {
		return Number(v)
	}
	for _, u := range units {
		if n, ok := strings.CutSuffix(text, u.suffix); ok {
			f, err := strconv.ParseFloat(n, 64)
			return f * u.factor, err == nil
		}
	}
	return Number(v)
}

// Set is texts without order, each once.
func Set(texts []string) []string {
	out := slices.Clone(texts)
	slices.Sort(out)
	return slices.Compact(out)
}

// Keys are the keys of a set.
func Keys(m map[string]bool) []string {
	if len(m) == 0 {
		return nil
	}
	return slices.Sorted(maps.Keys(m))
}

// Copier copies fields of a message into a Value, where they are there.
type Copier struct{ Value Value }

// Duration copies a duration.
func (c Copier) Duration(name string, v any) {
	if d, ok := Duration(v); ok {
		c.Value[name] = d
	}
}

// Number copies a number.
func (c Copier) Number(name string, v any) {
	if n, ok := Number(v); ok {
		c.Value[name] = n
	}
}

// Percent is a fraction of a million.
func Percent(v any) float64 {
	n, _ := dataplane.Number(v, "numerator")
	switch dataplane.Text(v, "denominator") {
	case "TEN_THOUSAND":
		return n * 100
	case "MILLION":
		return n
	}
	return n * 10_000
}
