package load

import "cmp"

// Limits bound what reading may cost. A document beyond one of them is left out with a LimitExceeded problem.
// A field that is zero means its default.
type Limits struct {
	Total    int64 // bytes read in all; a file that would go beyond is left out
	Document int   // bytes of one document
	Depth    int   // maps and lists inside each other
	Nodes    int   // keys and values of one document, aliases counted as what they stand for
	Repeated int   // those of them that are there only because aliases repeat them
}

// DefaultLimits is generous to dumps of whole clusters: 1 GiB in all and, for one document, 32 MiB, a depth of 100,
// four million keys and values, and a hundred thousand repeated by aliases.
func DefaultLimits() Limits {
	return Limits{Total: 1 << 30, Document: 32 << 20, Depth: 100, Nodes: 4_000_000, Repeated: 100_000}
}

func (l Limits) orDefault() Limits {
	d := DefaultLimits()
	return Limits{
		Total:    cmp.Or(l.Total, d.Total),
		Document: cmp.Or(l.Document, d.Document),
		Depth:    cmp.Or(l.Depth, d.Depth),
		Nodes:    cmp.Or(l.Nodes, d.Nodes),
		Repeated: cmp.Or(l.Repeated, d.Repeated),
	}
}
