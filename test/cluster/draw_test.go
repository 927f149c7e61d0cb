package cluster

import (
	"maps"
	"math"
	"math/rand/v2"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"unicode"

	"k8s.io/apimachinery/pkg/runtime"
)

// words are texts that many patterns and rules of definitions take.
var words = []string{"a", "b", "web", "shop.example.com", "*.example.com", "/x", "10s", "5m", "1h30m", "500ms", "1Mi",
	"10%", "80", "GET", "https://example.com/x", "example.com:80",
	"192.0.2.1", "2001:db8::1", "10.0.0.0/8", "2001:db8::/32", "x-a", "request.path == '/'", "HTTPRoute", "Service",
	"gateway.networking.k8s.io", "1.2", "1.3"}

// formatted are texts in formats.
var formatted = map[string][]string{"date-time": {"2024-01-01T00:00:00Z"}, "duration": {"10s"}, "byte": {"YQ=="},
	"uri":  {"https://example.com/x"},
	"uuid": {"13c5e2b2-1d3e-4a7b-9b0e-0f5d3f6f7a10"}, "ipv4": {"192.0.2.1"}, "ipv6": {"2001:db8::1"},
	"cidr": {"10.0.0.0/8", "2001:db8::/32"}}

// oddities are values that hardly a schema takes.
var oddities = []any{nil, "", " ", "a b", "Ä", "UPPER", "-a", strings.Repeat("x", 300), int64(-1), int64(0),
	int64(70000), int64(1) << 40, int64(math.MaxInt64), 1.5, 1e19, 1e30, true,
	[]any{}, map[string]any{}, []any{"a", "a"}, []any{nil}, map[string]any{"a": "b"}, map[string]any{"a": nil}}

// draw draws values that schemas describe, and changes them.
type draw struct {
	*rand.Rand
	optional int // in so many of a hundred cases an optional field is there; they become rarer further down
}

func (d draw) chance(percent int) bool { return d.IntN(100) < percent }

func pick[T any](d draw, of []T) T { return of[d.IntN(len(of))] }

// value draws a value of a schema.
func (d draw) value(s map[string]any, depth int) any {
	if values, ok := s["enum"].([]any); ok {
		return pick(d, values)
	}
	if s["x-kubernetes-int-or-string"] == true {
		if d.chance(50) {
			return d.number(s)
		}
		return d.text(s)
	}
	switch s["type"] {
	case "object":
		return d.object(s, depth)
	case "array":
		return d.list(s, depth)
	case "string":
		return d.text(s)
	case "integer":
		return d.number(s)
	case "number":
		return pick(d, []any{d.number(s), d.number(s), 0.5})
	case "boolean":
		return d.chance(50)
	}
	return pick(d, []any{"x", int64(1), map[string]any{"a": "b"}, []any{map[string]any{"a": nil}}})
}

// object draws the fields that are required, those of one alternative, and some of the others.
func (d draw) object(s map[string]any, depth int) any {
	out := map[string]any{}
	fields := properties(s)
	if s["x-kubernetes-embedded-resource"] == true {
		out["apiVersion"], out["kind"] = "v1", "ConfigMap"
		if d.chance(30) {
			out["metadata"] = map[string]any{"name": "x", "labels": map[string]any{"a": "b"}}
		}
	}
	wanted, barred := d.alternatives(s)
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		switch {
		case depth == 0 && (name == "metadata" || name == "apiVersion" || name == "kind"):
		case wanted[name] || !barred[name] && d.chance(d.optional/(depth+1)):
			out[name] = d.value(fields[name], depth+1)
		}
	}
	least, _ := s["minProperties"].(float64)
	names := slices.Sorted(maps.Keys(fields))
	d.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	for _, name := range names {
		if len(out) < int(least) && out[name] == nil && !barred[name] {
			out[name] = d.value(fields[name], depth+1)
		}
	}
	if entries, ok := s["additionalProperties"].(map[string]any); ok {
		for _, key := range []string{"a", "b.c/d"} {
			if d.chance(40) || len(out) < int(least) {
				out[key] = d.value(entries, depth+1)
			}
		}
	}
	return out
}

