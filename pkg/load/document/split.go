package document

import (
	"bytes"
	"encoding/json"
	"slices"
	"unicode"

	"github.com/go-json-experiment/json/jsontext"
)

// File is the file that documents are read from, as problems and origins call it.
type File struct {
	Name  string // as the user would type it, with forward slashes
	Named bool   // given by its own name rather than found in a folder
}

// Raw is one document of a file before it is parsed.
type Raw struct {
	File    File
	Cluster string // the context of the cluster, if the document is part of a snapshot
	Line    int    // of the first line of text, in the file
	Text    []byte
	isBatch bool // text is several small documents: if one is broken, each is parsed by itself

	IsStream bool     // JSON values that follow each other are all read
	refused  *Problem // why kubectl does not read the text

	RealPath  string // the path of the file without links; "" where it was made
	Namespace string // of objects without one; "" for that of all
}

// Split cuts a file into its documents as kubectl does, so that a broken document cannot spoil the
// next. Documents without content (blank lines, comments and {} only) are left out.
func Split(file File, text []byte) []Raw {
	var pieces []Raw
	eachSpan(text, isJSONFirst(text), func(c documentSpan) { pieces = append(pieces, c.toDocument(file, text)) })
	return pieces
}

// splitBatch returns the documents of a batch, one by one.
func (p Raw) splitBatch() []Raw {
	var pieces []Raw
	eachSpan(p.Text, false, func(c documentSpan) {
		one := p
		one.isBatch, one.Line, one.Text, one.refused = false, p.Line+c.line-1, p.Text[c.start:c.end:c.end], c.refused
		pieces = append(pieces, one)
	})
	return pieces
}

// maxBatchBytes is up to how many bytes small documents are parsed together: a YAML reader for each
// takes longer than to read them.
const maxBatchBytes = 8 << 10

// SplitBatched is Split, with small documents that follow each other in one batch.
func SplitBatched(file File, text []byte) []Raw {
	var pieces []Raw
	var last documentSpan // the span of the last document
	lastFits := false     // whether another document can join it
	eachSpan(text, isJSONFirst(text), func(c documentSpan) {
		if values := splitJSONStream(file, text, c); values != nil {
			pieces, lastFits = append(pieces, values...), false
			return
		}
		fits := !c.stream && c.refused == nil && canBatch(text[c.start:c.end])
		if fits && lastFits && c.isNextTo(last, text) && c.end-last.start <= maxBatchBytes {
			last.end = c.end
			one := &pieces[len(pieces)-1]
			one.Text, one.isBatch = text[last.start:c.end:c.end], true
			return
		}
		pieces = append(pieces, c.toDocument(file, text))
		last, lastFits = c, fits
	})
	return pieces
}

// splitJSONStream cuts many JSON values, one after the other, into batches. It returns nil if there
// are none, or not that many. What is no JSON is left to the last batch.
func splitJSONStream(file File, text []byte, c documentSpan) []Raw {
	if !c.stream || c.refused != nil || c.end-c.start < 2*maxBatchBytes {
		return nil
	}
	var pieces []Raw
	d := jsontext.NewDecoder(bytes.NewBuffer(text[c.start:c.end:c.end]), jsontext.AllowDuplicateNames(true),
		jsontext.AllowInvalidUTF8(true))
	begin := c
	for err := d.SkipValue(); err == nil; err = d.SkipValue() {
		if begin.end = c.start + int(d.InputOffset()); begin.end-begin.start >= maxBatchBytes {
			pieces = append(pieces, begin.toDocument(file, text))
			begin.line += bytes.Count(text[begin.start:begin.end], []byte("\n"))
			begin.start = begin.end
		}
	}
	rest := text[begin.start:c.end]
	if len(pieces) == 0 || FindContentStart(rest) == len(rest) {
		return pieces
	}
	begin.end = c.end
	return append(pieces, begin.toDocument(file, text))
}

