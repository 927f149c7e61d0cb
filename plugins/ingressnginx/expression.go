package ingressnginx

import (
	"errors"
	"regexp"
	"regexp/syntax"
	"strings"
)

// expression is a regular expression of nginx.
type expression struct {
	regex   *regexp.Regexp // nil: it cannot be evaluated
	text    string         // in the syntax of Go
	refused string         // what nginx says of one that is wrong; "": it takes it
	unknown string         // why it cannot be evaluated
	prefix  string         // of all texts that it takes, in lower case, where it is known
}

// compileExpression compiles an expression of PCRE as far as Go knows its syntax.
func compileExpression(text string) expression {
	e := expression{text: text}
	var err error
	if e.regex, err = regexp.Compile(text); err == nil {
		return e
	}
	var wrong *syntax.Error
	if errors.As(err, &wrong) && isWrongEverywhere(wrong.Code) && !hasExtensions(text) {
		e.refused = "pcre2_compile() failed: " + describeMistake(wrong.Code)
		return e
	}
	e.unknown = "the expression " + text + " uses what only PCRE knows"
	return e
}

// isWrongEverywhere reports whether PCRE takes an expression for wrong as well.
func isWrongEverywhere(code syntax.ErrorCode) bool {
	switch code {
	case syntax.ErrMissingParen, syntax.ErrUnexpectedParen, syntax.ErrMissingBracket, syntax.ErrMissingRepeatArgument,
		syntax.ErrInvalidCharRange, syntax.ErrTrailingBackslash:
		return true
	}
	return false
}

// hasExtensions reports whether an expression has groups that only PCRE knows.
func hasExtensions(text string) bool {
	return strings.Contains(text, "(?") && !strings.HasPrefix(text, "(?i)") || strings.Contains(text, "(*") ||
		strings.Count(text, "(?") > 1 || strings.Contains(text, `\Q`)
}

// describeMistake is how PCRE calls a mistake.
func describeMistake(code syntax.ErrorCode) string {
	switch code {
	case syntax.ErrMissingParen:
		return "missing closing parenthesis"
	case syntax.ErrUnexpectedParen:
		return "unmatched closing parenthesis"
	case syntax.ErrMissingBracket:
		return "missing terminating ] for character class"
	case syntax.ErrMissingRepeatArgument:
		return "quantifier does not follow a repeatable item"
	case syntax.ErrInvalidCharRange:
		return "range out of order in character class"
	}
	return `\ at end of pattern`
}

// literalPrefix is what all texts that an expression takes begin with, in lower case: the part before its first
// special character, if no alternative takes it away.
func literalPrefix(text string) string {
	if strings.Contains(text, "|") {
		return ""
	}
	at := strings.IndexAny(text, `\^$.[](){}*+?`)
	if at < 0 {
		return strings.ToLower(text)
	}
	if strings.IndexByte("*?{", text[at]) >= 0 && at > 0 {
		at-- // the character before it need not be there
	}
	return strings.ToLower(text[:at])
}
