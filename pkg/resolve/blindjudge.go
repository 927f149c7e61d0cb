package resolve

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// UnreadJudges lists the policies that judge connections between workloads, may judge one with these ends, and are not evaluated. Kinds nil
// means every one.
func (r *Resolution) UnreadJudges(ends []topology.NodeID, evaluated func(*Kind) bool, kinds []model.GroupKind) []*BlindSpot {
	read := map[model.GroupKind]bool{}
	for _, k := range r.Kinds {
		if evaluated(k) {
			for _, gk := range append([]model.GroupKind{k.GroupKind}, k.Members...) {
				read[gk] = true
			}
		}
	}
	var out []*BlindSpot
	for _, gk := range r.Snapshot.Kinds() {
		if read[gk] || r.knowledge.Knows(gk) || kinds != nil && !slices.Contains(kinds, gk) {
			continue
		}
		told, k := r.knowledge.Judges(gk), r.Kind(gk)
		if !told && (k != nil || everyones(gk.Group)) {
			continue
		}
		at := r.inForceAt(k, ends)
		for _, o := range r.Snapshot.Of(gk) {
			if (told || filtersConnections(o)) && at(o) {
				out = append(out, &BlindSpot{Object: o, origin: o.Origin, name: o.Ref.FullName(),
					message: fmt.Sprintf("%s may affect the connection, but policies of kind %s are not evaluated for connections", o.Ref, gk),
					alike:   fmt.Sprintf("policies of %s may affect the connection, but are not evaluated for connections", gk)})
			}
		}
	}
	return out
}

// inForceAt tells which objects may say something about workloads: of a kind of policies whose workloads are known those in force there, of
// others without a namespace all, and of the rest those in the workloads' namespaces. Policies of a described kind that selects otherwise may
// be in force anywhere.
func (r *Resolution) inForceAt(k *Kind, ends []topology.NodeID) func(*model.Object) bool {
	switch {
	case k != nil && k.AboutWorkloads():
		found := map[*model.Object]bool{}
		for _, scope := range r.Scopes(k) {
			for _, id := range ends {
				for _, s := range scope.Contexts(id) {
					for _, l := range scope.Verdict(s).Layers {
						found[l.Policy.Object] = true
					}
				}
			}
		}
		return func(o *model.Object) bool { return found[o] }
	case k != nil && !k.Generic():
		return func(*model.Object) bool { return true }
	}
	return func(o *model.Object) bool {
		if o.Ref.Namespace == "" || o.Text("metadata", "namespace") == "" { // what a manifest gives no namespace may be of a kind that has none
			return true
		}
		return slices.ContainsFunc(ends, func(id topology.NodeID) bool { return r.Node(id).Ref.Namespace == o.Ref.Namespace })
	}
}

// filtersConnections reports whether an object of an unknown kind has the shape of a policy about connections: it selects, and lists what may
// come in or go out.
func filtersConnections(o *model.Object) bool {
	selects, lists := false, false
	for key := range o.Body.Field("spec").Fields {
		if shapesConnections(key) {
			selects = selects || strings.HasSuffix(key, "elector")
			lists = lists || !strings.HasSuffix(key, "elector")
		}
	}
	return selects && lists
}

// shapesConnections reports whether a field of a spec is one by which a policy about connections is told.
func shapesConnections(key string) bool {
	return strings.HasSuffix(key, "Selector") || key == "selector" || strings.HasPrefix(key, "ingress") || strings.HasPrefix(key, "egress")
}
