package source

import (
	"cmp"
	"errors"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/explain"
)

// NamedPolicy is a policy, and a rule of it, as the command line named them.
type NamedPolicy struct {
	Kind   *resolve.Kind
	Policy *policy.Policy
	Rule   string // full printed name; "" for the whole policy
}

// policySearch is what was found of a policy that was typed.
type policySearch struct {
	name, rule string
	found      []NamedPolicy
	names      []string    // of the policies that could have been meant
	elsewhere  []model.Ref // those of the name in other namespaces
}

// FindPolicy finds [KIND/]NAME[/RULE]; the first segment is a kind only if it names a known policy
// kind.
func (s *Session) FindPolicy(text string) (NamedPolicy, error) {
	search, err := s.searchPolicy(text)
	if err != nil {
		return NamedPolicy{}, err
	}
	if len(search.found) != 1 {
		return NamedPolicy{}, s.explainPolicySearch(text, search)
	}
	out := search.found[0]
	if search.rule != "" {
		if out.Rule, err = PickRule(s.ListRules(out), search.rule, out.Policy.Ref().String()); err != nil {
			return out, err
		}
	}
	return out, nil
}

// searchPolicy looks for a policy, and for what else may be meant.
func (s *Session) searchPolicy(text string) (policySearch, error) {
	parts := strings.SplitN(text, "/", 3)
	var only []*resolve.Kind
	if len(parts) > 1 {
		if only = s.FindPolicyKinds(parts[0]); only != nil {
			parts = parts[1:]
		}
	}
	if len(parts) > 2 {
		if err := s.targetForPolicy(text); err != nil {
			return policySearch{}, err
		}
		return policySearch{}, s.UnknownPolicyKind(parts[0])
	}
	narrowed, err := s.SelectedKinds()
	if err != nil {
		return policySearch{}, err
	}
	out := policySearch{name: parts[0]}
	if len(parts) == 2 {
		out.rule = parts[1]
	}
	for _, k := range s.Kinds {
		if k.IsLaterScope() || narrowed != nil && !slices.Contains(narrowed, k.GroupKind) {
			continue
		}
		for _, p := range k.Policies {
			if only != nil && !ContainsKind(only, p.Kind.GroupKind) {
				continue
			}
			if !s.IsInNamespace(p.Ref()) {
				if p.Ref().Name == out.name {
					out.elsewhere = append(out.elsewhere, p.Ref())
				}
				continue
			}
			out.names = append(out.names, p.Ref().Name)
			if p.Ref().Name == out.name {
				out.found = append(out.found, NamedPolicy{Kind: k, Policy: p})
			}
		}
	}
	return out, nil
}

// policyRefs returns the policies that were found.
func (f *policySearch) policyRefs() []model.Ref {
	var out []model.Ref
	for _, n := range f.found {
		out = append(out, n.Policy.Ref())
	}
	return out
}

func (s *Session) explainPolicySearch(text string, f policySearch) error {
	if len(f.found) > 1 {
		return failure.Usage("name one of: "+FormatRefs(f.policyRefs()), "%q is ambiguous: %d policies have this name",
			f.name, len(f.found))
	}
	if err := s.CheckNamespace(); err != nil {
		var none *failure.NoAnswerError
		if errors.As(err, &none) && len(f.elsewhere) > 0 {
			return failure.NoAnswer(none.What, "there is "+FormatRefs(f.elsewhere))
		}
		return err
	}
	if len(f.elsewhere) == 0 {
		if err := s.targetForPolicy(text); err != nil {
			return err
		}
	}
	hint := ""
	switch near := form.Nearest(f.name, f.names); {
	case len(f.elsewhere) > 0:
		hint = "there is " + FormatRefs(f.elsewhere)
	case len(near) > 0:
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	case len(f.names) > 0:
		hint = "there are: " + strings.Join(LimitNames(f.names), ", ")
	}
	return s.NotFoundError(cmp.Or(s.hintRefused(f.name), hint), "no policy %q %s", f.name, s.DescribeScope())
}

// ListRules returns the rules of a policy as they are printed, sorted, each once. What a kind with
// scopes calls them shows where they hold.
func (s *Session) ListRules(n NamedPolicy) []string {
	var names []string
	for _, part := range n.Kind.AllParts(n.Policy) {
		for _, b := range part.Blocks {
			for _, u := range merge.Recut(b.Units, n.Kind.Rules) {
				names = append(names, u.Path.String())
			}
		}
	}
	if n.Kind.Scopes != nil {
		if given := explain.RuleNamesOf(s.Resolution, n.Kind, n.Policy); given != nil {
			names = append(slices.DeleteFunc(names,
				func(name string) bool { return name == merge.Path(nil).String() }), given...)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// PickRule finds the one name that is text or ends in it.
func PickRule(names []string, text, where string) (string, error) {
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
		return "", failure.Usage("name one of: "+strings.Join(LimitNames(found), ", "), "rule %q of %s is ambiguous",
			text, where)
	}
	hint := "it has no rules"
	var last []string
	for _, name := range names {
		last = append(last, name[strings.LastIndex(name, ".")+1:])
	}
	if near := form.Nearest(text, append(last, names...)); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	} else if len(names) > 0 {
		hint = "it has: " + strings.Join(LimitNames(names), ", ")
	}
	return "", failure.Usage(hint, "%s has no rule %q", where, text)
}
