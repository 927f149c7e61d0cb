package resolve

import "github.com/dopolicy/kubectl-dopolicy/pkg/merge"

// Role is what became of a layer of a stack; the words are the contract's.
type Role string

// The roles.
const (
	RoleContributing Role = "contributing" // all that it sets is in force
	RolePartial      Role = "partial"      // some of it is
	RoleLost         Role = "lost"         // nothing of it is
	RoleIgnored      Role = "ignored"      // nothing of it counts here
)

// Roles returns those of the layers. One that another asked to be merged with takes part whatever
// is left of it.
func (o *Verdict) Roles() []Role {
	partner := map[int]bool{}
	if o.Void == "" {
		for _, st := range o.Result.Trace {
			for _, at := range st.Partners {
				partner[at] = true
			}
		}
	}
	won, lost, ignored := make([]int, len(o.Layers)), make([]int, len(o.Layers)), make([]int, len(o.Layers))
	for _, r := range o.Result.Rules {
		for _, f := range r.From {
			won[f.Layer]++
		}
	}
	for l := range o.eachLoss {
		lost[l.From.Layer]++
		if l.Reason == merge.Ignored {
			ignored[l.From.Layer]++
		}
	}
	out := make([]Role, len(o.Layers))
	for i := range out {
		switch {
		case won[i] > 0 && lost[i] > 0:
			out[i] = RolePartial
		case won[i] > 0:
			out[i] = RoleContributing
		case partner[i]:
			out[i] = RolePartial
		case lost[i] > ignored[i]:
			out[i] = RoleLost
		default:
			out[i] = RoleIgnored
		}
	}
	return out
}
