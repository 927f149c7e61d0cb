package cli

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// findTargets returns the nodes that the arguments, or without any the namespace and the selector,
// select; nil stands for all.
func (s *session) findTargets(args []string, sel labelSelector) ([]topology.NodeID, model.Ref, error) {
	if len(args) > 0 {
		return s.findNamedTargets(args)
	}
	if sel.isEmpty() && (s.flags.allNamespaces || s.flags.namespace == "") {
		return nil, model.Ref{}, nil
	}
	out := s.findObjectNodes(func(o *model.Object) bool { return s.isInNamespace(o.Ref) && sel.matchesObject(o) })
	if sel.isEmpty() {
		out = append(out, s.findClusterNodes()...)
	}
	return out, model.Ref{}, nil
}

// findNamedTargets returns the nodes of the targets that the arguments name: TARGET…, or KIND
// NAME…. The reference is that of a single one.
func (s *session) findNamedTargets(args []string) ([]topology.NodeID, model.Ref, error) {
	texts := args
	if first := args[0]; len(args) > 1 && !strings.Contains(first, "/") {
		_, known := s.findKind(first)
		switch {
		case known || s.findPolicyKinds(first) != nil:
			texts = prefixWords(first+"/", args[1:])
		case !s.hasRoute(first) && len(form.Nearest(first, listKindWords())) > 0:
			return nil, model.Ref{}, unknownKindError(first)
		}
	}
	var all []topology.NodeID
	var last model.Ref
	for _, text := range texts {
		ref, ids, err := s.findTarget([]string{text})
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
func (s *session) findClusterNodes() []topology.NodeID {
	var out []topology.NodeID
	for _, k := range s.Kinds {
		if !k.HasResultsAt(topology.Cluster) {
			continue
		}
		for _, p := range k.Policies {
			if s.isInNamespace(p.Ref()) {
				out = append(out, k.TargetsOf(p)...)
			}
		}
	}
	return out
}

// findObjectNodes returns the nodes of the namespaced objects that fit; never nil.
func (s *session) findObjectNodes(fits func(*model.Object) bool) []topology.NodeID {
	out := []topology.NodeID{}
	for id := range s.Graph.Len() {
		n := s.Graph.Node(topology.NodeID(id))
		if n.Object != nil && n.Ref.Section == "" && n.Ref.Namespace != "" && fits(n.Object) {
			out = append(out, topology.NodeID(id))
		}
	}
	return out
}

// filterAboveRoutes returns those of the targets through which traffic comes to route rules:
// classes, gateways, listener sets, listeners.
func (s *session) filterAboveRoutes(ids []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range ids {
		switch s.Node(id).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener:
			out = append(out, id)
		}
	}
	return out
}
