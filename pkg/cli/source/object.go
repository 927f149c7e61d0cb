package source

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// NamedObject is an object of the input as the command line named it: a target or a policy.
type NamedObject struct {
	Ref    model.Ref         // of a target
	Nodes  []topology.NodeID // of a target
	Policy *NamedPolicy      // nil: it is a target
}

// FindObject finds the one object that [KIND/][NAMESPACE/]NAME[/SECTION] or KIND NAME names: a route or, if no
// route has the name, any other target or a policy.
func (s *Session) FindObject(args []string) (NamedObject, error) {
	text := strings.Join(args, "/")
	first, _, typed := strings.Cut(text, "/")
	if typed && s.FindPolicyKinds(first) != nil {
		return s.findPolicyObject(text)
	}
	if _, known := s.FindKind(first); !(typed && known) && !s.HasRoute(first) {
		switch found := s.objectsNamed(text); {
		case len(found) > 1:
			return NamedObject{}, failure.Usage("name one of: "+FormatRefs(found),
				"%q is ambiguous: %d objects have this name", text, len(found))
		case len(found) == 1:
			if kind, policy := s.Policy(found[0]); policy != nil {
				return NamedObject{Policy: &NamedPolicy{Kind: kind, Policy: policy}}, nil
			}
			return NamedObject{Ref: found[0], Nodes: s.Graph.Lookup(found[0])}, nil
		}
	}
	ref, ids, err := s.FindTarget(text)
	return NamedObject{Ref: ref, Nodes: ids}, err
}

func (s *Session) findPolicyObject(text string) (NamedObject, error) {
	named, err := s.FindPolicy(text)
	return NamedObject{Policy: &named}, err
}

// objectsNamed returns the policies and targets with a name, as NAME or NAMESPACE/NAME.
func (s *Session) objectsNamed(text string) []model.Ref {
	var out []model.Ref
	readings := listReadings(strings.Split(text, "/"))
	add := func(ref model.Ref) {
		if ref.Section == "" && slices.ContainsFunc(readings, func(n objectName) bool {
			return n.section == "" && n.isNameOf(ref, s.Flags)
		}) {
			out = append(out, ref)
		}
	}
	for _, k := range s.Kinds {
		if k.IsLaterScope() {
			continue
		}
		for _, p := range k.Policies {
			add(p.Ref())
		}
	}
	for id := range s.Graph.Len() {
		if ref := s.Graph.Node(topology.NodeID(id)).Ref; s.Graph.Lookup(ref)[0] == topology.NodeID(id) {
			add(ref)
		}
	}
	return out
}
