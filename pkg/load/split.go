package load

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// piece is one document of a file before it is parsed.
type piece struct {
	file source
	from string // the context of the cluster, if the document is part of a snapshot
	line int    // of the first line of text, in the file
	text []byte
	many bool // text is several small documents: if one is broken, each is parsed by itself

	real      string // the path of the file without links; "" where it was made
	namespace string // of objects without one; "" for that of all
	aside     bool   // it is for another cluster than the one that is asked about
}

// split cuts a file into its documents at the lines that begin or end one, so that a broken document cannot spoil the
// next. Pieces without content (blank lines, comments and {} only) are left out.
func split(file source, text []byte) []piece {
	var pieces []piece
	cuts(text, func(start, end, line int) {
		pieces = append(pieces, piece{file: file, line: line, text: text[start:end:end]})
	})
	return pieces
}

// fewBytes is up to how many bytes small documents are parsed together: a YAML reader for each takes longer than to read them.
const fewBytes = 8 << 10

// splitLarge is split, with small documents that follow each other in one piece.
func splitLarge(file source, text []byte) []piece {
	var pieces []piece
	last, lastFits := 0, false // where the last piece began, and whether another one can join it
	cuts(text, func(start, end, line int) {
		if values := jsonValues(file, text[start:end:end], line); values != nil {
			pieces, lastFits = append(pieces, values...), false
			return
		}
		fits := joins(text[start:end])
		if n := len(pieces) - 1; n >= 0 && fits && lastFits && last+len(pieces[n].text) == start && end-last <= fewBytes {
			pieces[n].text, pieces[n].many = text[last:end:end], true
			return
		}
		pieces = append(pieces, piece{file: file, line: line, text: text[start:end:end]})
		last, lastFits = start, fits
	})
	return pieces
}

// jsonValues cuts a document that is many JSON values, one after the other, into pieces of some of them; nil: it is none, or not that long. What is
// no JSON is left to the last piece.
func jsonValues(file source, text []byte, line int) []piece {
	first := contentStart(text)
	if len(text) < 2*fewBytes || text[first] != '{' && text[first] != '[' {
		return nil
	}
	var pieces []piece
	d := jsontext.NewDecoder(bytes.NewBuffer(text[first:]), jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	begin := 0
	for err := d.SkipValue(); err == nil; err = d.SkipValue() {
		if end := first + int(d.InputOffset()); end-begin >= fewBytes {
			pieces = append(pieces, piece{file: file, line: line, text: text[begin:end:end]})
			line += bytes.Count(text[begin:end], []byte("\n"))
			begin = end
		}
	}
	if len(pieces) == 0 || contentStart(text[begin:]) == len(text)-begin {
		return pieces
	}
	return append(pieces, piece{file: file, line: line, text: text[begin:]})
}

// joins reports whether a document may be parsed with others: JSON has a reader of its own, but for what YAML reads alike; directives and anchors are for
// one document.
func joins(text []byte) bool {
	first := contentStart(text)
	return len(text) <= fewBytes && (text[first] != '{' && text[first] != '[' || bytes.IndexByte(text, '\\') < 0 && bytes.IndexByte(text, '\t') < 0) && bytes.IndexByte(text, '&') < 0 && bytes.IndexByte(text, '%') < 0
}

// cuts calls cut for every document with where it begins and ends, and the line on which it begins.
func cuts(text []byte, each func(start, end, line int)) {
	start, startLine := 0, 1
	cut := func(end, line int) {
		p := text[start:end]
		if p = p[contentStart(p):]; len(p) > 0 && string(bytes.TrimSpace(p)) != "{}" {
			each(start, end, startLine)
		}
		start, startLine = end, line
	}
	// Directives (%YAML, %TAG) stand in front of the marker that begins their document: it does not cut them off.
	bare, directive := true, false
	at, line := 0, 1
	for at < len(text) {
		next := lineEnd(text, at)
		switch {
		case isMarker(text[at:next], "---"):
			if !bare || !directive {
				cut(at, line)
			}
			bare = false
		case isMarker(text[at:next], "..."):
			cut(at, line)
			start, startLine = next, line+1
			bare, directive = true, false
		case bare && text[at] == '%':
			directive = true
		case bare:
			bare = contentStart(text[at:next]) == next-at
		}
		at, line = next, line+1
	}
	cut(len(text), line)
}

// lineEnd is where the line that begins at i ends, its line break included.
func lineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// isMarker reports whether line is the given document marker, alone or followed by a space and anything.
func isMarker(line []byte, marker string) bool {
	if !bytes.HasPrefix(line, []byte(marker)) {
		return false
	}
	rest := line[len(marker):]
	return len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0
}

// contentStart is the index of the first byte of text that is neither space, comment, directive nor document marker.
func contentStart(text []byte) int {
	at := 0
	for at < len(text) {
		next := lineEnd(text, at)
		line := text[at:next]
		if isMarker(line, "---") {
			at, line = at+3, line[3:]
		}
		rest := bytes.TrimLeft(line, " \t\r\n")
		if len(rest) > 0 && rest[0] != '#' && text[at] != '%' {
			return next - len(rest)
		}
		at = next
	}
	return len(text)
}

// lineAt is the line, counted from 1, on which the byte at i stands.
func lineAt(text []byte, i int) int { return 1 + bytes.Count(text[:min(i, len(text))], []byte("\n")) }
