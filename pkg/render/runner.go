package render

import (
	"bytes"
	"io"
)

// RunnerText is a writer for text in a CI runner, which takes some of what it reads as commands: "::name::" at the start of a line,
// "##[name]" and "##vso[name]" anywhere. A space within keeps names and values from being read so.
func RunnerText(w io.Writer) io.Writer { return &runnerText{to: w, blank: true} }

// runnerText breaks commands up. It remembers where it is, as writes may end within one.
type runnerText struct {
	to    io.Writer
	blank bool   // nothing but spaces is on the line yet
	colon bool   // and then one colon
	last  []byte // what was written last, as much as a command has before its bracket
	out   []byte
}

// Write implements io.Writer.
func (r *runnerText) Write(text []byte) (int, error) {
	r.out = r.out[:0]
	for _, b := range text {
		if b == '[' && opensCommand(r.last) || b == ':' && r.colon {
			r.out = append(r.out, ' ')
		}
		r.out = append(r.out, b)
		r.colon = b == ':' && r.blank
		r.blank = b == '\n' || r.blank && (b == ' ' || b == '\t')
		r.last = append(r.last[max(0, len(r.last)-len("##vso")+1):], b)
	}
	if _, err := r.to.Write(r.out); err != nil {
		return 0, err
	}
	return len(text), nil
}

// opensCommand reports whether a bracket behind a text opens a command.
func opensCommand(before []byte) bool {
	return bytes.HasSuffix(before, []byte("##")) || bytes.HasSuffix(before, []byte("##vso"))
}

// bracketEscaped writes the bracket of such commands in another way, as values of formats can have it that have escapes.
func bracketEscaped(text []byte, bracket string) []byte {
	if !bytes.Contains(text, []byte("##")) {
		return text
	}
	for _, command := range []string{"##", "##vso"} {
		text = bytes.ReplaceAll(text, []byte(command+"["), []byte(command+bracket))
	}
	return text
}
