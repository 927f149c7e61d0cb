package check

import (
	"fmt"
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// reference is a name without a namespace in a rule of a policy.
type reference struct {
	setting
	name string
}

// foreignReferences reports rules that are in force in other namespaces than their policy's and name an object without a namespace: said
// once for each rule. `effective` says it of the targets that it is asked about.
func foreignReferences(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range r.Kinds {
		if len(k.Policies) == 0 || k.Scope != nil {
			continue
		}
		k.Fold()
		in := map[resolve.StackID][]reference{}
		abroad := map[reference]map[string]bool{}
		var order []reference
		k.EachContext(func(id topology.NodeID, s resolve.StackID) {
			refs, ok := in[s]
			if !ok {
				refs = bareReferences(k.Outcome(s))
				in[s] = refs
			}
			for _, ref := range refs {
				space := r.Node(id).Ref.Namespace
				if space == ref.part.Ref().Namespace {
					continue
				}
				if abroad[ref] == nil {
					order, abroad[ref] = append(order, ref), map[string]bool{}
				}
				abroad[ref][space] = true
			}
		})
		for _, ref := range order {
			out = append(out, ref.problem(slices.Sorted(maps.Keys(abroad[ref]))))
		}
	}
	return out
}

// bareReferences are those of the rules in force in a stack.
func bareReferences(o *resolve.Outcome) []reference {
	var out []reference
	for _, rule := range o.Result.Rules {
		name := view.BareReference(rule.Value)
		if name == "" {
			continue
		}
		for _, from := range rule.From {
			if p := o.Layers[from.Layer].Policy; p.Builtin == "" && p.Ref().Namespace != "" {
				out = append(out, reference{setting{p, from.Block, rule.Name}, name})
			}
		}
	}
	return out
}

func (ref reference) problem(spaces []string) model.Problem {
	p := ref.part
	problem := model.Problem{Severity: model.Warning, Code: model.ForeignReference, Message: fmt.Sprintf(
		"%s is in force in other namespaces (%s) and refers to %q without a namespace: it means one in %s", ref.rule, few(spaces), ref.name, p.Ref().Namespace)}.At(p.Object)
	if path := pathOf(p, ref.setting); path != nil {
		problem.Origin = path
	}
	return problem
}

// pathOf is where a policy sets a rule, nil if that is not one of its units.
func pathOf(p *policy.Policy, s setting) *model.Origin {
	for _, b := range p.Blocks {
		if b.Kind != s.block {
			continue
		}
		for _, u := range b.Units {
			if u.Path.String() == s.rule {
				origin := p.OriginOf(b.Kind, u.Path)
				return &origin
			}
		}
	}
	return nil
}
