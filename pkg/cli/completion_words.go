package cli

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// targetWords complete [KIND/]NAME[/SECTION]: kinds and routes; behind a kind its objects; behind an object its sections.
func targetWords(s *session, typed string) []string {
	head, rest, deep := strings.Cut(typed, "/")
	if !deep {
		return append(targetKindWords(s), nameWords(s, model.GroupKind{}, typed)...)
	}
	if gk, known := s.findKind(head); known {
		return prefixed(head+"/", nameWords(s, gk, rest))
	}
	return nameWords(s, model.GroupKind{}, typed)
}

// targetKindWords are the kinds of the targets in the input, to be continued.
func targetKindWords(s *session) []string {
	seen := map[model.GroupKind]bool{}
	var out []string
	for id := range s.Graph.Len() {
		n := s.Graph.Node(topology.NodeID(id))
		if gk := n.Ref.GroupKind(); n.Ref.Section == "" && !seen[gk] && s.inNamespace(n.Ref) {
			seen[gk] = true
			out = append(out, strings.ToLower(gk.Kind)+"/")
		}
	}
	return out
}

// nameWords complete NAME[/SECTION] of a kind, or of any route.
func nameWords(s *session, kind model.GroupKind, typed string) []string {
	name, _, deep := strings.Cut(typed, "/")
	var out []string
	for _, ref := range s.candidates(wanted{kind: kind}) {
		switch {
		case deep && ref.Name == name:
			out = append(out, prefixed(name+"/", s.Graph.Sections(ref))...)
		case !deep && len(s.Graph.Lookup(ref)) > 0:
			out = append(out, ref.Name)
		}
	}
	return out
}

// targetArguments complete [KIND/]NAME[/SECTION]… or KIND NAME….
func targetArguments(s *session, args []string, typed string) []string {
	if len(args) > 0 {
		if gk, known := s.findKind(args[0]); known {
			return nameWords(s, gk, typed)
		}
	}
	return targetWords(s, typed)
}

// explainArguments complete targets and, behind them, a rule.
func (q *question) explainArguments(s *session, args []string, typed string) []string {
	if len(args) == 0 {
		return targetWords(s, typed)
	}
	if gk, kind := s.findKind(args[0]); kind && len(args) == 1 {
		return nameWords(s, gk, typed)
	}
	query, _, err := q.query(s, args)
	if err != nil { // the last one is a rule
		return nil
	}
	return ruleWords(view.RuleNames(s.Resolution, query), typed)
}

// policyWords complete [KIND/]NAME: kinds and policies; behind a kind its policies.
func policyWords(s *session, typed string) []string {
	only, prefix := policyPrefix(s, typed)
	narrowed, err := s.kinds()
	if err != nil {
		return nil
	}
	var out []string
	for _, k := range s.Kinds {
		if k.Again() || narrowed != nil && !slices.Contains(narrowed, k.GroupKind) {
			continue
		}
		for _, p := range k.Policies {
			if !s.inNamespace(p.Ref()) || only != nil && !among(only, p.Kind.GroupKind) {
				continue
			}
			out = append(out, prefix+p.Ref().Name)
			if only == nil {
				out = append(out, lowerKind(p.Ref())+"/")
			}
		}
	}
	return out
}

// policyRuleWords complete [KIND/]NAME[/RULE].
func policyRuleWords(s *session, typed string) []string {
	_, prefix := policyPrefix(s, typed)
	name, rule, deep := strings.Cut(typed[len(prefix):], "/")
	if !deep {
		return policyWords(s, typed)
	}
	named, err := s.policy(prefix + name)
	if err != nil {
		return nil
	}
	return prefixed(prefix+name+"/", ruleWords(s.ruleNames(named), rule))
}

// policyPrefix is the policy kinds whose name typed begins with, and how it is spelled there; nil and "" if there are none.
func policyPrefix(s *session, typed string) ([]*resolve.Kind, string) {
	if head, _, deep := strings.Cut(typed, "/"); deep {
		if k := s.policyKind(head); k != nil {
			return k, head + "/"
		}
	}
	return nil, ""
}

// ruleWords are the rules in full or, where none begins with what is typed, their unambiguous endings.
func ruleWords(names []string, typed string) []string {
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, typed) }) {
		return names
	}
	var out []string
	for _, name := range names {
		for i, r := range name {
			if r != '.' {
				continue
			}
			if _, err := pickRule(names, name[i+1:], ""); err == nil {
				out = append(out, name[i+1:])
			}
		}
	}
	return out
}

// gatewayWords are the Gateways of the input, with their namespaces.
func gatewayWords(s *session, _ string) []string {
	var out []string
	for _, o := range s.Snapshot.Of(model.GroupKind{Group: gatewayGroup, Kind: "Gateway"}) {
		out = append(out, o.Ref.FullName())
	}
	return out
}
