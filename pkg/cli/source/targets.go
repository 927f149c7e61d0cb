package source

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// FindTargets returns the nodes that the arguments, or without any the namespace and the selector,
// select; nil stands for all.
func (s *Session) FindTargets(args []string, sel LabelSelector) ([]topology.NodeID, model.Ref, error) {
	if len(args) > 0 {
		return s.findNamedTargets(args)
	}
	if sel.IsEmpty() && (s.Flags.AllNamespaces || s.Flags.Namespace == "") {
		return nil, model.Ref{}, nil
	}
	out := s.findObjectNodes(func(o *model.Object) bool { return s.IsInNamespace(o.Ref) && sel.MatchesObject(o) })
	if sel.IsEmpty() {
		out = append(out, s.findClusterNodes()...)
	}
	return out, model.Ref{}, nil
}

// findNamedTargets returns the nodes of the targets that the arguments name: TARGET…, or KIND
// [NAMESPACE/]NAME…. The reference is that of a single one.
func (s *Session) findNamedTargets(args []string) ([]topology.NodeID, model.Ref, error) {
	texts := args
	if first := args[0]; len(args) > 1 && !strings.Contains(first, "/") {
		_, known := s.FindKind(first)
		switch {
		case known || s.FindPolicyKinds(first) != nil:
			texts = PrefixWords(first+"/", args[1:])
		case !s.HasRoute(first) && len(form.Nearest(first, listKindWords())) > 0:
			return nil, model.Ref{}, unknownKindError(first)
		}
	}
	var all []topology.NodeID
	var last model.Ref
	for _, text := range texts {
		ref, ids, err := s.FindTarget(text)
		if err != nil {
			return nil, ref, err
		}
		all, last = append(all, ids...), ref
		if s.Node(ids[0]).Role == topology.Namespace {
			all = append(all, s.findObjectNodes(func(o *model.Object) bool { return o.Ref.Namespace == ref.Name })...)
		}
	}
	if len(texts) > 1 {
		last = model.Ref{}
	}
	return all, last, nil
}

// findClusterNodes returns the nodes of whole clusters that policies of the namespace target: these
// nodes have no namespace themselves.
func (s *Session) findClusterNodes() []topology.NodeID {
	var out []topology.NodeID
	for _, k := range s.Kinds {
		if !k.HasResultsAt(topology.Cluster) {
			continue
		}
		for _, p := range k.Policies {
			if s.IsInNamespace(p.Ref()) {
				out = append(out, k.TargetsOf(p)...)
			}
		}
	}
	return out
}

// findObjectNodes returns the nodes of the namespaced objects that fit; never nil.
func (s *Session) findObjectNodes(fits func(*model.Object) bool) []topology.NodeID {
	out := []topology.NodeID{}
	for id := range s.Graph.Len() {
		n := s.Graph.Node(topology.NodeID(id))
		if n.Object != nil && n.Ref.Section == "" && n.Ref.Namespace != "" && fits(n.Object) {
			out = append(out, topology.NodeID(id))
		}
	}
	return out
}

// FilterAboveRoutes returns those of the targets through which traffic comes to route rules:
// classes, gateways, listener sets, listeners.
func (s *Session) FilterAboveRoutes(ids []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range ids {
		switch s.Node(id).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener:
			out = append(out, id)
		}
	}
	return out
}

// PrefixWords puts the prefix before each word.
func PrefixWords(prefix string, words []string) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = prefix + w
	}
	return out
}

// HasRoute reports whether a route has the name.
func (s *Session) HasRoute(name string) bool {
	return slices.ContainsFunc(s.ListCandidates(TargetName{}), func(ref model.Ref) bool { return ref.Name == name })
}
