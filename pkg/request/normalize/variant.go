package normalize

import (
	"slices"
	"strings"
)

// UnknownRules are those of an implementation of which nothing is known.
func UnknownRules() Rules {
	return Rules{DotsUnknown: true, SlashesUnknown: true, BackslashesUnknown: true, Decode: UnknownDecoding,
		Escaped: UnknownEscaped}
}

// listVariants returns all that an implementation may do where some of it is not known.
func (how Rules) listVariants() []Rules {
	out := []Rules{how}
	each := func(open bool, ways ...func(*Rules)) {
		if !open {
			return
		}
		var next []Rules
		for _, one := range out {
			for _, way := range ways {
				with := one
				way(&with)
				next = append(next, with)
			}
		}
		out = next
	}
	each(how.Decode == UnknownDecoding, func(t *Rules) { t.Decode = DecodeNothing },
		func(t *Rules) { t.Decode = DecodeUnreserved }, func(t *Rules) { t.Decode = DecodeAll })
	each(how.Escaped == UnknownEscaped, func(t *Rules) { t.Escaped = KeepEscaped },
		func(t *Rules) { t.Escaped = DecodeEscaped })
	each(how.BackslashesUnknown, func(*Rules) {}, func(t *Rules) { t.Backslashes = true })
	each(how.SlashesUnknown, func(*Rules) {}, func(t *Rules) { t.MergeSlashes = true },
		func(t *Rules) { t.MergeSlashes, t.MergeSlashesFirst = true, true })
	each(how.DotsUnknown, func(*Rules) {}, func(t *Rules) { t.ResolveDots = true })
	return out
}

// ListOtherPaths returns the paths that an implementation of which not all is known may compare for
// a written one, each once, beside the one that it is taken to compare.
func (how Rules) ListOtherPaths(path string) []string {
	if !strings.ContainsAny(path, `%\`) && !strings.Contains(path, "//") && !strings.Contains(path, "/.") {
		return nil // it can only be read in one way
	}
	taken := how.Apply(path)
	var out []string
	for _, one := range how.listVariants() {
		if p := one.Apply(path); p != taken && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
