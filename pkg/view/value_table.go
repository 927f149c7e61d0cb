package view

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// wholeDepth is a depth that is never reached.
const wholeDepth = -1

// valueText is a JSON value on one line, YAML flow style, keys sorted. If it is wider than width, deeper levels give way to {…} and
// […] first; what is still too wide is cut at the end. A width of 0 shows everything.
func valueText(v any, width int) string {
	v = merge.Plain(v)
	if width == 0 {
		w := flowText{}
		w.value(v, wholeDepth)
		return w.String()
	}
	for _, depth := range [...]int{wholeDepth, 4, 3, 2, 1} {
		w := flowText{room: width}
		w.value(v, depth)
		if !w.full() {
			return w.String()
		}
	}
	w := flowText{room: width}
	w.value(v, 1)
	return cutText(w.String(), width)
}

// cutText shortens s to width runes, the last of which is then an ellipsis.
func cutText(s string, width int) string {
	if utf8.RuneCountInString(s) <= width {
		return s
	}
	runes := 0
	for i := range s {
		if runes == width-1 {
			return s[:i] + "…"
		}
		runes++
	}
	return s
}

// flowText writes a value and stops once it cannot fit any more: values may be files of policy code.
type flowText struct {
	strings.Builder
	room int // 0: any
}

func (f *flowText) full() bool { return f.room > 0 && utf8.RuneCountInString(f.String()) > f.room }

func (f *flowText) value(v any, depth int) {
	if f.full() {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		f.object(v, depth)
	case []any:
		f.list(v, depth)
	case string:
		f.text(v)
	case nil:
		f.WriteString("null")
	case float64:
		f.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		fmt.Fprint(f, v)
	}
}

func (f *flowText) object(m map[string]any, depth int) {
	if len(m) > 0 && depth == 0 {
		f.WriteString("{…}")
		return
	}
	f.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			f.WriteString(", ")
		}
		f.text(key)
		f.WriteString(": ")
		f.value(m[key], depth-1)
		if f.full() {
			return
		}
	}
	f.WriteByte('}')
}

func (f *flowText) list(l []any, depth int) {
	if len(l) > 0 && depth == 0 {
		f.WriteString("[…]")
		return
	}
	f.WriteByte('[')
	for i, v := range l {
		if i > 0 {
			f.WriteString(", ")
		}
		f.value(v, depth-1)
		if f.full() {
			return
		}
	}
	f.WriteByte(']')
}

// text writes a string, in quotes where it could be read as something else or would break the line.
func (f *flowText) text(s string) {
	if f.room > 0 && len(s) > 4*f.room {
		s = s[:4*f.room] // whatever follows is cut anyway
	}
	if isPlainText(s) {
		f.WriteString(s)
		return
	}
	f.WriteString(strconv.Quote(s))
}

// isPlainText reports whether s without quotes can only be taken for a string: it begins as a word or a path does, and contains none of
// the marks that flow style uses.
func isPlainText(s string) bool {
	if s == "" || s == "true" || s == "false" || s == "null" || strings.HasSuffix(s, ":") {
		return false
	}
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '/' && (i == 0 || !strings.ContainsRune(".@:*-", r)) {
			return false
		}
	}
	_, err := strconv.ParseFloat(s, 64)
	return err != nil || s[0] > '9' // no number begins with a letter, whatever ParseFloat makes of "inf"
}
