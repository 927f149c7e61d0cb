package view

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// How much of a value a summary tells: columns of the whole, entries of one list or object, levels,
// and columns of one string.
const (
	summaryWidth   = 48
	summaryEntries = 12
	summaryDepth   = 8
)

// nameFields are the fields by which people call the entries of a list.
var nameFields = []string{"name", "id", "header", "key", "path", "host", "hostname"}

// summarizer says values in a few words. The kind's own summaries come first; the general rule says
// what they leave out.
type summarizer []policy.Summary

// summarizeRule returns the value of a rule in a few words.
func (s summarizer) summarizeRule(r *Rule) string {
	if r.summary == "" {
		r.summary = s.summarizeValue(r.Path, r.Value)
	}
	return r.summary
}

// SetSummaries sets how values of the kind are said in few words.
func (e *EffectivePolicy) SetSummaries(s []policy.Summary) { e.summaries = s }

// SummarizeRule returns the value of a rule in a few words.
func (e *EffectivePolicy) SummarizeRule(r *Rule) string { return e.summaries.summarizeRule(r) }

// SummarizeValue returns the value at a path of the settings in a few words.
func (e *EffectivePolicy) SummarizeValue(path merge.Path, v any) string {
	return e.summaries.summarizeValue(path, v)
}

// SummarizeValue returns the value at a path of the settings of a kind in a few words.
func SummarizeValue(of []policy.Summary, path merge.Path, v any) string {
	return summarizer(of).summarizeValue(path, v)
}

// summarizeValue returns the value at a path of the settings in a few words: scalars and small
// objects unfolded, scalars first.
func (s summarizer) summarizeValue(path merge.Path, v any) string {
	at := make([]string, len(path), len(path)+summaryDepth)
	for i, segment := range path {
		at[i] = segment.Name
	}
	text, _ := s.describeValue(at, merge.Unpack(v))
	return CutText(text, summaryWidth)
}

// describeValue returns v in words. spoken is true where the words say what they are about, so that
// no name has to stand before them.
func (s summarizer) describeValue(at []string, v any) (text string, spoken bool) {
	if text, rest, ok := s.applySummary(at, v); ok {
		if more := s.describeFields(at, rest); more != "" {
			text += ", " + more
		}
		return text, true
	}
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return "{}", false
		}
		return s.describeFields(at, v), false
	case []any:
		return s.describeList(at, v)
	}
	return scalarText(v), false
}

// applySummary returns what the first summary of the kind that fits says; rest are the fields that
// it does not name.
func (s summarizer) applySummary(at []string, v any) (text string, rest map[string]any, ok bool) {
	for i := range s {
		if text, rest, ok := s.fillSummary(&s[i], at, v); ok {
			return text, rest, true
		}
	}
	return "", nil, false
}

// fillSummary puts the values of fields into a summary; rest are the fields that it does not name.
// ok is false where one of them is missing, and where the summary is about another path.
func (s summarizer) fillSummary(summary *policy.Summary, at []string, v any) (text string,
	rest map[string]any, ok bool) {
	if !summary.FitsPath(at) {
		return "", nil, false
	}
	m, isObject := v.(map[string]any)
	rest = maps.Clone(m)
	var b strings.Builder
	for i, part := range summary.Text {
		switch {
		case i%2 == 0:
			b.WriteString(part)
		case part == "":
			rest = nil
			if isObject {
				b.WriteString(s.describeFields(at, m))
				continue
			}
			text, _ := s.describeValue(append(at, ""), v) // no summary is about it there
			b.WriteString(text)
		default:
			value, found := m[part]
			if !found {
				return "", nil, false
			}
			text, _ := s.describeValue(append(at, part), value)
			b.WriteString(text)
			delete(rest, part)
		}
	}
	return b.String(), rest, true
}

// describeFields returns the fields of an object: first those with a summary of the kind's own,
// then, each with its name, scalars, small values and the others.
func (s summarizer) describeFields(at []string, m map[string]any) string {
	names := slices.SortedFunc(maps.Keys(m), func(a, b string) int {
		return cmp.Or(cmp.Compare(rankValueSize(m[a]), rankValueSize(m[b])), cmp.Compare(a, b))
	})
	if len(at) > summaryDepth && len(names) > 0 {
		return "…"
	}
	var own, others []string
	for i, name := range names {
		if i == summaryEntries {
			others = append(others, "…")
			break
		}
		text, spoken := s.describeValue(append(at, name), m[name])
		if spoken { // the kind says that this is what matters, or that the field does not
			if text != "" {
				own = append(own, text)
			}
			continue
		}
		others = append(others, prefixName(name, m[name], text))
	}
	return strings.Join(append(own, others...), ", ")
}

// prefixName puts its name before a field.
func prefixName(name string, v any, text string) string {
	switch v := v.(type) {
	case map[string]any:
		switch len(v) {
		case 0:
		case 1:
			return name + "." + text
		default:
			return name + ": {" + text + "}"
		}
	case []any:
		if len(v) > 1 && entryName(v[0]) != "" {
			return fmt.Sprintf("%d %s: %s", len(v), name, text)
		}
		if len(v) == 1 {
			if only, isObject := v[0].(map[string]any); isObject && len(only) > 1 {
				return name + ": {" + text + "}"
			}
		}
	}
	return name + ": " + text
}

// describeList returns a list in words: its only entry, its scalars, the names of its entries, or
// its entries.
func (s summarizer) describeList(at []string, list []any) (text string, spoken bool) {
	at = append(at, "*")
	switch {
	case len(list) == 0:
		return "[]", false
	case len(list) == 1:
		return s.describeValue(at, list[0])
	}
	var out []string
	separator := ", "
	for i, v := range list {
		if i == summaryEntries {
			out = append(out, "…")
			break
		}
		text, rest, said := s.applySummary(at, v)
		switch {
		case !said:
			text, _ = s.describeValue(at, v)
		case s.describeFields(at, rest) != "":
			text += " …"
		}
		spoken = spoken || said
		if name := entryName(v); name != "" && !said {
			text = name
		} else if _, isObject := v.(map[string]any); isObject && !said {
			separator = "; "
		}
		out = append(out, text)
	}
	return strings.Join(out, separator), spoken
}

// entryName returns what an entry of a list is called, "" if it has no name.
func entryName(v any) string {
	m, _ := v.(map[string]any)
	for _, field := range nameFields {
		if name, isText := m[field].(string); isText && name != "" {
			return name
		}
	}
	return ""
}

// rankValueSize ranks values by how much there is to say: 0 for a scalar, 1 for a little, 2 for
// more.
func rankValueSize(v any) int {
	const little = 3
	switch v := v.(type) {
	case map[string]any:
		return 1 + len(v)/(little+1)
	case []any:
		return 1 + len(v)/(little+1)
	}
	return 0
}

// scalarText is a scalar without quotes; of a text with several lines, the first.
func scalarText(v any) string {
	s, isText := v.(string)
	if !isText {
		w := flowWriter{}
		w.writeValue(v, unlimitedDepth)
		return w.String()
	}
	line, rest, more := strings.Cut(strings.TrimSpace(s), "\n")
	switch {
	case line == "":
		return `""`
	case more && strings.TrimSpace(rest) != "":
		line = strings.TrimSpace(line) + " …"
	}
	return CutText(line, summaryWidth)
}