// alternatives draws one of every choice that a schema has: the fields that it wants, and those that only the others want.
func (d draw) alternatives(s map[string]any) (wanted, barred map[string]bool) {
	wanted, barred = map[string]bool{}, map[string]bool{}
	for _, name := range texts(s["required"]) {
		wanted[name] = true
	}
	for _, key := range []string{"oneOf", "anyOf"} {
		all := schemas(s[key])
		chosen := -1
		if len(all) > 0 {
			chosen = d.IntN(len(all))
		}
		for i, one := range all {
			if more, _ := d.alternatives(one); i == chosen {
				maps.Copy(wanted, more)
			} else {
				maps.Copy(barred, more)
			}
		}
	}
	for _, one := range schemas(s["allOf"]) {
		more, less := d.alternatives(one)
		maps.Copy(wanted, more)
		maps.Copy(barred, less)
	}
	return wanted, barred
}

func (d draw) list(s map[string]any, depth int) any {
	least, _ := s["minItems"].(float64)
	out := []any{}
	for range max(int(least), 1) + d.IntN(2) {
		out = append(out, d.value(items(s), depth+1))
	}
	return out
}

// text draws a word that fits, or a text that is made for the pattern.
func (d draw) text(s map[string]any) any {
	pattern, _ := s["pattern"].(string)
	for _, one := range slices.Concat(schemas(s["allOf"]), schemas(s["anyOf"])) {
		if inner, ok := one["pattern"].(string); ok && pattern == "" {
			pattern = inner
		}
		if values, ok := one["enum"].([]any); ok {
			return pick(d, values)
		}
	}
	if format, _ := s["format"].(string); formatted[format] != nil {
		return pick(d, formatted[format])
	}
	low, _ := s["minLength"].(float64)
	fits, err := regexp.Compile(pattern)
	if err != nil {
		return "x"
	}
	var good []string
	for _, word := range words {
		if fits.MatchString(word) && len(word) >= int(low) {
			good = append(good, word)
		}
	}
	if len(good) > 0 && (pattern == "" || d.chance(70)) {
		return pick(d, good)
	}
	parsed, err := syntax.Parse(pattern, syntax.Perl)
	if err != nil {
		return "x"
	}
	return d.matching(parsed)
}

// matching makes a text for a pattern.
func (d draw) matching(re *syntax.Regexp) string {
	switch re.Op {
	case syntax.OpLiteral:
		return string(re.Rune)
	case syntax.OpCharClass:
		if len(re.Rune) == 0 {
			return ""
		}
		i := d.IntN(len(re.Rune)/2) * 2
		if r := re.Rune[i] + rune(d.IntN(int(min(re.Rune[i+1]-re.Rune[i], 25))+1)); unicode.IsPrint(
			r) { // others are not read from YAML
			return string(r)
		}
		return "x"
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		return "x"
	case syntax.OpAlternate:
		return d.matching(pick(d, re.Sub))
	}
	low, high := 1, 1
	switch re.Op {
	case syntax.OpStar:
		low, high = 0, 2
	case syntax.OpPlus:
		high = 3
	case syntax.OpQuest:
		low = 0
	case syntax.OpRepeat:
		low, high = re.Min, re.Min+2
		if re.Max >= 0 {
			high = min(high, re.Max)
		}
	}
	var out strings.Builder
	for range low + d.IntN(high-low+1) {
		for _, inner := range re.Sub {
			out.WriteString(d.matching(inner))
		}
	}
	return out.String()
}

func (d draw) number(s map[string]any) any {
	low, hasLow := s["minimum"].(float64)
	high, hasHigh := s["maximum"].(float64)
	switch {
	case !hasLow && !hasHigh:
		low, high = 0, 100
	case !hasLow:
		low = high - 100
	case !hasHigh:
		high = low + 100
	}
	return int64(low) + d.Int64N(max(1, min(int64(high-low), 1000)+1))
}

// place is a part of an object that can be changed.
type place struct {
	schema map[string]any
	value  any
	set    func(any)
	remove func()
}

// places are the parts of a value, and what it is in, that a schema describes.
func places(p place) []place {
	out := []place{p}
	switch v := p.value.(type) {
	case map[string]any:
		for _, key := range slices.Sorted(maps.Keys(v)) {
			inner, known := properties(p.schema)[key]
			if !known {
				inner, _ = p.schema["additionalProperties"].(map[string]any)
			}
			out = append(out, places(place{inner, v[key], func(to any) { v[key] = to }, func() { delete(v, key) }})...)
		}
	case []any:
		for i := range v {
			out = append(out, places(place{items(p.schema), v[i], func(to any) { v[i] = to },
				func() { p.set(slices.Delete(slices.Clone(v), i, i+1)) }})...)
		}
	}
	return out
}

