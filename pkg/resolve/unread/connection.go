package unread

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ConnectionPolicies lists the policies that judge connections between workloads, may judge
// one with these ends, and are not evaluated. Kinds nil means every one.
func ConnectionPolicies(r *resolve.Resolution, ends []topology.NodeID, evaluated func(*resolve.Kind) bool,
	kinds []model.GroupKind) []*Input {
	read := map[model.GroupKind]bool{}
	for _, k := range r.Kinds {
		if evaluated(k) {
			for _, gk := range append([]model.GroupKind{k.GroupKind}, k.Members...) {
				read[gk] = true
			}
		}
	}
	var out []*Input
	for _, gk := range r.Snapshot.Kinds() {
		if read[gk] || r.Knowledge.IsKnown(gk) || kinds != nil && !slices.Contains(kinds, gk) {
			continue
		}
		told, k := r.Knowledge.JudgesConnections(gk), r.Kind(gk)
		if !told && (k != nil || isKubernetesGroup(gk.Group)) {
			continue
		}
		at := mayApplyTo(r, k, ends)
		for _, o := range r.Snapshot.OfKind(gk) {
			if (told || isConnectionPolicy(o)) && at(o) {
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

// mayApplyTo returns a test of which objects may say something about workloads: of a kind of
// policies whose workloads are known those in force there, of others without a namespace all, and
// of the rest those in the workloads' namespaces. Policies of a described kind that selects
// otherwise may be in force anywhere.
func mayApplyTo(r *resolve.Resolution, k *resolve.Kind, ends []topology.NodeID) func(*model.Object) bool {
	switch {
	case k != nil && k.HasResultsAtWorkloads():
		found := map[*model.Object]bool{}
		for _, scope := range r.ScopesOf(k) {
			for _, id := range ends {
				for _, s := range scope.Contexts(id) {
					for _, l := range scope.Verdict(s).Layers {
						found[l.Policy.Object] = true
					}
				}
			}
		}
		return func(o *model.Object) bool { return found[o] }
	case k != nil && !k.IsGeneric():
		return func(*model.Object) bool { return true }
	}
	return func(o *model.Object) bool {
		// what a manifest gives no namespace may be of a kind that has none
		if o.Ref.Namespace == "" || o.Text("metadata", "namespace") == "" {
			return true
		}
		return slices.ContainsFunc(ends,
			func(id topology.NodeID) bool { return r.Node(id).Ref.Namespace == o.Ref.Namespace })
	}
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
