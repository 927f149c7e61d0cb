package ingresstest

import (
	"fmt"
	"net/url"
	"path"
	"regexp"
	"strings"
)

// normalizePath makes the path that locations are compared with (N17).
func normalizePath(sent string) string {
	decoded, err := url.PathUnescape(sent)
	if err != nil {
		return sent
	}
	out := path.Clean("/" + decoded)
	last := decoded[strings.LastIndex(decoded, "/")+1:]
	if out != "/" && (last == "" || last == "." || last == "..") {
		out += "/"
	}
	return out
}

// backendPath is the path that a backend gets (N17, N18).
func (v *visit) backendPath() string {
	l := v.at
	if !l.needsRewrite() {
		return v.sentPath()
	}
	groups := regexp.MustCompile("(?i)" + l.path).FindStringSubmatch(v.path)
	out := regexp.MustCompile(`\$[0-9]`).ReplaceAllStringFunc(l.target, func(name string) string {
		if n := int(name[1] - '0'); n < len(groups) {
			return groups[n]
		}
		return ""
	})
	return escapePath(out) + v.query()
}

// escapePath writes a path as the proxy sends it on.
func escapePath(text string) string { return escapeBytes(text, "#%?\"<>\\^`{|} ", true) }

// escapeText writes a text so that it can stand in a query.
func escapeText(text string) string {
	return escapeBytes(text, "!\"#$%&'()*+,/:;<=>?@[\\]^`{|} ", true)
}

func escapeBytes(text, special string, control bool) string {
	var out strings.Builder
	for _, b := range []byte(text) {
		if strings.IndexByte(special, b) >= 0 || control && (b < 0x20 || b > 0x7e) {
			fmt.Fprintf(&out, "%%%02X", b)
			continue
		}
		out.WriteByte(b)
	}
	return out.String()
}
