package policy

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"go.yaml.in/yaml/v3"
)

// named reads {func: NAME} and finds the function.
func named[F any](r *reader, n *yaml.Node, known map[string]F, what string) F {
	var name string
	r.object(n, map[string]field{"func": r.text(&name)})
	f, ok := known[name]
	if !ok {
		r.fail(n, "there is no function %q %s", name, what)
	}
	return f
}

// writes reads whether the vendor reports anything at all.
func (r *kindReader) writes(n *yaml.Node) {
	writes := true
	r.flag(&writes)(n)
	r.kind.Status.Silent = !writes
}

// labels reads the function that completes labels.
func (r *kindReader) labels(n *yaml.Node) {
	r.kind.Labels = named(r.reader, n, r.funcs.Labels, "to complete labels")
}

// parts reads the sets of settings that a policy of the kind has.
func (r *kindReader) parts(n *yaml.Node) {
	r.kind.Parts = nil
	r.list(n, func(e *yaml.Node) {
		var p Part
		r.object(e, map[string]field{"name": r.text(&p.Name), "each": r.path(&p.Each), "at": r.path(&p.At), "settings": r.path(&p.Settings), "unless": r.path(&p.Unless), "as": r.text(&p.As),
			"unlessSetting": func(n *yaml.Node) {
				r.object(n, map[string]field{"setting": r.text(&p.Not[0]), "is": func(n *yaml.Node) { p.Not[1] = n.Value }})
			},
			"refs":      nil,
			"normalize": func(n *yaml.Node) { p.Normalize = named(r.reader, n, r.funcs.Typed, "to normalize settings") }})
		if p.Name == "" || (p.Each == nil) == (p.At == nil) {
			r.fail(e, "a part needs \"name\", and \"each\" or \"at\"")
		}
		r.kind.Parts = append(r.kind.Parts, p)
	})
}

// scopes reads the families of paths of a kind that has several.
func (r *kindReader) scopes(n *yaml.Node) {
	r.kind.Scopes = nil
	r.list(n, func(e *yaml.Node) {
		var s Scope
		r.object(e, map[string]field{"name": r.text(&s.Name), "family": r.text(&s.Family), "effective": r.openRoles(&s.Effective), "parts": r.texts(&s.Parts),
			"legs":    func(n *yaml.Node) { r.list(n, func(e *yaml.Node) { s.Legs = append(s.Legs, r.leg(e)) }) },
			"compare": func(n *yaml.Node) { s.Compare = r.keys(n) },
			"fold":    func(n *yaml.Node) { s.Fold = named(r.reader, n, r.funcs.Folds, "to fold a scope") },
			"split":   func(n *yaml.Node) { s.Split = named(r.reader, n, r.funcs.Splits, "to split results") },
			"result":  r.word(&s.Result, resultWords()), "resolve": nil})
		if s.Name == "" || s.Effective == nil || len(s.Legs) == 0 || len(s.Legs) > 2 || s.Parts == nil || s.Fold == nil {
			r.fail(e, "a scope needs \"name\", \"effective\", \"parts\", \"fold\", and one or two \"legs\"")
		}
		r.kind.Scopes = append(r.kind.Scopes, s)
	})
}

// keys reads a comparator that is not the kind's.
func (r *kindReader) keys(n *yaml.Node) []Key {
	own := r.kind.Compare
	r.compare(n)
	out := r.kind.Compare
	r.kind.Compare = own
	return out
}

func (r *kindReader) leg(n *yaml.Node) Leg {
	l := Leg{}
	of := "policy"
	r.object(n, map[string]field{"name": r.text(&l.Name), "roles": r.openRoles(&l.Roles), "of": r.word(&of, []string{"policy", "part"}),
		"find": func(n *yaml.Node) { l.Find = named(r.reader, n, r.funcs.Legs, "to find the nodes of a leg") }})
	l.Shared = of == "policy"
	if l.Find == nil { // what the references find is the policy's
		l.Shared = true
	}
	return l
}

// openRoles reads roles, which may be those of linkers.
func (r *kindReader) openRoles(into *[]topology.Role) field {
	return func(n *yaml.Node) {
		var words []string
		r.texts(&words)(n)
		for _, w := range words {
			*into = append(*into, topology.Role(w))
		}
	}
}

// settle leaves out of the scopes what the kind has no parts for.
func (k *Kind) settleScopes() {
	if k.Scopes == nil {
		return
	}
	k.Scopes = slices.DeleteFunc(slices.Clone(k.Scopes), func(s Scope) bool {
		return !slices.ContainsFunc(s.Parts, func(name string) bool {
			return slices.ContainsFunc(k.Parts, func(p Part) bool { return p.Name == name })
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
