package document

import (
	"cmp"
	"time"
)

// Limits bound what reading may cost. A document beyond one of them is left out with a
// LimitExceeded problem. A field that is zero means its default.
type Limits struct {
	Total    int64 // bytes read in all; a file that would go beyond is left out
	Document int   // bytes of one document
	Depth    int   // maps and lists inside each other
	Nodes    int   // keys and values of one document, aliases counted as what they stand for
	Repeated int   // those of them that are there only because aliases repeat them

	Build       time.Duration // building a kustomization
	BuildMemory uint64        // bytes by which memory in use may grow meanwhile
}

// DefaultLimits is generous to dumps of whole clusters: 256 MiB in all and, for one document, 32 MiB,
// a depth of 100, four million keys and values, and a hundred thousand repeated by aliases. A
// kustomization may take two minutes and 400 MiB; what its build costs is counted before.
func DefaultLimits() Limits {
	return Limits{Total: 256 << 20, Document: 32 << 20, Depth: 100, Nodes: 4_000_000, Repeated: 100_000,
		Build: 2 * time.Minute, BuildMemory: 400 << 20}
}

// WithDefaults returns the limits with the default of every one that is zero.
func (l Limits) WithDefaults() Limits {
	d := DefaultLimits()
	return Limits{
		Total:    cmp.Or(l.Total, d.Total),
		Document: cmp.Or(l.Document, d.Document),
		Depth:    cmp.Or(l.Depth, d.Depth),
		Nodes:    cmp.Or(l.Nodes, d.Nodes),
		Repeated: cmp.Or(l.Repeated, d.Repeated),

		Build:       cmp.Or(l.Build, d.Build),
		BuildMemory: cmp.Or(l.BuildMemory, d.BuildMemory),
	}
}