// canBatch reports whether a document may be parsed with others. JSON has a reader of its own, but
// for what YAML reads alike; directives and anchors are for one document, and so is all that can
// end it without a line ---.
func canBatch(text []byte) bool {
	first := FindContentStart(text)
	if len(text) > maxBatchBytes || (text[first] == '{' || text[first] == '[') && bytes.ContainsAny(text, "\\\t") {
		return false
	}
	ends := bytes.HasPrefix(text, []byte("...")) || bytes.Contains(text, []byte("\n...")) || hasRareBreak(text)
	return !ends && !bytes.ContainsAny(text, "&%") && !bytes.Contains(text, []byte(byteOrderMark))
}

// byteOrderMark is the byte order mark of UTF-8. YAML skips it at the start of a document.
const byteOrderMark = "\ufeff"

// hasRareBreak reports whether text has a line break to YAML that is none to kubectl when it cuts a
// file: a lone carriage return, or one of three rare characters.
func hasRareBreak(text []byte) bool {
	if bytes.Count(text, []byte("\r")) != bytes.Count(text, []byte("\r\n")) {
		return true
	}
	return slices.ContainsFunc(rareBreaks(), func(b []byte) bool { return bytes.Contains(text, b) })
}

// rareBreaks are the characters other than \n and \r that end a line to YAML.
func rareBreaks() [][]byte { return [][]byte{[]byte("\u0085"), []byte("\u2028"), []byte("\u2029")} }

// documentSpan is where a document begins and ends.
type documentSpan struct {
	start, end, line int
	separator        int // where the line --- in front of it begins, which is not part of it
	stream           bool
	refused          *Problem
}

func (c documentSpan) toDocument(file File, text []byte) Raw {
	return Raw{File: file, Line: c.line, Text: text[c.start:c.end:c.end], IsStream: c.stream, refused: c.refused}
}

// isNextTo reports whether c stands right behind another document, with a line --- between that is
// one to YAML as well.
func (c documentSpan) isNextTo(other documentSpan, text []byte) bool {
	line := text[c.separator:c.start]
	return other.end == c.separator && isDocumentMarker(line, "---") && !hasRareBreak(line)
}

// eachSpan calls each for every document. It cuts where the YAMLOrJSONDecoder of apimachinery does:
// at lines that begin with ---, which it leaves out but for one at the very start of a document.
// With stream, text is a file that begins with JSON.
func eachSpan(text []byte, stream bool, each func(documentSpan)) {
	c := documentSpan{line: 1, stream: stream}
	if c.stream {
		c.refused = leadingSpaceProblem(text)
	}
	finish := func(end int) {
		c.end = end
		p := text[c.start:end]
		content := p[FindContentStart(p):]
		if c.refused == nil && len(content) == 0 {
			c.refused = directiveProblem(p)
		}
		if c.refused != nil || len(content) > 0 && string(bytes.TrimSpace(content)) != "{}" {
			each(c)
		}
	}
	at, line := 0, 1
	for at < len(text) {
		next := findLineEnd(text, at)
		if bytes.HasPrefix(text[at:next], []byte("---")) {
			refused := separatorProblem(text[at+3 : next])
			switch {
			case refused != nil:
				finish(at)
				c = documentSpan{start: at, separator: at, line: line, refused: refused}
			case at > c.start:
				finish(at)
				if c.stream && hasSeveralJSONValues(text[:at]) {
					t := invalidYAML(1, "kubectl stops here: --- cannot follow several JSON values")
					t.Hint = "put --- between the values as well"
					each(documentSpan{start: at, end: at, separator: at, line: line, refused: t})
				}
				c = documentSpan{start: next, separator: at, line: line + 1}
			}
		}
		at, line = next, line+1
	}
	finish(len(text))
}

// isJSONFirst reports whether kubectl reads text as JSON values first, one after the other.
func isJSONFirst(text []byte) bool {
	const seen = 4096 // bytes that decide it
	return bytes.HasPrefix(bytes.TrimLeftFunc(text[:min(len(text), seen)], unicode.IsSpace), []byte("{"))
}

