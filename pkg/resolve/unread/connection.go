package unread

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// ConnectionEnd is what policies may select of one end of a connection.
type ConnectionEnd struct {
	Node      topology.NodeID // of a workload; None: it has none
	Namespace string          // "": it is no Pod
	Labels    map[string]string
	Partial   bool // it may have other labels as well
}

// ConnectionPolicies lists the policies that judge connections between workloads, and are not
// evaluated.
func ConnectionPolicies(r *resolve.Resolution) []*Input {
	type key struct{}
	return resolve.Memoize(r, key{}, func() []*Input { return findConnectionPolicies(r) })
}

func findConnectionPolicies(r *resolve.Resolution) []*Input {
	read := map[model.GroupKind]bool{}
	for _, k := range r.Kinds {
		if k.AtPoints {
			for _, gk := range append([]model.GroupKind{k.GroupKind}, k.Members...) {
				read[gk] = true
			}
		}
	}
	var out []*Input
	for _, gk := range r.Snapshot.Kinds() {
		if read[gk] || r.Knowledge.IsKnown(gk) {
			continue
		}
		judges := r.Knowledge.JudgesConnections(gk)
		if !judges && (r.Kind(gk) != nil || isKubernetesGroup(gk.Group)) {
			continue
		}
		for _, o := range r.Snapshot.OfKind(gk) {
			if judges || isConnectionPolicy(o) {
				out = append(out, &Input{Object: o, origin: o.Origin, name: o.Ref.FullName(),
					message: fmt.Sprintf(
						"%s may affect the connection, but policies of kind %s are not evaluated for connections",
						o.Ref, gk),
					groupMessage: fmt.Sprintf(
						"policies of %s may affect the connection, but are not evaluated for connections", gk)})
			}
		}
	}
	return out
}

// MayJudge reports whether a policy about connections that is not evaluated may select one end: of
// a kind of policies whose workloads are known those in force there, of others those of its
// namespace, unless it is known to be about connections and selects other Pods. Policies of a described kind that
// selects otherwise may be in force anywhere.
func (s *Input) MayJudge(r *resolve.Resolution, end ConnectionEnd) bool {
	o, k := s.Object, r.Kind(s.Object.Ref.GroupKind())
	switch {
	case k != nil && k.HasResultsAtWorkloads():
		return end.Node != topology.None && slices.ContainsFunc(r.ScopesOf(k), func(scope *resolve.Kind) bool {
			return slices.ContainsFunc(scope.Contexts(end.Node), func(id resolve.StackID) bool {
				return slices.ContainsFunc(scope.Verdict(id).Layers,
					func(l resolve.Layer) bool { return l.Policy.Object == o })
			})
		})
	case k != nil && !k.IsGeneric():
		return true
	case o.Ref.Namespace != "" && o.Text("metadata", "namespace") != "" && o.Ref.Namespace != end.Namespace:
		return false // what a manifest gives no namespace may be of a kind that has none
	}
	return !r.Knowledge.JudgesConnections(o.Ref.GroupKind()) || maySelect(o, end)
}

// maySelect reports whether the selector of a policy, if it has just one that can be read, may pick
// Pods with the labels of an end.
func maySelect(o *model.Object, end ConnectionEnd) bool {
	var found []model.Body
	for key, value := range o.Body.Field("spec").Fields {
		if strings.HasSuffix(key, "Selector") && value.IsObject() {
			found = append(found, value)
		}
	}
	if len(found) != 1 {
		return true
	}
	plain, err := selector.ReadLabelSelector(found[0])
	if err != nil || slices.ContainsFunc(plain.Selector.Requirements, func(r selector.Requirement) bool {
		// labels that controllers add, or a prefix that says where they come from
		return strings.ContainsAny(r.Key, ":") || strings.Contains(r.Key, "io.")
	}) {
		return true
	}
	return plain.SelectsPartly(end.Labels, end.Partial) != selector.No
}

// Directions reports whether a policy about connections says anything about those that come in, and
// about those that go out. What does not tell may do both.
func (s *Input) Directions() (ingress, egress bool) {
	for key := range s.Object.Body.Field("spec").Fields {
		ingress = ingress || strings.HasPrefix(key, "ingress")
		egress = egress || strings.HasPrefix(key, "egress")
	}
	return ingress || !egress, egress || !ingress
}

// isConnectionPolicy reports whether an object of an unknown kind has the shape of a policy about
// connections: it selects, and lists what may come in or go out.
func isConnectionPolicy(o *model.Object) bool {
	selects, lists := false, false
	for key := range o.Body.Field("spec").Fields {
		if isConnectionField(key) {
			selects = selects || strings.HasSuffix(key, "elector")
			lists = lists || !strings.HasSuffix(key, "elector")
		}
	}
	return selects && lists
}

// isConnectionField reports whether a field of a spec is one by which a policy about connections is
// recognised.
func isConnectionField(key string) bool {
	return strings.HasSuffix(key, "Selector") || key == "selector" || strings.HasPrefix(key, "ingress") ||
		strings.HasPrefix(key, "egress")
}
