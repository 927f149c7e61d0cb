package dataplane

import (
	"strconv"
	"strings"
	"time"
)

// Get is the value at a path of field names as the protocol writes them (route_config). A dump may
// have them so, or as JSON does (routeConfig). nil: there is none.
func Get(v any, path ...string) any {
	for _, name := range path {
		m, ok := v.(map[string]any)
		if !ok {
			return nil
		}
		v = findField(m, name)
	}
	return v
}

func findField(m map[string]any, name string) any {
	if v, ok := m[name]; ok {
		return v
	}
	if strings.Contains(name, "_") {
		return m[toCamelCase(name)]
	}
	return nil
}

// toCamelCase returns the JSON name of a field.
func toCamelCase(name string) string {
	out := make([]byte, 0, len(name))
	for i := 0; i < len(name); i++ {
		if name[i] == '_' && i+1 < len(name) {
			i++
			out = append(out, strings.ToUpper(name[i:i+1])...)
			continue
		}
		out = append(out, name[i])
	}
	return string(out)
}

// Map is the message, or the map, at a path; nil if there is none.
func Map(v any, path ...string) map[string]any {
	m, _ := Get(v, path...).(map[string]any)
	return m
}

// Has reports whether there is a value at a path, be it empty.
func Has(v any, path ...string) bool { return Get(v, path...) != nil }

// List is the list at a path.
func List(v any, path ...string) []any {
	l, _ := Get(v, path...).([]any)
	return l
}

// Text is the text at a path; "" if there is none.
func Text(v any, path ...string) string {
	s, _ := Get(v, path...).(string)
	return s
}

// Texts are the texts of the list at a path.
func Texts(v any, path ...string) []string {
	var out []string
	for _, x := range List(v, path...) {
		if s, ok := x.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// IsTrue reports whether the boolean at a path is true. Those that are false are left out of dumps.
func IsTrue(v any, path ...string) bool {
	b, _ := Get(v, path...).(bool)
	return b
}

// Number is the number at a path: JSON writes those of 64 bits as text.
func Number(v any, path ...string) (float64, bool) {
	switch n := Get(v, path...).(type) {
	case float64:
		return n, true
	case string:
		f, err := strconv.ParseFloat(n, 64)
		return f, err == nil
	}
	return 0, false
}

// Seconds is the duration at a path ("0.250s").
func Seconds(v any, path ...string) (time.Duration, bool) {
	text := Text(v, path...)
	if !strings.HasSuffix(text, "s") {
		return 0, false
	}
	d, err := time.ParseDuration(text)
	return d, err == nil
}

// TypeOf is the short name of the message that an Any holds: Router.
func TypeOf(v any) string {
	url := Text(v, "@type")
	return url[strings.LastIndexAny(url, "./")+1:]
}
