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

// NamedPolicy is a policy, and a setting of it, as the command line named them.
type NamedPolicy struct {
	Kind   *resolve.Kind
	Policy *policy.Policy
	Rule   string // full printed name of the setting; "" for the whole policy
}

// policySearch is what was found of a policy that was typed.
type policySearch struct {
	kinds     []*resolve.Kind // that the text begins with; nil: any
	readings  []objectName    // of what follows the kind
	found     []NamedPolicy   // Rule is what was typed
	names     []string        // of the policies that could have been meant
	elsewhere []model.Ref     // those of the name in other namespaces
}

// FindPolicy finds [KIND/][NAMESPACE/]NAME[/SETTING]; the first word is a kind only if it names a
// known policy kind.
func (s *Session) FindPolicy(text string) (NamedPolicy, error) {
	search, err := s.searchPolicy(text)
	if err != nil {
		return NamedPolicy{}, err
	}
	found, err := s.pickSettings(search.found)
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) == 0 && len(search.found) == 1:
		return NamedPolicy{}, err
	}
	return NamedPolicy{}, s.explainPolicySearch(text, search)
}

// pickSettings returns those of the policies that have the settings that were typed, and the error of
// the first that does not.
func (s *Session) pickSettings(named []NamedPolicy) (found []NamedPolicy, err error) {
	for _, n := range named {
		var problem error
		if n.Rule != "" {
			n.Rule, problem = PickRule(s.ListRules(n), n.Rule, n.Policy.Ref().String())
		}
		if problem == nil {
			found = append(found, n)
		} else if err == nil {
			err = problem
		}
	}
	return found, err
}

// searchPolicy looks for a policy, and for what else may be meant.
func (s *Session) searchPolicy(text string) (policySearch, error) {
	words := strings.Split(text, "/")
	var out policySearch
	if len(words) > 1 {
		if out.kinds = s.FindPolicyKinds(words[0]); out.kinds != nil {
			words = words[1:]
		}
	}
	if out.readings = listReadings(words); out.readings == nil {
		return out, failure.Usage("write [KIND/][NAMESPACE/]NAME[/SETTING], for example authpolicy/infra/gw-auth",
			"%q is not a policy", text)
	}
	narrowed, err := s.SelectedKinds()
	if err != nil {
		return out, err
	}
	for _, k := range s.Kinds {
		if k.IsLaterScope() || narrowed != nil && !slices.Contains(narrowed, k.GroupKind) {
			continue
		}
		for _, p := range k.Policies {
			if out.kinds == nil || ContainsKind(out.kinds, p.Kind.GroupKind) {
				out.addPolicy(k, p, s.Flags)
			}
		}
	}
	return out, nil
}

// addPolicy notes a policy that may be meant, or whose name is near.
func (f *policySearch) addPolicy(k *resolve.Kind, p *policy.Policy, flags *Flags) {
	ref := p.Ref()
	for _, n := range f.readings {
		switch {
		case n.isNameOf(ref, flags):
			f.found = append(f.found, NamedPolicy{Kind: k, Policy: p, Rule: n.section})
		case ref.Name == n.name && n.namespace == "":
			f.elsewhere = append(f.elsewhere, ref)
		case n.isInNamespace(ref.Namespace, flags):
			f.names = append(f.names, ref.Name)
		}
	}
}

// policyRefs returns the policies that were found.
func (f *policySearch) policyRefs() []model.Ref {
	var out []model.Ref
	for _, n := range f.found {
		out = append(out, n.Policy.Ref().WithSection(n.Rule))
	}
	return out
}

// explainPolicySearch is the error for a text that names no policy, or several.
func (s *Session) explainPolicySearch(text string, f policySearch) error {
	if len(f.found) > 1 {
		return failure.Usage("name one of: "+FormatRefs(f.policyRefs()), "%q is ambiguous: %d policies have this name",
			text, len(f.found))
	}
	w, where := f.readings[0], s.DescribeScope()
	for _, r := range f.readings {
		if r.namespace != "" && slices.Contains(ListNamespaces(s, nil, ""), r.namespace) {
			w, where = r, "in namespace "+r.namespace
		}
	}
	if w.namespace == "" {
		if err := s.CheckNamespace(); err != nil {
			var none *failure.NoAnswerError
			if errors.As(err, &none) && len(f.elsewhere) > 0 {
				return failure.NoAnswer(none.What, "there is "+FormatRefs(f.elsewhere))
			}
			return err
		}
	}
	if len(f.elsewhere) == 0 {
		if err := s.targetForPolicy(text); err != nil {
			return err
		}
	}
	if len(f.readings) > 1 && f.kinds == nil && w.namespace == "" && len(f.elsewhere) == 0 &&
		strings.Contains(w.section, "/") {
		return s.UnknownPolicyKind(w.name)
	}
	hint := ""
	slices.Sort(f.names)
	f.names = slices.Compact(f.names)
	switch near := form.Nearest(w.name, f.names); {
	case len(f.elsewhere) > 0:
		hint = "there is " + FormatRefs(f.elsewhere)
	case len(near) > 0:
		hint = "did you mean " + strings.Join(near, " or ") + "?"
	case len(f.names) > 0:
		hint = "there are: " + strings.Join(LimitNames(f.names), ", ")
	}
	return s.NotFoundError(cmp.Or(s.hintRefused(w.name), hint), "no policy %q %s", w.name, where)
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
		head, tail, cut := strings.Cut(text, "…") // as tables print it that have no room
		if strings.HasSuffix(name, "."+text) || strings.HasSuffix(name, "["+text+"]") ||
			cut && strings.HasPrefix(name, head) && strings.HasSuffix(name, "."+tail) {
			found = append(found, name)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		return "", failure.Usage("name one of: "+strings.Join(LimitNames(found), ", "), "setting %q of %s is ambiguous",
			text, where)
	}
	hint := "it has no settings"
	var last []string
	for _, name := range names {
		last = append(last, name[strings.LastIndex(name, ".")+1:])
	}
	if near := form.Nearest(text, append(last, names...)); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	} else if len(names) > 0 {
		hint = "it has: " + strings.Join(LimitNames(names), ", ")
	}
	return "", failure.Usage(hint, "%s has no setting %q", where, text)
}
