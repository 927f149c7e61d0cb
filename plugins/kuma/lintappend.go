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

// appended reports MeshPassthroughs that add matches to a list that the mode in force does not read, wherever they hold.
func appended(r *resolve.Resolution) []model.Problem {
	var out []model.Problem
	for _, k := range r.Kinds {
		if k.GroupKind.Group != group || k.GroupKind.Kind != "MeshPassthrough" || len(k.Policies) == 0 {
			continue
		}
		k.Fold()
		idle, read := map[*policy.Policy]string{}, map[*policy.Policy]bool{}
		k.InForce(func(s resolve.StackID) {
			o := k.Verdict(s)
			mode, _ := model.Get(merge.Plain(o.Result.Doc()), "passthroughMode").(string)
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
			out = append(out, appendWithoutEffect.Problem("with passthroughMode %s the matches that %s appends are not read", idle[p], p.Ref()).
				At(p.Object, "spec", "default", "appendMatch"))
		}
	}
	return out
}
