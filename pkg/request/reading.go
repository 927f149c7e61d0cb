package request

import (
	"slices"
	"strings"
)

// nothingKnown is an implementation of which nothing is known.
func nothingKnown() Tidying {
	return Tidying{DotsOpen: true, SlashesOpen: true, BackslashesOpen: true, Decode: UnknownDecoding, Escaped: UnknownEscaped}
}

// whole are all that an implementation may do of which some is not known.
func (how Tidying) whole() []Tidying {
	out := []Tidying{how}
	each := func(open bool, ways ...func(*Tidying)) {
		if !open {
			return
		}
		var next []Tidying
		for _, one := range out {
			for _, way := range ways {
				with := one
				way(&with)
				next = append(next, with)
			}
		}
		out = next
	}
	each(how.Decode == UnknownDecoding, func(t *Tidying) { t.Decode = DecodeNothing }, func(t *Tidying) { t.Decode = DecodeUnreserved }, func(t *Tidying) { t.Decode = DecodeAll })
	each(how.Escaped == UnknownEscaped, func(t *Tidying) { t.Escaped = KeepEscaped }, func(t *Tidying) { t.Escaped = DecodeEscaped })
	each(how.BackslashesOpen, func(*Tidying) {}, func(t *Tidying) { t.Backslashes = true })
	each(how.SlashesOpen, func(*Tidying) {}, func(t *Tidying) { t.Slashes = true }, func(t *Tidying) { t.Slashes, t.SlashesFirst = true, true })
	each(how.DotsOpen, func(*Tidying) {}, func(t *Tidying) { t.Dots = true })
	return out
}

// readings are the paths that an implementation of which not all is known may compare for a written one, each once, beside the one that it is taken to.
func (how Tidying) readings(path string) []string {
	if !strings.ContainsAny(path, `%\`) && !strings.Contains(path, "//") && !strings.Contains(path, "/.") {
		return nil // there is one way to read it
	}
	taken := how.apply(path)
	var out []string
	for _, one := range how.whole() {
		if p := one.apply(path); p != taken && !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out
}
