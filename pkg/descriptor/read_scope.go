package descriptor

import (
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// readScopes reads the families of paths of a kind that has several.
func (r *foldReader) readScopes(n *yaml.Node) {
	r.kind.Scopes = nil
	r.List(n, func(e *yaml.Node) {
		var s policy.Scope
		r.Object(e, map[string]form.Field{"name": r.Text(&s.Name), "family": r.Text(&s.Family),
			"effective": r.openRolesField(&s.Effective), "parts": r.Texts(&s.Parts),
			"legs": func(n *yaml.Node) {
				r.List(n,
					func(e *yaml.Node) { s.Points = append(s.Points, r.readPoint(e)) })
			},
			"compare": func(n *yaml.Node) { s.Compare = orderReader{r.reader}.readKeys(n) },
			"fold":    funcObjectField(r.Reader, &s.Fold, r.funcs.Folds, "to fold a scope"),
			"situation": funcObjectField(r.Reader, &s.Situation, r.funcs.Situations,
				"to tell the situation of targets"),
			"split":  funcObjectField(r.Reader, &s.Split, r.funcs.Splits, "to split results"),
			"result": r.resultField(&s.Result)})
		if s.Name == "" || s.Effective == nil || len(s.Points) == 0 || len(s.Points) > 2 || s.Parts == nil ||
			(s.Fold == nil) == (s.Situation == nil) || s.Situation != nil && len(s.Points) > 1 {
			r.Fail(e,
				"a scope needs \"name\", \"effective\", \"parts\", \"fold\" with one or two \"legs\" or \"situation\" with one")
		}
		r.kind.Scopes = append(r.kind.Scopes, s)
	})
}

func (r *foldReader) readPoint(n *yaml.Node) policy.PathPoint {
	l := policy.PathPoint{}
	own := false
	r.Object(n, map[string]form.Field{"name": r.Text(&l.Name), "roles": r.openRolesField(&l.Roles),
		"of":   eitherField(r.Reader, &own, "policy", "part"),
		"find": funcObjectField(r.Reader, &l.Search, r.funcs.Legs, "to find the nodes of a leg")})
	l.Shared = !own || l.Search == nil // what the references find is the policy's
	return l
}

// trimScopes drops the scopes for which the kind has no parts.
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
