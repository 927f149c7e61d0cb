package protect

import (
	"net/netip"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
)

// findConstant says why a value decides nothing; "" if it looks at the request, or at anything
// else.
func findConstant(kind string, v any) gate.Code {
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

var constantRego = regexp.MustCompile(
	`^(default\s+allow\s*:?=\s*true|allow\s*:?=\s*true|allow\s*(if\s*)?\{\s*true\s*\}|allow)$`)

// IsConstantRego reports whether a Rego module only says that everything is allowed.
func IsConstantRego(text string) bool { return isRegoOf(text, constantRego) }

// isRegoOf reports whether a Rego module has rules, all of which are of a form.
func isRegoOf(text string, form *regexp.Regexp) bool {
	found := false
	for line := range strings.SplitSeq(text, "\n") {
		line, _, _ = strings.Cut(line, "#")
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "package ") ||
			strings.HasPrefix(line, "import ") {
			continue
		}
		if !form.MatchString(line) {
			return false
		}
		found = true
	}
	return found
}

// IsFalse reports whether a CEL expression is false.
func IsFalse(expr string) bool { return strings.Trim(strings.TrimSpace(expr), "() \t\n") == "false" }

var closedRego = regexp.MustCompile(`^(default\s+)?allow\s*:?=\s*false$`)

// IsClosedRego reports whether a Rego module only says that nothing is allowed.
func IsClosedRego(text string) bool { return isRegoOf(text, closedRego) }

// CoversAll reports whether a CIDR, or a list of them together, covers an address family.
func CoversAll(v any) bool {
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	var all []netip.Prefix
	for _, entry := range list {
		if p, err := netip.ParsePrefix(textOf(entry)); err == nil {
			all = append(all, p.Masked())
		}
	}
	slices.SortFunc(all, func(a, b netip.Prefix) int { return a.Addr().Compare(b.Addr()) })
	for _, first := range []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()} {
		next := first // the lowest address that is not covered
		for _, p := range all {
			if p.Addr().BitLen() != first.BitLen() || next.Less(p.Addr()) {
				continue
			}
			last := LastAddress(p)
			if last.Less(next) {
				continue
			}
			if next = last.Next(); !next.IsValid() {
				return true
			}
		}
	}
	return false
}

// LastAddress returns the highest address of a network.
func LastAddress(p netip.Prefix) netip.Addr {
	b := p.Addr().AsSlice()
	for i := p.Bits(); i < len(b)*8; i++ {
		b[i/8] |= 1 << (7 - i%8)
	}
	out, _ := netip.AddrFromSlice(b)
	return out
}
