package cli

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// namedPolicy is a policy, and a rule of it, as the command line named them.
type namedPolicy struct {
	kind   *resolve.Kind
	policy *policy.Policy
	rule   string // full printed name; "" for the whole policy
}

// policy finds [KIND/]NAME[/RULE]; the first segment is a kind only if it names a known policy kind.
func (s *session) policy(text string) (namedPolicy, error) {
	parts := strings.SplitN(text, "/", 3)
	var only []*resolve.Kind
	if len(parts) > 1 {
		if only = s.policyKind(parts[0]); only != nil {
			parts = parts[1:]
		}
	}
	if len(parts) > 2 {
		return namedPolicy{}, s.unknownPolicyKind(parts[0])
	}
	narrowed, err := s.kinds()
	if err != nil {
		return namedPolicy{}, err
	}
	var found []namedPolicy
	var names []string
	var elsewhere []model.Ref
	for _, k := range s.Kinds {
		if k.Again() || narrowed != nil && !slices.Contains(narrowed, k.GroupKind) {
			continue
		}
		for _, p := range k.Policies {
			if only != nil && !among(only, p.Kind.GroupKind) {
				continue
			}
			if !s.inNamespace(p.Ref()) {
				if p.Ref().Name == parts[0] {
					elsewhere = append(elsewhere, p.Ref())
				}
				continue
			}
			names = append(names, p.Ref().Name)
			if p.Ref().Name == parts[0] {
				found = append(found, namedPolicy{kind: k, policy: p})
			}
		}
	}
	if len(found) != 1 {
		return namedPolicy{}, s.policyNotOne(parts[0], found, names, elsewhere)
	}
	out := found[0]
	if len(parts) == 2 {
		var err error
		if out.rule, err = s.fullRule(out, parts[1]); err != nil {
			return out, err
		}
	}
	return out, nil
}

func (s *session) policyNotOne(name string, found []namedPolicy, names []string, elsewhere []model.Ref) error {
	if len(found) > 1 {
		var refs []model.Ref
		for _, f := range found {
			refs = append(refs, f.policy.Ref())
		}
		return usage("name one of: "+refList(refs), "%q is ambiguous: %d policies have this name", name, len(found))
	}
	hint := ""
	switch near := form.Nearest(name, names); {
	case len(elsewhere) > 0:
		hint = "there is " + refList(elsewhere)
	case len(near) > 0:
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	case len(names) > 0:
		hint = "there are: " + strings.Join(firstFew(names), ", ")
	}
	return s.missed(hint, "no policy %q %s", name, s.where())
}

// fullRule completes a rule's name from an unambiguous suffix.
func (s *session) fullRule(n namedPolicy, text string) (string, error) {
	return pickRule(s.ruleNames(n), text, n.policy.Ref().String())
}

// ruleNames are the rules of a policy as they are printed, sorted, each once. What a kind with scopes calls them shows where they hold.
func (s *session) ruleNames(n namedPolicy) []string {
	var names []string
	for _, part := range n.kind.AllParts(n.policy) {
		for _, b := range part.Blocks {
			for _, u := range merge.Recut(b.Units, n.kind.Rules) {
				names = append(names, u.Path.String())
			}
		}
	}
	if n.kind.Scopes != nil {
		if given := view.RuleNamesOf(s.Resolution, n.kind, n.policy); given != nil {
			names = append(slices.DeleteFunc(names, func(name string) bool { return name == merge.Path(nil).String() }), given...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// pickRule finds the one name that is text or ends in it.
func pickRule(names []string, text, where string) (string, error) {
	if slices.Contains(names, text) {
		return text, nil
	}
	var found []string
	for _, name := range names {
		if strings.HasSuffix(name, "."+text) || strings.HasSuffix(name, "["+text+"]") {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", usage("name one of: "+strings.Join(firstFew(found), ", "), "rule %q of %s is ambiguous", text, where)
	}
	hint := "it has no rules"
	var last []string
	for _, name := range names {
		last = append(last, name[strings.LastIndex(name, ".")+1:])
	}
	if near := form.Nearest(text, append(last, names...)); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	} else if len(names) > 0 {
		hint = "it has: " + strings.Join(firstFew(names), ", ")
	}
	return "", usage(hint, "%s has no rule %q", where, text)
}
