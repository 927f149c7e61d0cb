package requestline

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/workload"
)

// FindWorkload finds the workload that [KIND/][NAMESPACE/]NAME means, or reads an address.
func FindWorkload(s *source.Session, text string) (point.End, error) {
	if a, err := netip.ParseAddr(text); err == nil {
		return point.End{Node: topology.None, Address: a.Unmap()}, nil
	}
	parts := strings.Split(text, "/")
	if len(parts) > 3 || slices.Contains(parts, "") {
		return point.End{}, failure.Usage("write [KIND/][NAMESPACE/]NAME",
			"%q is neither a pod nor an address", text)
	}
	var found []*model.Object
	var all []string
	for _, gk := range workload.Kinds() {
		for _, o := range s.Snapshot.OfKind(gk) {
			all = append(all, o.Ref.FullName(), o.Ref.Name)
			if isNamed(s, parts, o.Ref) {
				found = append(found, o)
			}
		}
	}
	isPod := func(o *model.Object) bool { return o.Ref.Kind == "Pod" }
	if len(parts) < 3 && slices.ContainsFunc(found, isPod) {
		found = slices.DeleteFunc(found, func(o *model.Object) bool { return !isPod(o) })
	}
	standing := workload.List(s.Snapshot) // those of which no Pod is in the input stand for their Pods
	found = slices.DeleteFunc(found, func(o *model.Object) bool { return len(found) > 1 && !slices.Contains(standing, o) })
	switch {
	case len(found) == 0 && statefulSetOfPod(s, parts) != nil:
		return FindWorkload(s, statefulSetOfPod(s, parts).FullName())
	case len(found) == 0:
		hint := ""
		if near := form.Nearest(text, all); len(near) > 0 {
			hint = "did you mean " + near[0] + "?"
		}
		return point.End{}, s.NotFoundError(hint, "no pod or workload %q %s", text, s.DescribeScope())
	case len(found) > 1:
		return point.End{}, failure.Usage("name one of: "+source.FormatRefs(refsOf(found)), "%q is ambiguous: %d objects have this name", text, len(found))
	}
	if !slices.Contains(standing, found[0]) {
		return point.End{}, failure.Usage("name one of its pods",
			"the pods of %s are in the input: ask about one of them", found[0].Ref)
	}
	return point.NewEnd(s.Resolution, found[0]), nil
}

func refsOf(objects []*model.Object) []model.Ref {
	out := make([]model.Ref, len(objects))
	for i, o := range objects {
		out[i] = o.Ref
	}
	return out
}

// isNamed reports whether [KIND/][NAMESPACE/]NAME means an object. NAMESPACE/KIND/NAME, as it was
// written before, is taken too.
func isNamed(s *source.Session, parts []string, ref model.Ref) bool {
	last := len(parts) - 1
	if parts[last] != ref.Name {
		return false
	}
	kind := func(word string) bool {
		gk, ok := s.FindKind(word)
		return ok && gk == ref.GroupKind()
	}
	switch last {
	case 0:
		return s.IsInNamespace(ref)
	case 1:
		return parts[0] == ref.Namespace || kind(parts[0]) && s.IsInNamespace(ref)
	}
	return kind(parts[0]) && parts[1] == ref.Namespace || parts[0] == ref.Namespace && kind(parts[1])
}

// statefulSetOfPod finds the StatefulSet that would make a pod of this name, NAME-0 to NAME-N; nil
// if there is none.
func statefulSetOfPod(s *source.Session, parts []string) *model.Ref {
	name := parts[len(parts)-1]
	at := strings.LastIndex(name, "-")
	if at < 0 || len(parts) > 2 {
		return nil
	}
	n, err := strconv.Atoi(name[at+1:])
	for _, o := range s.Snapshot.OfKind(model.GroupKind{Group: "apps", Kind: "StatefulSet"}) {
		replicas, ok := o.Get("spec", "replicas").(int64)
		if !ok {
			replicas = 1
		}
		if err == nil && int64(n) < replicas && isNamed(s, append(slices.Clone(parts[:len(parts)-1]), name[:at]),
			o.Ref) {
			return &o.Ref
		}
	}
	return nil
}
