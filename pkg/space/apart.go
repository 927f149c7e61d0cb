package space

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// apartTests are the tests of one part by which requests are told apart beside the matches of the rules that may take them.
func (d *draft) apartTests(k key, apart func(topology.NodeID) []request.Test) []request.Test {
	if apart == nil {
		return nil
	}
	var out []request.Test
	for i := range d.rivals {
		for _, t := range apart(d.rivals[i].Rule) {
			if keyOf(&t) == k {
				out = append(out, t)
			}
		}
	}
	return out
}

// nextApart is a part by which a draft is still to be split beside the matches of its rules.
func (d *draft) nextApart(apart func(topology.NodeID) []request.Test) (key, bool) {
	if apart == nil || d.class.protocol != request.HTTP {
		return key{}, false
	}
	for i := range d.rivals {
		for _, t := range apart(d.rivals[i].Rule) {
			k := keyOf(&t)
			if k.of != request.AspectPath && !slices.ContainsFunc(d.class.parts, func(p part) bool { return p.key == k }) {
				return k, true
			}
		}
	}
	return key{}, false
}
