package view

import (
	"fmt"
	"strings"
)

// TableOptions say how much of an answer a Table or a Tree shows, and how the commands that it
// proposes have to be written.
type TableOptions struct {
	Wide     bool      // values and lists in full
	ByRule   bool      // one line per rule of a route, even where several have the same answer
	Grouped  bool      // a block for each object, where there is the choice
	Terminal bool      // a person reads it: what holds for many is said once
	Limit    int       // most lines of a list (most targets of `effective`); 0 shows all. What is left out is counted
	Target   string    // what was asked about, as typed; "" for everything in view
	Scope    []string  // arguments that name the same targets to `overridden`; nil: found from the answer
	Source   string    // flags that name the input, repeated in proposed commands: "-f testdata/demo"
	Diff     DiffInput // the input for `diff`
}

// DiffInput is how `diff` names the input.
type DiffInput struct {
	Impossible bool   // diff cannot take the input as one side
	Side       string // the first side, quoted; "" for a cluster
	Flags      string // the other flags of the input
}

// CountShown returns how many of n lines are shown.
func (o TableOptions) CountShown(n int) int {
	if o.Limit <= 0 {
		return n
	}
	return min(n, o.Limit)
}

// FormatCommand writes a command line to run next, quoted for a shell, since names from files may
// hold any character.
func (o TableOptions) FormatCommand(words ...string) string {
	quoted := []string{"kubectl", "dopolicy"}
	for _, w := range words {
		quoted = append(quoted, QuoteShellWord(w))
	}
	if o.Source != "" {
		quoted = append(quoted, o.Source)
	}
	return strings.Join(quoted, " ")
}

// FormatDeletion writes the command that compares the input with the same without an object; ""
// if there is none.
func (o TableOptions) FormatDeletion(object string) string {
	if o.Diff.Impossible {
		return ""
	}
	line := "kubectl dopolicy diff "
	if o.Diff.Side != "" {
		line += o.Diff.Side + " "
	}
	return strings.TrimSuffix(line+"--delete "+QuoteShellWord(object)+" "+o.Diff.Flags, " ")
}

// QuoteShellWord returns s as one word of a POSIX shell, in quotes where it needs them.
func QuoteShellWord(s string) string {
	const plain = "-_./:@%+=,"
	for _, r := range s {
		if (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && !strings.ContainsRune(plain, r) {
			return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
		}
	}
	if s == "" {
		return "''"
	}
	return s
}

// FormatMoreLine returns the line that stands for what Limit left out, nil if nothing was.
func FormatMoreLine(hidden int, noun string) []string {
	if hidden <= 0 {
		return nil
	}
	return []string{fmt.Sprintf("… and %d more %s (--limit 0 shows all)", hidden, InflectNoun(hidden, noun))}
}

// FormatCount returns n with a noun in the right number: "1 rule", "2 rules".
func FormatCount(n int, noun string) string {
	return fmt.Sprintf("%d %s", n, InflectNoun(n, noun))
}

// InflectNoun returns the noun in the number that n asks for. A noun with a plural of its own is
// given as "list was|lists were".
func InflectNoun(n int, noun string) string {
	one, many, irregular := strings.Cut(noun, "|")
	switch {
	case n == 1:
		return one
	case irregular:
		return many
	}
	return one + "s"
}
