package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// FilterEffect is what a filter does to requests that an implementation has besides those of the
// Gateway API, beyond what gates of its kind tell.
type FilterEffect struct {
	// Path returns what becomes of the path, without the query; nil: it stays.
	Path func(path string) string
	// Restricts is true if the rule does not take all requests that it matches: which ones is not
	// evaluated.
	Restricts bool
}

// FilterReader says what an object does that filters of an implementation's routes name; false: that is
// not known, or more than an effect can say.
type FilterReader func(filter model.Ref) (FilterEffect, bool)

// ReadFilter says what an object does that a filter names, at a Gateway; false: that is not known.
func (g *Graph) ReadFilter(gateway NodeID, filter model.Ref) (FilterEffect, bool) {
	if gateway == None {
		return FilterEffect{}, false
	}
	read := g.parts.FilterReaders[g.ImplementationName(gateway)]
	if read == nil {
		return FilterEffect{}, false
	}
	return read(filter)
}
