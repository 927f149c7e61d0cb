package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// extraTests returns the tests of one part by which requests are told apart beside the matches of
// the rules that may take them.
func (d *draft) extraTests(k partKey, apart func(topology.NodeID) []request.Test) []request.Test {
	if apart == nil {
		return nil
	}
	var out []request.Test
	for i := range d.competitors {
		for _, t := range apart(d.competitors[i].Rule) {
			if partKeyOf(&t) == k {
				out = append(out, t)
			}
		}
	}
	return out
}

// nextExtraPart returns a part by which a draft is still to be split beside the matches of its
// rules.
func (d *draft) nextExtraPart(apart func(topology.NodeID) []request.Test) (partKey, bool) {
	if apart == nil || d.class.protocol != request.HTTP {
		return partKey{}, false
	}
	for i := range d.competitors {
		for _, t := range apart(d.competitors[i].Rule) {
			k := partKeyOf(&t)
			if k.of != request.AspectPath && !slices.ContainsFunc(d.class.parts,
				func(p part) bool { return p.partKey == k }) {
				return k, true
			}
		}
	}
	return partKey{}, false
}
