package descriptor

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Generator makes of an object what its controller makes of it: objects of other kinds, which
// manifests do not have and a cluster has.
type Generator struct {
	Kind model.GroupKind
	Make func(o *model.Object, in *model.Snapshot) ([]*model.Object, []model.Problem)
}

// WithGenerated returns the input with what controllers make of its objects. What the input has
// itself counts instead.
func (c *Catalog) WithGenerated(in *model.Snapshot) *model.Snapshot {
	var made []*model.Object
	seen := map[model.Ref]bool{}
	problems := in.Problems
	for _, g := range c.builder.funcs.Generate {
		for _, o := range in.OfKind(g.Kind) {
			objects, found := g.Make(o, in)
			problems = append(slices.Clip(problems), found...)
			for _, m := range objects {
				if in.Get(m.Ref) != nil || seen[m.Ref] {
					continue
				}
				seen[m.Ref] = true
				m.Origin = o.Origin
				made = append(made, m)
				problems = append(problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
					Message: fmt.Sprintf("%s is not in the input: it stands for what the controller makes of %s",
						m.Ref, o.Ref)}.At(m))
			}
		}
	}
	if len(made) == 0 && len(problems) == len(in.Problems) {
		return in
	}
	return in.WithObjects(append(slices.Clip(in.Objects), made...), problems, nil)
}
