package descriptor

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"go.yaml.in/yaml/v3"
)

// scopes reads the families of paths of a kind that has several.
func (r *foldReader) scopes(n *yaml.Node) {
	r.kind.Scopes = nil
	r.List(n, func(e *yaml.Node) {
		var s policy.Scope
		r.Object(e, map[string]form.Field{"name": r.Text(&s.Name), "family": r.Text(&s.Family), "effective": r.openRoles(&s.Effective), "parts": r.Texts(&s.Parts),
			"legs":      func(n *yaml.Node) { r.List(n, func(e *yaml.Node) { s.Legs = append(s.Legs, r.leg(e)) }) },
			"compare":   func(n *yaml.Node) { s.Compare = orderReader{r.reader}.keys(n) },
			"fold":      named(r.Reader, &s.Fold, r.funcs.Folds, "to fold a scope"),
			"situation": named(r.Reader, &s.Situation, r.funcs.Situations, "to tell the situation of targets"),
			"split":     named(r.Reader, &s.Split, r.funcs.Splits, "to split results"),
			"result":    r.result(&s.Result)})
		if s.Name == "" || s.Effective == nil || len(s.Legs) == 0 || len(s.Legs) > 2 || s.Parts == nil || (s.Fold == nil) == (s.Situation == nil) || s.Situation != nil && len(s.Legs) > 1 {
			r.Fail(e, "a scope needs \"name\", \"effective\", \"parts\", \"fold\" with one or two \"legs\" or \"situation\" with one")
		}
		r.kind.Scopes = append(r.kind.Scopes, s)
	})
}

func (r *foldReader) leg(n *yaml.Node) policy.Leg {
	l := policy.Leg{}
	own := false
	r.Object(n, map[string]form.Field{"name": r.Text(&l.Name), "roles": r.openRoles(&l.Roles), "of": either(r.Reader, &own, "policy", "part"),
		"find": named(r.Reader, &l.Find, r.funcs.Legs, "to find the nodes of a leg")})
	l.Shared = !own || l.Find == nil // what the references find is the policy's
	return l
}

// trimScopes leaves out of the scopes what the kind has no parts for.
func trimScopes(k *policy.Kind) {
	if k.Scopes == nil {
		return
	}
	k.Scopes = slices.DeleteFunc(slices.Clone(k.Scopes), func(s policy.Scope) bool {
		return !slices.ContainsFunc(s.Parts, func(name string) bool {
			return slices.ContainsFunc(k.Parts, func(p policy.Part) bool { return p.Name == name })
		})
	})
	k.Effective = nil
	for _, s := range k.Scopes {
		for _, role := range s.Effective {
			if !slices.Contains(k.Effective, role) {
				k.Effective = append(k.Effective, role)
			}
		}
	}
}
