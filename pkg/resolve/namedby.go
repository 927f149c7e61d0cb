package resolve

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// absentees reports what objects name and is not there: an answer about them lacks what it says, or the implementation has an error there.
func (k *attacher) absentees() {
	for _, form := range k.Refs {
		k.absent(form.By)
	}
}

func (k *attacher) absent(by []policy.Naming) {
	in := k.res.Snapshot
	for _, n := range by {
		if n.Annotation != "" && !in.Annotations(n.Kind)[n.Annotation] {
			continue
		}
		for _, o := range in.Of(n.Kind) {
			for _, ref := range n.Names(k.GroupKind, o) {
				if k.known(ref) {
					continue
				}
				at := n.At
				if n.Annotation != "" {
					at = []string{"metadata", "annotations", n.Annotation}
				}
				p := model.Problem{Severity: model.Warning, Code: model.NotEvaluated, Message: fmt.Sprintf("%s names %s in %s, which is not in the input: what it would set is not known",
					o.Ref, ref, cmp.Or(n.Annotation, strings.Join(n.At, "."))), Hint: "add its manifest"}
				if in.Cluster != nil && !in.Cluster.Misses(ref.GroupKind(), ref.Namespace) {
					p.Code, p.Message, p.Hint = model.TargetNotFound, fmt.Sprintf("%s names %s, which does not exist", o.Ref, ref), "fix the name, or create it"
				}
				k.res.Problems = append(k.res.Problems, p.At(o, at...))
			}
		}
	}
}

// known reports whether an object that something names is in the input, as one of the kind or of a member of it.
func (k *attacher) known(ref model.Ref) bool {
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
