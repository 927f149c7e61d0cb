package normalize

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
)

// TidyPath returns a path as it should be spelled: without dots to resolve, repeated slashes,
// backslashes, and characters that need not be escaped.
func TidyPath(path string) string {
	return Rules{ResolveDots: true, MergeSlashes: true, Backslashes: true, Decode: DecodeUnreserved,
		Escaped: DecodeEscaped}.Apply(path)
}

// Rules say what an implementation makes of the path of a request before it is compared (gatewayapi
// G46).
type Rules struct {
	ResolveDots  bool // elements of one or two dots are resolved, also where a dot is escaped
	MergeSlashes bool // slashes that follow each other become one
	Escaped      EscapedSlashes

	MergeSlashesFirst bool     // slashes become one before dots are resolved
	Backslashes       bool     // a backslash is a slash
	Decode            Decoding // of other characters that are escaped
	DropHostDot       bool     // a dot at the end of the host does not count
	KeepHostDot       bool     // it does; if neither is true, that is not known

	DotsUnknown, SlashesUnknown, BackslashesUnknown bool // it is not known what becomes of them; they are taken to stay
}

// Decoding says which escaped characters are decoded, beside slashes and backslashes.
type Decoding uint8

// The ways with escaped characters.
const (
	UnknownDecoding  Decoding = iota
	DecodeNothing             // they are compared as they are written
	DecodeUnreserved          // letters, digits, and - . _ ~
	DecodeAll                 // every one, slashes included
)

// EscapedSlashes says what becomes of a path with an escaped slash or backslash in it.
type EscapedSlashes uint8

// The ways with escaped slashes.
const (
	KeepEscaped     EscapedSlashes = iota
	DecodeEscaped                  // they are decoded first
	RedirectEscaped                // the client is sent to the decoded path
	RejectEscaped                  // the request is refused
	UnknownEscaped                 // one of these
)

// Apply returns what is compared of a path.
func (how Rules) Apply(path string) string {
	if how.Escaped == DecodeEscaped || how.Escaped == RedirectEscaped {
		path = DecodeSlashes(path)
	}
	switch how.Decode {
	case DecodeUnreserved:
		path = escapePattern.ReplaceAllStringFunc(path, decodeUnreserved)
	case DecodeAll:
		if plain, err := url.PathUnescape(path); err == nil {
			path = plain
		}
	}
	if how.Backslashes {
		path = strings.ReplaceAll(path, `\`, "/")
	}
	if how.MergeSlashes && how.MergeSlashesFirst {
		path = mergeSlashes(path)
	}
	if how.ResolveDots {
		path = resolveDots(path)
	}
	switch {
	case how.MergeSlashes && !how.MergeSlashesFirst && len(path) > 1 && strings.Trim(path, "/") == "":
		path = "//" // one in front and one behind
	case how.MergeSlashes:
		path = mergeSlashes(path)
	}
	return path
}

// mergeSlashes returns a path in which repeated slashes are one.
func mergeSlashes(path string) string {
	for strings.Contains(path, "//") {
		path = strings.ReplaceAll(path, "//", "/")
	}
	return path
}

var escapePattern = regexp.MustCompile(`%[0-9A-Fa-f]{2}`)

// decodeUnreserved decodes an escaped character if it need not be escaped (RFC 3986, 2.3).
func decodeUnreserved(escape string) string {
	n, _ := strconv.ParseUint(escape[1:], 16, 8)
	c := byte(n)
	if c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z' || strings.IndexByte("-._~", c) >= 0 {
		return string(rune(c))
	}
	return escape
}

// DecodeSlashes returns a path with its escaped slashes and backslashes decoded.
func DecodeSlashes(path string) string {
	if !strings.Contains(path, "%") {
		return path
	}
	return strings.NewReplacer("%2F", "/", "%2f", "/", "%5C", `\`, "%5c", `\`).Replace(path)
}

// resolveDots resolves the elements of a path that are one or two dots, as RFC 3986 says.
func resolveDots(path string) string {
	parts := strings.Split(strings.TrimPrefix(path, "/"), "/")
	out := make([]string, 0, len(parts))
	for i, part := range parts {
		n := countDots(part)
		if n == 0 {
			out = append(out, part)
			continue
		}
		if n == 2 && len(out) > 0 {
			out = out[:len(out)-1]
		}
		if i == len(parts)-1 {
			out = append(out, "")
		}
	}
	return "/" + strings.Join(out, "/")
}

// countDots returns how many dots an element of a path is, escaped or not; 0 if it is something
// else.
func countDots(part string) int {
	switch strings.ReplaceAll(strings.ReplaceAll(part, "%2E", "."), "%2e", ".") {
	case ".":
		return 1
	case "..":
		return 2
	}
	return 0
}
