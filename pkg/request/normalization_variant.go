package request

import (
	"slices"
	"strings"
)

// unknownNormalization is that of an implementation of which nothing is known.
func unknownNormalization() Normalization {
	return Normalization{DotsUnknown: true, SlashesUnknown: true, BackslashesUnknown: true, Decode: UnknownDecoding, Escaped: UnknownEscaped}
}

// listVariants returns all that an implementation may do where some of it is not known.
func (how Normalization) listVariants() []Normalization {
	out := []Normalization{how}
	each := func(open bool, ways ...func(*Normalization)) {
		if !open {
			return
		}
		var next []Normalization
		for _, one := range out {
			for _, way := range ways {
				with := one
				way(&with)
				next = append(next, with)
			}
		}
		out = next
	}
	each(how.Decode == UnknownDecoding, func(t *Normalization) { t.Decode = DecodeNothing }, func(t *Normalization) { t.Decode = DecodeUnreserved }, func(t *Normalization) { t.Decode = DecodeAll })
	each(how.Escaped == UnknownEscaped, func(t *Normalization) { t.Escaped = KeepEscaped }, func(t *Normalization) { t.Escaped = DecodeEscaped })
	each(how.BackslashesUnknown, func(*Normalization) {}, func(t *Normalization) { t.Backslashes = true })
	each(how.SlashesUnknown, func(*Normalization) {}, func(t *Normalization) { t.MergeSlashes = true }, func(t *Normalization) { t.MergeSlashes, t.MergeSlashesFirst = true, true })
	each(how.DotsUnknown, func(*Normalization) {}, func(t *Normalization) { t.ResolveDots = true })
	return out
}

// listOtherPaths returns the paths that an implementation of which not all is known may compare for
// a written one, each once, beside the one that it is taken to compare.
func (how Normalization) listOtherPaths(path string) []string {
	if !strings.ContainsAny(path, `%\`) && !strings.Contains(path, "//") && !strings.Contains(path, "/.") {
		return nil // it can only be read in one way
	}
	taken := how.apply(path)
	var out []string
	for _, one := range how.listVariants() {
		if p := one.apply(path); p != taken && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