// grow adds a part that the schema describes somewhere in an object.
func (d draw) grow(root place) {
	all := places(root)
	for range 20 {
		p := pick(d, all)
		switch v := p.value.(type) {
		case map[string]any:
			if fields := properties(p.schema); len(fields) > 0 {
				if name := pick(d, slices.Sorted(maps.Keys(fields))); v[name] == nil {
					v[name] = d.value(fields[name], 1)
					return
				}
			}
			if entries, ok := p.schema["additionalProperties"].(map[string]any); ok {
				v[pick(d, words)] = d.value(entries, 1)
				return
			}
		case []any:
			p.set(append(slices.Clone(v), d.value(items(p.schema), 1)))
			return
		}
	}
}

// change changes a part of an object, mostly so that it does not fit any more.
func (d draw) change(root place) {
	p := pick(d, places(root))
	switch d.IntN(8) {
	case 0:
		p.set(runtime.DeepCopyJSONValue(pick(d, oddities)))
	case 1:
		p.remove()
	case 2:
		p.set(d.value(p.schema, 1))
	case 3: // as another part is
		p.set(runtime.DeepCopyJSONValue(pick(d, places(root)).value))
	default:
		d.changeWithin(p)
	}
}

// changeWithin changes a value as its type and its schema suggest.
func (d draw) changeWithin(p place) {
	switch v := p.value.(type) {
	case map[string]any:
		if fields := properties(p.schema); len(fields) > 0 && d.chance(50) {
			name := pick(d, slices.Sorted(maps.Keys(fields)))
			v[name] = d.value(fields[name], 1)
			return
		}
		v[pick(d, []string{"unknown", "a.b/c", "Name", "names", "x y", ""})] = pick(d,
			[]any{"x", map[string]any{"a": int64(1)}, nil})
	case []any:
		switch more := slices.Clone(v); {
		case len(v) == 0:
			p.set([]any{d.value(items(p.schema), 1)})
		case d.chance(20):
			p.set(v[:d.IntN(len(v))])
		case d.chance(60):
			p.set(append(more, runtime.DeepCopyJSONValue(pick(d, v))))
		default:
			most, limited := p.schema["maxItems"].(float64)
			if !limited || most > 130 {
				most = 20
			}
			for len(more) < int(most)+d.IntN(2) {
				more = append(more, d.value(items(p.schema), 3))
			}
			p.set(more)
		}
	case string:
		d.changeText(p, v)
	case int64, float64:
		var edges []any
		for _, key := range []string{"minimum", "maximum"} {
			if edge, ok := p.schema[key].(float64); ok {
				edges = append(edges, int64(edge)-1, int64(edge), int64(edge)+1)
			}
		}
		p.set(pick(d, append(edges, int64(-1), int64(0), int64(1)<<31, int64(1)<<40, 0.5, "1", "1s")))
	case bool:
		p.set(pick(d, []any{!v, "true", int64(1)}))
	default:
		p.set(d.value(p.schema, 1))
	}
}

func (d draw) changeText(p place, v string) {
	var lengths []int
	for _, key := range []string{"minLength", "maxLength"} {
		if n, ok := p.schema[key].(float64); ok && n < 5000 {
			lengths = append(lengths, max(0, int(n)-1), int(n), int(n)+1)
		}
	}
	switch {
	case len(lengths) > 0 && d.chance(40):
		n := pick(d, lengths)
		p.set(pick(d, []any{strings.Repeat(v+"a", n+1)[:n], strings.Repeat("é", n)}))
	case d.chance(30):
		p.set(pick(d, []any{v + " ", " " + v, v + v, strings.ToUpper(v), v + "\n", v + "é", "", v + ".", "*." + v,
			"/" + v, v + "/../x", "-" + v, v + ":70000", v + "ms"}))
	default:
		p.set(pick(d, words))
	}
}

// properties are the schemas of the fields of a schema.
func properties(s map[string]any) map[string]map[string]any {
	out := map[string]map[string]any{}
	fields, _ := s["properties"].(map[string]any)
	for name, field := range fields {
		out[name], _ = field.(map[string]any)
	}
	return out
}

func items(s map[string]any) map[string]any {
	out, _ := s["items"].(map[string]any)
	return out
}

func schemas(v any) []map[string]any {
	all, _ := v.([]any)
	var out []map[string]any
	for _, one := range all {
		if s, ok := one.(map[string]any); ok {
			out = append(out, s)
		}
	}
	return out
}

func texts(v any) []string {
	all, _ := v.([]any)
	var out []string
	for _, one := range all {
		if s, ok := one.(string); ok {
			out = append(out, s)
		}
	}
	return out
}
