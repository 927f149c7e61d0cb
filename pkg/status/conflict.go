package status

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// rejections names the targets that others keep a policy out of while it has a place elsewhere (gep713 P35, P38).
func rejections(in Input) string {
	out := ""
	for _, id := range in.Fate.Targets {
		if at := in.Fate.rivals(func(c Conflict) bool { return c.At == id }); at != "" {
			out += "; not on " + describe(in.Resolution.Node(id).Ref) + ": it " + at
		}
	}
	return out
}

// rivals names the policies that keep one out of some targets, nil meaning of all, each with what put it first.
func (f *Fate) rivals(of func(Conflict) bool) string {
	by := map[string][]model.Ref{}
	var hows []string
	for _, c := range f.Conflicts {
		if of != nil && !of(c) {
			continue
		}
		how := explain.Standing(c.Decision)
		if by[how] == nil {
			hows = append(hows, how)
		}
		by[how] = appendNew(by[how], []model.Ref{c.By})
	}
	var parts []string
	for _, how := range hows {
		slices.SortFunc(by[how], model.Ref.Compare)
		parts = append(parts, fmt.Sprintf("conflicts with %s, which %s", some(by[how]), how))
	}
	return strings.Join(parts, "; ")
}

// RivalAt is the policy that keeps one out of a target, with what put it first; nil: none does.
func (f *Fate) RivalAt(id topology.NodeID) *Conflict {
	if at := slices.IndexFunc(f.Conflicts, func(c Conflict) bool { return c.At == id }); at >= 0 {
		return &f.Conflicts[at]
	}
	return nil
}

// overriders are the policies to which one lost what nobody kept it out of, else all that it lost to.
func (f *Fate) overriders() []model.Ref {
	if len(f.Overriders) > 0 {
		return f.Overriders
	}
	return f.LostTo
}
