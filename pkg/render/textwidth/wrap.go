package textwidth

import (
	"strings"
	"unicode/utf8"
)

// TakeFirstColumns is the beginning of text that fits into width columns.
func TakeFirstColumns(text string, width int) string {
	for i, r := range text {
		if width -= DisplayWidth(string(r)); width < 0 {
			return text[:i]
		}
	}
	return text
}

// WrapWords breaks text between words into lines of at most width columns, and words only where
// they are longer. A command that a reader may copy begins a line of its own, and is continued as a
// shell wants it.
func WrapWords(text string, width int) []string {
	if DisplayWidth(text) <= width {
		return []string{text}
	}
	if before, command, found := strings.Cut(text, ": "+commandName); found {
		return append(WrapWords(before+":", width), wrapCommand(commandName+command, width)...)
	}
	var out []string
	line := ""
	for word := range strings.SplitSeq(text, " ") {
		if line != "" && DisplayWidth(line)+1+DisplayWidth(word) > width {
			out = append(out, line)
			line = ""
		}
		for DisplayWidth(word) > width {
			head := breakWord(word, width)
			out, word = append(out, head), word[len(head):]
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}

// breakWord is what of a word fits into width columns, up to the last mark between names if there
// is one.
func breakWord(word string, width int) string {
	head := TakeFirstColumns(word, max(width, 1))
	if head == "" {
		_, size := utf8.DecodeRuneInString(word)
		return word[:size]
	}
	for i := len(head); i > 0; i-- {
		if strings.IndexByte(marks, head[i-1]) >= 0 {
			return head[:i]
		}
	}
	for i := len(head); i > 0; i-- {
		if beginsPart(word, i) {
			return head[:i]
		}
	}
	return head
}

// marks are what a word may be broken behind.
const marks = "/.:,-_[="

// beginsPart reports whether a word can be broken before a place in it: behind a mark, or where a
// word of a name in camel case begins.
func beginsPart(word string, at int) bool {
	isUpper := func(letter byte) bool { return letter >= 'A' && letter <= 'Z' }
	return at > 0 && at < len(word) && (strings.IndexByte(marks, word[at-1]) >= 0 ||
		isUpper(word[at]) && !isUpper(word[at-1]))
}

// LongestPart is the width of the longest part of a text that is broken only where there is no other
// way.
func LongestPart(text string) int {
	widest := 0
	for word := range strings.SplitSeq(text, " ") {
		start := 0
		for i := range word {
			if beginsPart(word, i) {
				widest, start = max(widest, DisplayWidth(word[start:i])), i
			}
		}
		widest = max(widest, DisplayWidth(word[start:]))
	}
	return widest
}

// wrapCommand breaks a command before its flags and its other arguments, but not between a flag and
// its value.
func wrapCommand(command string, width int) []string {
	var out []string
	line := commandIndent + commandName
	words := strings.Split(strings.TrimPrefix(command, commandName), " ")
	for i, word := range words {
		end := DisplayWidth(line) + DisplayWidth(word) + len(" \\")
		if strings.HasPrefix(word, "-") && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-") {
			end += 1 + DisplayWidth(words[i+1])
		}
		if i > 0 && (strings.HasPrefix(word, "-") || !strings.HasPrefix(words[i-1], "-")) && end > width {
			out = append(out, line+"\\")
			line = commandIndent + commandIndent
		}
		line += word + " "
	}
	return append(out, strings.TrimRight(line, " "))
}

// How the commands that closing lines propose begin, and what stands before them on a line of their
// own.
const (
	commandName   = "kubectl dopolicy "
	commandIndent = "  "
)
