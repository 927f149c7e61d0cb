package escape

import (
	"bytes"
	"encoding/xml"
	"io"
	"slices"
	"unicode"
	"unicode/utf8"
)

// NewRunnerWriter returns a writer for text in a CI runner, which takes some of what it reads as
// commands: "::name::" at the start of a line, "##[name]", "##vso[name]" and "##teamcity[name]"
// anywhere. A space within keeps names and values from being read so. To a runner, a carriage return ends a line too,
// and any white space may stand before "::".
func NewRunnerWriter(w io.Writer) io.Writer { return &runnerWriter{to: w, blank: true} }

// runnerWriter breaks commands up. It keeps its state between writes, as one may end within a
// command.
type runnerWriter struct {
	to    io.Writer
	blank bool   // nothing but spaces is on the line yet
	colon bool   // and then one colon
	wide  []byte // and then the beginning of a character of several bytes
	last  []byte // what was written last, as much as a command has before its bracket
	out   []byte
}

// Write implements io.Writer.
func (r *runnerWriter) Write(text []byte) (int, error) {
	r.out = r.out[:0]
	for _, b := range text {
		if b == '[' && OpensCommand(r.last) || b == ':' && r.colon {
			r.out = append(r.out, ' ')
		}
		r.out = append(r.out, b)
		r.colon = b == ':' && r.blank
		r.blank = r.isStillBlank(b)
		r.last = append(r.last[max(0, len(r.last)-longestCommand+1):], b)
	}
	if _, err := r.to.Write(r.out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// isStillBlank reports whether nothing but spaces is on the line behind b.
func (r *runnerWriter) isStillBlank(b byte) bool {
	switch {
	case b == '\n' || b == '\r':
		r.wide = r.wide[:0]
		return true
	case !r.blank:
		return false
	case b < utf8.RuneSelf:
		return len(r.wide) == 0 && unicode.IsSpace(rune(b))
	}
	r.wide = append(r.wide, b)
	if !utf8.FullRune(r.wide) {
		return true
	}
	c, _ := utf8.DecodeRune(r.wide)
	r.wide = r.wide[:0]
	return unicode.IsSpace(c)
}

// longestCommand is the length of the longest of runnerCommands.
const longestCommand = len("##teamcity")

// runnerCommands are what stands before the bracket of a command.
func runnerCommands() []string { return []string{"##", "##vso", "##teamcity"} }

// OpensCommand reports whether a bracket behind a text opens what a CI runner takes as a command.
func OpensCommand(before []byte) bool {
	return slices.ContainsFunc(runnerCommands(), func(c string) bool { return bytes.HasSuffix(before, []byte(c)) })
}

// EscapeBracket writes the bracket of such commands in another way, as formats with escapes allow
// for values.
func EscapeBracket(text []byte, bracket string) []byte {
	if !bytes.Contains(text, []byte("##")) {
		return text
	}
	for _, command := range runnerCommands() {
		text = bytes.ReplaceAll(text, []byte(command+"["), []byte(command+bracket))
	}
	return text
}

// EscapeMarkup is s as text of HTML or XML, in an attribute as well: with nothing that a page, a
// terminal or a CI runner would act on.
func EscapeMarkup(s string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(Escape(s))) // writing to a buffer does not fail
	return string(EscapeBracket(b.Bytes(), "&#91;"))
}
