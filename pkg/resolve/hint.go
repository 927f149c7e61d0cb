package resolve

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// hintOf is what may be meant by the name of an object that is not there.
func (r *Resolution) hintOf(ref model.Ref) string {
	var names []string
	var elsewhere *model.Object
	for _, o := range r.Snapshot.Of(ref.GroupKind()) {
		if o.Ref.Namespace == ref.Namespace {
			names = append(names, o.Ref.Name)
		} else if o.Ref.Name == ref.Name && elsewhere == nil {
			elsewhere = o
		}
	}
	if elsewhere != nil {
		return fmt.Sprintf("there is %s, in another namespace", elsewhere.Ref)
	}
	if near := form.Nearest(ref.Name, names); len(near) > 0 {
		return "did you mean " + model.Ref{Kind: ref.Kind, Namespace: ref.Namespace, Name: near[0]}.String() + "?"
	}
	if r.Snapshot.Cluster == nil {
		return "add its manifest if it exists"
	}
	return ""
}
