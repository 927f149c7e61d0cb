package policy

import (
	"slices"
	"strings"
	"unicode"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Guess is how a kind without a descriptor is read, and what of that may be wrong (engine E15).
type Guess struct {
	Description  string // how the kind is read, in half a line
	DefinesMerge bool   // GEP-713 says what several of its policies on one path are to each other
	Doubt        string // why the whole reading may be wrong; "": nothing says so
	NeedsTarget  bool   // its API does not take a policy without a target reference
}

// Uncertainty is something in a policy that is not understood without a descriptor.
type Uncertainty struct {
	Field string // from the object's root
	model.Problem
}

// DescribeHint says what to do about a kind that is only guessed at.
const DescribeHint = "describe the kind with --policy-kinds"

// IsMergeWord reports whether a name speaks of merging or of precedence, as mergeType,
// inheritanceMode and allowOverrides do.
func IsMergeWord(name string) bool {
	words := wordsOf(name)
	has := func(stems ...string) bool {
		return slices.ContainsFunc(words, func(w string) bool {
			return slices.ContainsFunc(stems, func(stem string) bool { return strings.HasPrefix(w, stem) })
		})
	}
	if has("merg", "inherit", "preced", "priorit", "conflict") {
		return true
	}
	first, last := words[0], words[len(words)-1]
	return len(words) > 1 && has("overrid") &&
		(slices.Contains([]string{"allow", "deny", "disable", "enable", "forbid", "prevent"}, first) ||
			slices.Contains([]string{"behavior", "mode", "policy", "strategy", "type"}, last)) ||
		first == "overridable"
}

// wordsOf splits a name at its capitals, in lower case; there is at least one word.
func wordsOf(name string) []string {
	var out []string
	start := 0
	for i, r := range name {
		if i > start && unicode.IsUpper(r) {
			out = append(out, strings.ToLower(name[start:i]))
			start = i
		}
	}
	return append(out, strings.ToLower(name[start:]))
}
