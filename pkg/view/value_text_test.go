package view

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestValueText(t *testing.T) {
	limit := map[string]any{"rates": []any{map[string]any{"limit": int64(100), "window": "1s"}}}
	for _, tc := range []struct {
		value any
		width int
		want  string
	}{
		{limit, 0, "{rates: [{limit: 100, window: 1s}]}"},
		{limit, 20, "{rates: [{…}]}"},
		{limit, 12, "{rates: […]}"},
		{limit, 8, "{rates:…"},
		{map[string]any{"apiKey": map[string]any{"selector": map[string]any{}}}, 16, "{apiKey: {…}}"},
		{map[string]any{"b": nil, "a": []any{}}, 0, "{a: [], b: null}"},
		{"plain/text-1.2", 20, "plain/text-1.2"},
		{"true", 20, `"true"`},
		{"100", 20, `"100"`},
		{"1e3", 20, `"1e3"`},
		{"10s", 20, "10s"},
		{"", 20, `""`},
		{"a: b", 20, `"a: b"`},
		{"{x}", 20, `"{x}"`},
		{"line\nbreak\x1b[31m", 0, `"line\nbreak\x1b[31m"`},
		{true, 20, "true"},
		{int64(7), 20, "7"},
		{float64(2500000), 20, "2500000"},
		{0.5, 20, "0.5"},
		{nil, 20, "null"},
		{"a word that is far too long to fit", 20, `"a word that is far…`},
	} {
		if got := ValueText(tc.value, tc.width); got != tc.want {
			t.Errorf("%v in %d: got %q, want %q", tc.value, tc.width, got, tc.want)
		}
	}
}

func TestValueTextStaysNarrow(t *testing.T) {
	wide := map[string]any{}
	for _, key := range strings.Fields("ein zwei drei vier fünf sechs") {
		wide[key] = strings.Repeat("日本", 10000)
	}
	for width := 1; width < 40; width++ {
		if got := ValueText(wide, width); utf8.RuneCountInString(got) > width || !utf8.ValidString(got) {
			t.Errorf("width %d: %q", width, got)
		}
	}
}
