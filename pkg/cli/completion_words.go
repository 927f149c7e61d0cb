package cli

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// proposeTargets completes [KIND/]NAME[/SECTION]: kinds and routes; behind a kind its objects;
// behind an object its sections.
func proposeTargets(s *session, typed string) []string {
	head, rest, deep := strings.Cut(typed, "/")
	if !deep {
		return append(proposeTargetKinds(s), proposeNames(s, model.GroupKind{}, typed)...)
	}
	if gk, known := s.findKind(head); known {
		return prefixWords(head+"/", proposeNames(s, gk, rest))
	}
	return proposeNames(s, model.GroupKind{}, typed)
}

// proposeTargetKinds returns the kinds of the targets in the input, each with a slash.
func proposeTargetKinds(s *session) []string {
	seen := map[model.GroupKind]bool{}
	var out []string
	for id := range s.Graph.Len() {
		n := s.Graph.Node(topology.NodeID(id))
		if gk := n.Ref.GroupKind(); n.Ref.Section == "" && !seen[gk] && s.isInNamespace(n.Ref) {
			seen[gk] = true
			out = append(out, strings.ToLower(gk.Kind)+"/")
		}
	}
	return out
}

// proposeNames completes NAME[/SECTION] of a kind, or of any route.
func proposeNames(s *session, kind model.GroupKind, typed string) []string {
	name, _, deep := strings.Cut(typed, "/")
	var out []string
	for _, ref := range s.listCandidates(targetName{kind: kind}) {
		switch {
		case deep && ref.Name == name:
			out = append(out, prefixWords(name+"/", s.Graph.Sections(ref))...)
		case !deep && len(s.Graph.Lookup(ref)) > 0:
			out = append(out, ref.Name)
		}
	}
	return out
}

// proposeTargetArguments completes [KIND/]NAME[/SECTION]… or KIND NAME….
func proposeTargetArguments(s *session, args []string, typed string) []string {
	if len(args) > 0 {
		if gk, known := s.findKind(args[0]); known {
			return proposeNames(s, gk, typed)
		}
	}
	return proposeTargets(s, typed)
}

// proposePolicies completes [KIND/]NAME: kinds and policies; behind a kind its policies.
func proposePolicies(s *session, typed string) []string {
	only, prefix := splitPolicyKind(s, typed)
	narrowed, err := s.selectedKinds()
	if err != nil {
		return nil
	}
	var out []string
	for _, k := range s.Kinds {
		if k.IsLaterScope() || narrowed != nil && !slices.Contains(narrowed, k.GroupKind) {
			continue
		}
		for _, p := range k.Policies {
			if !s.isInNamespace(p.Ref()) || only != nil && !containsKind(only, p.Kind.GroupKind) {
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

// proposePolicyRules completes [KIND/]NAME[/RULE].
func proposePolicyRules(s *session, typed string) []string {
	_, prefix := splitPolicyKind(s, typed)
	name, rule, deep := strings.Cut(typed[len(prefix):], "/")
	if !deep {
		return proposePolicies(s, typed)
	}
	named, err := s.findPolicy(prefix + name)
	if err != nil {
		return nil
	}
	return prefixWords(prefix+name+"/", proposeRules(s.listRules(named), rule))
}

// splitPolicyKind returns the policy kinds whose name typed begins with, and the prefix with the
// slash; nil and "" if there are none.
func splitPolicyKind(s *session, typed string) ([]*resolve.Kind, string) {
	if head, _, deep := strings.Cut(typed, "/"); deep {
		if k := s.findPolicyKinds(head); k != nil {
			return k, head + "/"
		}
	}
	return nil, ""
}

// proposeRules returns the rules in full or, where none begins with what is typed, their
// unambiguous endings.
func proposeRules(names []string, typed string) []string {
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

// proposeGateways returns the Gateways of the input, with their namespaces.
func proposeGateways(s *session, _ string) []string {
	var out []string
	for _, o := range s.Snapshot.OfKind(model.GroupKind{Group: gatewayGroup, Kind: "Gateway"}) {
		out = append(out, o.Ref.FullName())
	}
	return out
}
