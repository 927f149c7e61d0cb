package status

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// rejections names the targets that others keep a policy out of while it has a place elsewhere (gep713 P35, P38).
func rejections(in Input) string {
	at := map[topology.NodeID][]Conflict{}
	for _, c := range in.Fate.Conflicts {
		at[c.At] = append(at[c.At], c)
	}
	out := ""
	for _, id := range in.Fate.Targets {
		if len(at[id]) > 0 {
			out += "; not on " + describe(in.Resolution.Node(id).Ref) + ": it " + rivalsIn(at[id])
		}
	}
	return out
}

// rivalsIn names the policies of conflicts, each with what put it first.
func rivalsIn(conflicts []Conflict) string {
	by := map[string]*model.Set[model.Ref]{}
	var hows []string
	for _, c := range conflicts {
		how := explain.Standing(c.Decision)
		if by[how] == nil {
			by[how] = &model.Set[model.Ref]{}
			hows = append(hows, how)
		}
		by[how].Add(c.By)
	}
	var parts []string
	for _, how := range hows {
		parts = append(parts, fmt.Sprintf("conflicts with %s, which %s", some(sortedRefs(*by[how])), how))
	}
	return strings.Join(parts, "; ")
}

// overriders are the policies to which one lost what nobody kept it out of, else all that it lost to.
func (f *Fate) overriders() []model.Ref {
	if len(f.Overriders) > 0 {
		return f.Overriders
	}
	return f.LostTo
}
