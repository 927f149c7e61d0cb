package attach

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// reportMissingReferences reports what objects name and is not there: an answer about them lacks
// what it says, or the implementation has an error there.
func (k *attacher) reportMissingReferences() {
	for _, form := range k.Refs {
		k.reportMissingNamed(form.NamedBy)
	}
}

func (k *attacher) reportMissingNamed(by []policy.NamingRule) {
	in := k.res.Snapshot
	for _, n := range by {
		if n.Annotation != "" && !in.AnnotationNames(n.Kind)[n.Annotation] {
			continue
		}
		for _, o := range in.OfKind(n.Kind) {
			for _, ref := range n.ReadNames(k.GroupKind, o) {
				if k.isInInput(ref) {
					continue
				}
				at := n.At
				if n.Annotation != "" {
					at = []string{"metadata", "annotations", n.Annotation}
				}
				p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
					Message: fmt.Sprintf("%s names %s in %s, which is not in the input: what it would set is not known",
						o.Ref, ref, cmp.Or(n.Annotation, strings.Join(n.At, "."))), Hint: "add its manifest"}
				if in.Cluster != nil && !in.Cluster.IsUnread(ref.GroupKind(), ref.Namespace) {
					p.Code, p.Message, p.Hint = model.TargetNotFound, fmt.Sprintf("%s names %s, which does not exist",
						o.Ref, ref), "fix the name, or create it"
				}
				k.res.Problems = append(k.res.Problems, p.At(o, at...))
			}
		}
	}
}

// isInInput reports whether an object that something names is in the input, as one of the kind or
// of a member of it.
func (k *attacher) isInInput(ref model.Ref) bool {
	if k.res.Snapshot.Get(ref) != nil {
		return true
	}
	for _, gk := range k.Members {
		other := model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: ref.Namespace, Name: ref.Name}
		if k.res.Snapshot.Get(other) != nil {
			return true
		}
		if other.Namespace = ""; k.res.Snapshot.Get(other) != nil {
			return true
		}
	}
	return false
}
