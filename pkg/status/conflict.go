package status

import (
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// describeRejections names the targets that others keep a policy out of while it has a place
// elsewhere (gep713 P35, P38).
func describeRejections(in Input) string {
	at := map[topology.NodeID][]Conflict{}
	for _, c := range in.Outcome.Conflicts {
		at[c.At] = append(at[c.At], c)
	}
	out := ""
	for _, id := range in.Outcome.Targets {
		if len(at[id]) > 0 {
			out += "; not on " + in.Resolution.Node(id).Ref.String() + ": it " + describeConflicts(at[id])
		}
	}
	return out
}

// describeConflicts names the policies of conflicts, each with what put it first.
func describeConflicts(conflicts []Conflict) string {
	by := map[string]*model.Set[model.Ref]{}
	var hows []string
	for _, c := range conflicts {
		how := explain.DescribeStanding(c.Decision)
		if by[how] == nil {
			by[how] = &model.Set[model.Ref]{}
			hows = append(hows, how)
		}
		by[how].Add(c.By)
	}
	var parts []string
	for _, how := range hows {
		parts = append(parts, fmt.Sprintf("conflicts with %s, which %s", listPolicies(sortedRefs(*by[how])), how))
	}
	return strings.Join(parts, "; ")
}

// overridingPolicies returns the policies to which one lost settings where nobody kept it out, else
// all that it lost to.
func (f *PolicyOutcome) overridingPolicies() []model.Ref {
	if len(f.Overriders) > 0 {
		return f.Overriders
	}
	return f.LostTo
}
