package kuma

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

var appendWithoutEffect = model.Rule{ID: "AppendWithoutEffect", Severities: []model.Severity{model.Warning},
	Summary: "entries are added to a list that the mode of the same policy does not read",
	Fix:     "choose the mode that reads the list, or drop the entries"}

// findIdleAppends reports MeshPassthroughs that add matches to a list that the mode in force does
// not read, wherever they hold.
func findIdleAppends(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range r.Kinds {
		if k.GroupKind.Group != group || k.GroupKind.Kind != "MeshPassthrough" || len(k.Policies) == 0 {
			continue
		}
		k.FoldAll()
		idle, read := map[*policy.Policy]string{}, map[*policy.Policy]bool{}
		k.EachStackInForce(func(s resolve.StackID) {
			o := k.Verdict(s)
			mode, _ := model.Get(merge.Unpack(o.Result.Document()), "passthroughMode").(string)
			for _, rule := range o.Result.Rules {
				if rule.Name != "appendMatch" {
					continue
				}
				for _, from := range rule.From {
					p := o.Layers[from.Layer].Policy.Base()
					if mode == "All" || mode == "None" {
						idle[p] = mode
					} else {
						read[p] = true
					}
				}
			}
		})
		for _, p := range k.Policies {
			if idle[p] == "" || read[p] || len(k.Gaps().Of(p)) > 0 {
				continue
			}
			out = append(out,
				appendWithoutEffect.NewProblem("with passthroughMode %s the matches that %s appends are not read",
					idle[p], p.Ref()).
					At(p.Object, "spec", "default", "appendMatch"))
		}
	}
	return out
}
