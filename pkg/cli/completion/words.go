package completion

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ProposeTargets completes [KIND/]NAME[/SECTION]: kinds and routes; behind a kind its objects;
// behind an object its sections.
func ProposeTargets(s *source.Session, typed string) []string {
	head, rest, deep := strings.Cut(typed, "/")
	if !deep {
		return append(proposeTargetKinds(s), ProposeNames(s, model.GroupKind{}, typed)...)
	}
	if gk, known := s.FindKind(head); known {
		return source.PrefixWords(head+"/", ProposeNames(s, gk, rest))
	}
	return ProposeNames(s, model.GroupKind{}, typed)
}

// proposeTargetKinds returns the kinds of the targets in the input, each with a slash.
func proposeTargetKinds(s *source.Session) []string {
	seen := map[model.GroupKind]bool{}
	var out []string
	for id := range s.Graph.Len() {
		n := s.Graph.Node(topology.NodeID(id))
		if gk := n.Ref.GroupKind(); n.Ref.Section == "" && !seen[gk] && s.IsInNamespace(n.Ref) {
			seen[gk] = true
			out = append(out, strings.ToLower(gk.Kind)+"/")
		}
	}
	return out
}

// ProposeNames completes [NAMESPACE/]NAME[/SECTION] of a kind, or of any route.
func ProposeNames(s *source.Session, kind model.GroupKind, typed string) []string {
	name, rest, deep := strings.Cut(typed, "/")
	var out []string
	if deep {
		section, _, _ := strings.Cut(rest, "/")
		for _, ref := range s.ListCandidates(source.NewTargetName(kind, name)) {
			switch {
			case strings.Contains(rest, "/") && ref.Name == section:
				out = append(out, source.PrefixWords(ref.FullName()+"/", s.Graph.Sections(ref))...)
			case ref.Namespace == name && len(s.Graph.Lookup(ref)) > 0:
				out = append(out, ref.FullName())
			}
		}
	}
	for _, ref := range s.ListCandidates(source.NewTargetName(kind, "")) {
		switch {
		case deep && ref.Name == name:
			out = append(out, source.PrefixWords(name+"/", s.Graph.Sections(ref))...)
		case !deep && len(s.Graph.Lookup(ref)) > 0:
			out = append(out, ref.Name)
		}
	}
	return out
}

// ProposeTargetArguments completes [KIND/]NAME[/SECTION]… or KIND NAME….
func ProposeTargetArguments(s *source.Session, args []string, typed string) []string {
	if len(args) > 0 {
		if gk, known := s.FindKind(args[0]); known {
			return ProposeNames(s, gk, typed)
		}
	}
	return ProposeTargets(s, typed)
}

// ProposePolicies completes [KIND/]NAME: kinds and policies; behind a kind its policies.
func ProposePolicies(s *source.Session, typed string) []string {
	only, prefix := splitPolicyKind(s, typed)
	narrowed, err := s.SelectedKinds()
	if err != nil {
		return nil
	}
	var out []string
	for _, k := range s.Kinds {
		if k.IsLaterScope() || narrowed != nil && !slices.Contains(narrowed, k.GroupKind) {
			continue
		}
		for _, p := range k.Policies {
			if !s.IsInNamespace(p.Ref()) || only != nil && !source.ContainsKind(only, p.Kind.GroupKind) {
				continue
			}
			out = append(out, prefix+p.Ref().Name)
			if only == nil {
				out = append(out, strings.ToLower(p.Ref().Kind)+"/")
			}
		}
	}
	return out
}

// ProposePolicyRules completes [KIND/]NAME[/RULE].
func ProposePolicyRules(s *source.Session, typed string) []string {
	_, prefix := splitPolicyKind(s, typed)
	name, rule, deep := strings.Cut(typed[len(prefix):], "/")
	if !deep {
		return ProposePolicies(s, typed)
	}
	named, err := s.FindPolicy(prefix + name)
	if err != nil {
		return nil
	}
	return source.PrefixWords(prefix+name+"/", ProposeRules(s.ListRules(named), rule))
}

// splitPolicyKind returns the policy kinds whose name typed begins with, and the prefix with the
// slash; nil and "" if there are none.
func splitPolicyKind(s *source.Session, typed string) ([]*resolve.Kind, string) {
	if head, _, deep := strings.Cut(typed, "/"); deep {
		if k := s.FindPolicyKinds(head); k != nil {
			return k, head + "/"
		}
	}
	return nil, ""
}

// ProposeRules returns the rules in full or, where none begins with what is typed, their
// unambiguous endings.
func ProposeRules(names []string, typed string) []string {
	if slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, typed) }) {
		return names
	}
	var out []string
	for _, name := range names {
		for i, r := range name {
			if r != '.' {
				continue
			}
			if _, err := source.PickRule(names, name[i+1:], ""); err == nil {
				out = append(out, name[i+1:])
			}
		}
	}
	return out
}

// ProposeGateways returns the Gateways of the input, with their namespaces.
func ProposeGateways(s *source.Session, _ string) []string {
	var out []string
	for _, o := range s.Snapshot.OfKind(model.GroupKind{Group: source.GatewayGroup, Kind: "Gateway"}) {
		out = append(out, o.Ref.FullName())
	}
	return out
}
