package protect

import (
	"net/netip"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
)

// constantCode tells whether a value decides nothing, and why; "" if it looks at the request, or at anything else.
func constantCode(kind string, v any) gate.Code {
	switch kind {
	case "rego":
		if IsConstantRego(textOf(v)) {
			return gate.AllowsAll
		}
	case "cel":
		if IsTrue(textOf(v)) {
			return gate.AllowsAll
		}
	case "patterns":
		if list, ok := v.([]any); ok && len(list) == 0 {
			return gate.AllowsAll
		}
	case "cidr":
		if CoversAll(v) {
			return gate.AnyAddress
		}
	case "origins":
		if list, ok := v.([]any); ok {
			for _, entry := range list {
				if text := textOf(entry); text == "*" || textOf(valueAt(entry, []string{"regex"})) == ".*" {
					return gate.AnyOrigin
				}
			}
		}
	}
	return ""
}

// IsTrue reports whether a CEL expression is the constant true.
func IsTrue(expr string) bool { return strings.Trim(strings.TrimSpace(expr), "() \t\n") == "true" }

var constantRego = regexp.MustCompile(`^(default\s+allow\s*:?=\s*true|allow\s*:?=\s*true|allow\s*(if\s*)?\{\s*true\s*\}|allow)$`)

// IsConstantRego reports whether a Rego module only says that everything is allowed.
func IsConstantRego(text string) bool {
	found := false
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "package ") || strings.HasPrefix(line, "import ") {
			continue
		}
		if !constantRego.MatchString(line) {
			return false
		}
		found = true
	}
	return found
}

// CoversAll reports whether a CIDR, or one of a list, covers an address family.
func CoversAll(v any) bool {
	if list, ok := v.([]any); ok {
		for _, entry := range list {
			if CoversAll(entry) {
				return true
			}
		}
		return false
	}
	p, err := netip.ParsePrefix(textOf(v))
	return err == nil && p.Bits() == 0
}
