package health

import (
	"fmt"
	"slices"
	"strings"
)

// Expressions are the check in CEL, over the fields of the object: Flux asks the first two in this
// order, then the third. While none is true, or the object has no status, it waits.
type Expressions struct{ InProgress, Failed, Current string }

// FormatCEL returns the check as expressions.
func (c *Check) FormatCEL() Expressions {
	if c.State != nil {
		return c.formatCELStates()
	}
	w := c.Words
	entries := c.formatCELEntries()
	none := "entries.size() == 0"
	seen := ""
	if !w.Own {
		none += " && !(has(status.ancestors) && status.ancestors.size() == 0)"
		seen = "entries.size() == 0 && has(status.ancestors) && status.ancestors.size() == 0 ||\n"
	}
	adverse := ""
	if len(w.Adverse) > 0 {
		adverse = fmt.Sprintf(` ||
  c.type in %s && c.status == 'True' &&
  (c.type in %s || c.?reason.orValue('') in %[2]s)`, formatCELList(c.listConcerned()), formatCELList(w.Adverse))
	}
	return Expressions{
		InProgress: entries + fmt.Sprintf(`.exists(entries,
%s ||
entries.exists(e, e.?conditions.orValue([]).exists(c, c.type in %s &&
  c.?observedGeneration.orValue(0) != 0 && has(metadata.generation) &&
  string(c.observedGeneration) != string(metadata.generation))))`, none, formatCELList(c.listConcerned())),
		Failed: entries + fmt.Sprintf(`.exists(entries,
%sentries.exists(e, e.?conditions.orValue([]).exists(c,
  c.type in %s && c.status == 'False'%s)))`, seen, formatCELList(c.listNeeded()), adverse),
		Current: entries + fmt.Sprintf(`.exists(entries,
entries.size() > 0 && entries.all(e,
  %s.all(t, e.?conditions.orValue([]).exists(c, c.type == t && c.status == 'True')) &&
  e.?conditions.orValue([]).all(c, !(c.type in %s) || c.status == 'True')))`, formatCELList(w.Required),
			formatCELList(w.Judged)),
	}
}

// formatCELEntries is a list with one element: the list of what is judged. A macro over it gives that
// list a name.
func (c *Check) formatCELEntries() string {
	w := c.Words
	of := "[status].filter(e, e.?conditions.orValue([]).size() > 0)"
	if !w.Own {
		of += " +\n  status.?ancestors.orValue([])"
	}
	concerned := c.listConcerned()
	notes := slices.DeleteFunc(slices.Clone(w.Mentioned), func(s string) bool { return slices.Contains(concerned, s) })
	if len(notes) > 0 {
		of = fmt.Sprintf(`(%s).filter(e,
  e.?conditions.orValue([]).size() == 0 || e.conditions.exists(c, !(c.type in %s)))`, of, formatCELList(notes))
	}
	if w.Own || len(w.Required) == 0 { // there are no controllers to tell apart
		return "[" + of + "]"
	}
	return fmt.Sprintf(`[%s].map(reported,
reported.filter(e, !(e.?conditions.orValue([]).exists(c,
  c.type == %s && c.status == 'False' && c.?reason.orValue('') == 'TargetNotFound') &&
reported.exists(o, o.?controllerName.orValue('') != e.?controllerName.orValue('') &&
  o.?conditions.orValue([]).exists(c, c.type == %[2]s && c.status == 'True')))))`, of, quoteCEL(w.Required[0]))
}

// formatCELStates is the check of words in the place of conditions.
func (c *Check) formatCELStates() Expressions {
	at := c.State.At
	last := at[len(at)-1]
	star := slices.Index(at, "*")
	words := "[" + optionalCEL(at, "''") + "].filter(w, string(w) != '')"
	if star >= 0 {
		holders := optionalCEL(at[:star], "{}")
		words = fmt.Sprintf("[%s].map(all, all.map(name, all[name].?%s.orValue(''))).exists(words,", holders, last)
	} else {
		words = "[" + words + "].exists(words,"
	}
	healthy := formatCELList(c.nameStates(c.State.Healthy))
	progressing := formatCELList(append(c.nameStates(c.State.Progressing), ""))
	return Expressions{
		InProgress: words + "\nwords.size() == 0 || words.exists(w, string(w) in " + progressing + "))",
		Failed:     words + "\nwords.exists(w, !(string(w) in " + healthy + ")))",
		Current:    words + "\nwords.size() > 0 && words.all(w, string(w) in " + healthy + "))",
	}
}

// optionalCEL is what stands at a place, or something else where nothing does. The place begins with
// status, which an object must have.
func optionalCEL(at []string, otherwise string) string {
	return at[0] + ".?" + strings.Join(at[1:], ".?") + ".orValue(" + otherwise + ")"
}

// nameStates are the words with the numbers that mean them.
func (c *Check) nameStates(words []string) []string {
	out := slices.Clone(words)
	for i, word := range c.State.Words {
		if slices.Contains(words, word) {
			out = append(out, fmt.Sprint(i))
		}
	}
	return out
}

// formatCELList is a list of texts.
func formatCELList(texts []string) string {
	quoted := make([]string, len(texts))
	for i, s := range texts {
		quoted[i] = quoteCEL(s)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// quoteCEL is a text in quotes: what is no letter, digit or harmless sign is a number.
func quoteCEL(s string) string {
	var b strings.Builder
	b.WriteByte('\'')
	for _, r := range s {
		if r < 0x80 && isPlain(byte(r)) {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, `\U%08x`, r)
		}
	}
	return b.String() + `'`
}
