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
	if mark := strings.LastIndexAny(head, "/.:,-"); mark > 0 {
		return head[:mark+1]
	}
	return head
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
