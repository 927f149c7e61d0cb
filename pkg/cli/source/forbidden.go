package source

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// What to do about forbidden objects.
const (
	askForRights  = "ask for the rights that this command prints with --print-rbac; details with -v"
	askForReports = "ask whoever can to run %q, or for the rights that this command prints with --print-rbac; details with -v"
	rightsBeside  = "the published reports above tell what the rest does; this command prints the missing rights with --print-rbac"
)

// Forbidden returns how the objects that are forbidden are told. Reported: the answer tells from
// published reports what they do.
func (s *Session) Forbidden(reported bool) render.Forbidden {
	out := render.Forbidden{Hint: askForRights}
	if s.Input == nil || s.Snapshot.Cluster == nil || s.Graph == nil { // nothing is resolved yet
		return out
	}
	out.Named = s.forbiddenObjects
	publish := "kubectl dopolicy publish"
	if !s.Flags.AllNamespaces && s.Flags.Namespace != "" {
		publish += " -n " + s.Flags.Namespace
	}
	switch {
	case reported:
		out.Hint = rightsBeside
	case s.Flags.Reports && !s.Flags.ReadsFiles():
		out.Hint = fmt.Sprintf(askForReports, publish)
	}
	return out
}

// forbiddenObjects returns the forbidden objects of a namespace that those name which were read, and
// whether nothing was read there.
func (s *Session) forbiddenObjects(namespace string) (objects []string, nothingRead bool) {
	for _, role := range []topology.Role{topology.Gateway, topology.ListenerSet, topology.Backend} {
		for id := range topology.NodeID(s.Graph.Len()) {
			n := s.Graph.Node(id)
			if n.Role == role && n.Object == nil && n.Ref.Namespace == namespace &&
				s.Snapshot.Cluster.IsUnreadRef(n.Ref) {
				objects = append(objects, n.Ref.String())
			}
		}
	}
	slices.Sort(objects)
	return slices.Compact(objects), !slices.ContainsFunc(s.Snapshot.Objects,
		func(o *model.Object) bool { return o.Ref.Namespace == namespace })
}
