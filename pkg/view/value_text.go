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

// unlimitedDepth is a depth that is never reached.
const unlimitedDepth = -1

// ValueText returns a JSON value on one line, in YAML flow style with sorted keys. If it is wider
// than width, deeper levels become {…} and […] first; what is still too wide is cut at the end.
// A width of 0 shows everything.
func ValueText(v any, width int) string {
	v = merge.Unpack(v)
	if width == 0 {
		w := flowWriter{}
		w.writeValue(v, unlimitedDepth)
		return w.String()
	}
	for _, depth := range [...]int{unlimitedDepth, 4, 3, 2, 1} {
		w := flowWriter{width: width}
		w.writeValue(v, depth)
		if !w.isFull() {
			return w.String()
		}
	}
	w := flowWriter{width: width}
	w.writeValue(v, 1)
	return CutText(w.String(), width)
}

// CutText shortens s to width runes, the last of which is then an ellipsis.
func CutText(s string, width int) string {
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

// flowWriter writes a value and stops once it cannot fit any more, since values may be whole files
// of policy code.
type flowWriter struct {
	strings.Builder
	width int // 0: any
}

func (f *flowWriter) isFull() bool {
	return f.width > 0 && utf8.RuneCountInString(f.String()) > f.width
}

func (f *flowWriter) writeValue(v any, depth int) {
	if f.isFull() {
		return
	}
	switch v := v.(type) {
	case map[string]any:
		f.writeObject(v, depth)
	case []any:
		f.writeList(v, depth)
	case string:
		f.writeText(v)
	case nil:
		f.WriteString("null")
	case float64:
		f.WriteString(strconv.FormatFloat(v, 'f', -1, 64))
	default:
		fmt.Fprint(f, v)
	}
}

func (f *flowWriter) writeObject(m map[string]any, depth int) {
	if len(m) > 0 && depth == 0 {
		f.WriteString("{…}")
		return
	}
	f.WriteByte('{')
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			f.WriteString(", ")
		}
		f.writeText(key)
		f.WriteString(": ")
		f.writeValue(m[key], depth-1)
		if f.isFull() {
			return
		}
	}
	f.WriteByte('}')
}

func (f *flowWriter) writeList(l []any, depth int) {
	if len(l) > 0 && depth == 0 {
		f.WriteString("[…]")
		return
	}
	f.WriteByte('[')
	for i, v := range l {
		if i > 0 {
			f.WriteString(", ")
		}
		f.writeValue(v, depth-1)
		if f.isFull() {
			return
		}
	}
	f.WriteByte(']')
}

// writeText writes a string, in quotes where it could be read as something else or would break the
// line.
func (f *flowWriter) writeText(s string) {
	if f.width > 0 && len(s) > 4*f.width {
		s = s[:4*f.width] // whatever follows is cut anyway
	}
	if isPlainText(s) {
		f.WriteString(s)
		return
	}
	f.WriteString(strconv.Quote(s))
}

// isPlainText reports whether s without quotes can only be taken for a string: it begins as a word
// or a path does, and contains none of the marks that flow style uses.
func isPlainText(s string) bool {
	if s == "" || s == "true" || s == "false" || s == "null" || strings.HasSuffix(s, ":") {
		return false
	}
	for i, r := range s {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) && r != '_' && r != '/' &&
			(i == 0 || !strings.ContainsRune(".@:*-", r)) {
			return false
		}
	}
	_, err := strconv.ParseFloat(s, 64)
	return err != nil || s[0] > '9' // no number begins with a letter, whatever ParseFloat makes of "inf"
}
