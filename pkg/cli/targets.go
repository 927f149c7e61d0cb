package cli

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// targets are the nodes that the arguments, or without any the namespace and the selector, ask for; nil stands for all.
func (s *session) targets(args []string, sel selector) ([]topology.NodeID, model.Ref, error) {
	if len(args) > 0 {
		return s.named(args)
	}
	if sel.empty() && (s.flags.allNamespaces || s.flags.namespace == "") {
		return nil, model.Ref{}, nil
	}
	out := s.objects(func(o *model.Object) bool { return s.inNamespace(o.Ref) && sel.matches(o) })
	if sel.empty() {
		out = append(out, s.clusters()...)
	}
	return out, model.Ref{}, nil
}

// named are the nodes of the targets that the arguments name: TARGET…, or KIND NAME…. The reference is that of a single one.
func (s *session) named(args []string) ([]topology.NodeID, model.Ref, error) {
	texts := args
	if first := args[0]; len(args) > 1 && !strings.Contains(first, "/") {
		_, known := s.findKind(first)
		switch {
		case known || s.policyKind(first) != nil:
			texts = prefixed(first+"/", args[1:])
		case !s.isRoute(first) && len(form.Nearest(first, kindWords())) > 0:
			return nil, model.Ref{}, unknownKind(first)
		}
	}
	var all []topology.NodeID
	var last model.Ref
	for _, text := range texts {
		ref, ids, err := s.target([]string{text})
		if err != nil {
			return nil, ref, err
		}
		all, last = append(all, ids...), ref
		if s.Node(ids[0]).Role == topology.Namespace {
			all = append(all, s.objects(func(o *model.Object) bool { return o.Ref.Namespace == ref.Name })...)
		}
	}
	if len(texts) > 1 {
		last = model.Ref{}
	}
	return all, last, nil
}

// clusters are the nodes of whole clusters to which policies of the namespace come: these have no namespace themselves.
func (s *session) clusters() []topology.NodeID {
	var out []topology.NodeID
	for _, k := range s.Kinds {
		if !k.Reaches(topology.Cluster) {
			continue
		}
		for _, p := range k.Policies {
			if s.inNamespace(p.Ref()) {
				out = append(out, k.TargetsOf(p)...)
			}
		}
	}
	return out
}

// objects are the nodes of the namespaced objects that fit; never nil.
func (s *session) objects(fits func(*model.Object) bool) []topology.NodeID {
	out := []topology.NodeID{}
	for id := range s.Graph.Len() {
		n := s.Graph.Node(topology.NodeID(id))
		if n.Object != nil && n.Ref.Section == "" && n.Ref.Namespace != "" && fits(n.Object) {
			out = append(out, topology.NodeID(id))
		}
	}
	return out
}

// aboveRoutes are those of the targets through which traffic comes to route rules: classes, gateways, listener sets, listeners.
func (s *session) aboveRoutes(ids []topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, id := range ids {
		switch s.Node(id).Role {
		case topology.GatewayClass, topology.Gateway, topology.ListenerSet, topology.Listener:
			out = append(out, id)
		}
	}
	return out
}
