package cli

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/redact"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// redactedSession answers from the input of s without the values of the settings of policies: they are taken out before anything is computed, so
// that no answer can repeat them.
func redactedSession(s *session) *session {
	in := s.Snapshot
	bodies := make([]any, len(in.Objects))
	redacted(s, bodies)
	objects := slices.Clone(in.Objects)
	for i, o := range objects {
		if bodies[i] == nil {
			continue
		}
		kept := *o
		kept.Body = model.Pack(bodies[i], o.Body.Line)
		if kept.Body.At("metadata", "annotations").Len() == 0 {
			kept.Annotations = nil
		}
		objects[i] = &kept
	}
	less := model.NewSnapshot(objects, in.Problems)
	less.Cluster, less.Redacted = in.Cluster, true
	out := *s
	out.Resolution = resolved(less, s.catalog, s.flags.linkers()...)
	return &out
}

// redacted takes the values of their settings out of the policies among the objects of the session's snapshot. Objects of kinds that are
// not known keep nothing but their identity and what they refer to.
func redacted(s *session, objects []any) {
	policies := map[model.Ref]*policy.Policy{}
	var read []model.GroupKind // beside targets, by the kinds that are there
	for _, k := range s.Kinds {
		for _, p := range k.Policies {
			policies[p.Ref()] = p
		}
		if len(k.Policies) > 0 && k.Kind.Scopes != nil {
			read = append(read, k.Reads...)
		}
	}
	known := append(topology.Kinds(), model.DefinitionKind())
	for i, o := range s.Snapshot.Objects {
		switch p := policies[o.Ref]; {
		case p != nil:
			objects[i] = redact.Policy(p)
		case slices.Contains(read, o.Ref.GroupKind()) && !slices.Contains(known, o.Ref.GroupKind()):
			objects[i] = redact.WithoutInline(o)
		case !slices.Contains(known, o.Ref.GroupKind()) || strings.HasSuffix(o.Ref.Kind, "Policy"):
			kept := redact.Object(o)
			if spec := resolve.Named(o); spec != nil && s.Kind(o.Ref.GroupKind()) == nil {
				kept["spec"] = spec
			}
			objects[i] = kept
		}
	}
}