// leadingSpaceProblem returns the problem of a file that begins with a space that is none to YAML:
// kubectl skips it in front of JSON.
func leadingSpaceProblem(text []byte) *Problem {
	rest := bytes.TrimLeft(text, " \t\r\n")
	if rest[0] == '{' {
		return nil
	}
	t := invalidYAML(lineOfByte(text, len(text)-len(rest)), "not used: it begins with a space that is none to YAML")
	t.Hint = "take it out"
	return t
}

// directiveProblem returns the problem of a document that is only directives (%YAML, %TAG): a line
// --- cuts them off from what they are for.
func directiveProblem(text []byte) *Problem {
	at := 0
	for at < len(text) && text[at] != '%' {
		at = findLineEnd(text, at)
	}
	if at == len(text) {
		return nil
	}
	t := invalidYAML(lineOfByte(text, at), "kubectl stops here: it reads no directives (%%YAML, %%TAG)")
	t.Hint = "take the directive out"
	return t
}

// separatorProblem returns the problem of what stands behind --- on its line. Only a comment may.
func separatorProblem(line []byte) *Problem {
	line = bytes.TrimSpace(line)
	var t *Problem
	switch {
	case len(line) == 0 || line[0] == '#' && !hasRareBreak(line):
		return nil
	case line[0] == '#':
		t = invalidYAML(1,
			"not used: kubectl reads nothing of a line that begins with ---, and this one goes on behind a line break that is none to it")
	default:
		t = invalidYAML(1, "not used: kubectl stops here: --- is followed by something on its line")
	}
	t.Hint = "put --- on a line of its own"
	return t
}

// hasSeveralJSONValues reports whether text begins with more than one JSON value.
func hasSeveralJSONValues(text []byte) bool {
	d := json.NewDecoder(bytes.NewReader(text))
	var first, second json.RawMessage
	return d.Decode(&first) == nil && d.Decode(&second) == nil
}

// findLineEnd returns where the line that begins at i ends, its line break included.
func findLineEnd(text []byte, i int) int {
	if n := bytes.IndexByte(text[i:], '\n'); n >= 0 {
		return i + n + 1
	}
	return len(text)
}

// isDocumentMarker reports whether line is the given document marker, alone or followed by a space
// and anything.
func isDocumentMarker(line []byte, marker string) bool {
	if !bytes.HasPrefix(line, []byte(marker)) {
		return false
	}
	rest := line[len(marker):]
	return len(rest) == 0 || bytes.IndexByte([]byte(" \t\r\n"), rest[0]) >= 0 || isRareBreak(rest)
}

// FindContentStart returns the index of the first byte of text that is neither space, comment,
// directive, document marker nor byte order mark.
func FindContentStart(text []byte) int {
	at := 0
	if bytes.HasPrefix(text, []byte(byteOrderMark)) {
		at = len(byteOrderMark)
	}
	for at < len(text) {
		next := findBreakEnd(text, at)
		line := text[at:next]
		if isDocumentMarker(line, "---") {
			at, line = at+3, line[3:]
		}
		rest := bytes.TrimLeft(line, " \t\r\n")
		if len(rest) > 0 && rest[0] != '#' && text[at] != '%' && !isRareBreak(rest) {
			return next - len(rest)
		}
		at = next
	}
	return len(text)
}

// findBreakEnd returns where the line that begins at i ends to YAML, its line break included.
func findBreakEnd(text []byte, i int) int {
	for ; i < len(text); i++ {
		switch b := text[i]; {
		case b == '\n':
			return i + 1
		case b == '\r' && !bytes.HasPrefix(text[i+1:], []byte("\n")):
			return i + 1
		case b == 0xc2 || b == 0xe2:
			for _, rare := range rareBreaks() {
				if bytes.HasPrefix(text[i:], rare) {
					return i + len(rare)
				}
			}
		}
	}
	return len(text)
}

// isRareBreak reports whether text is one of the rare line breaks.
func isRareBreak(text []byte) bool {
	return slices.ContainsFunc(rareBreaks(), func(b []byte) bool { return bytes.Equal(text, b) })
}

// lineOfByte returns the line, counted from 1, on which the byte at i stands.
func lineOfByte(text []byte, i int) int {
	return 1 + bytes.Count(text[:min(i, len(text))], []byte("\n"))
}
