package attach

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// hintOf returns what to do about the name of an object that is not there, and the object that may
// be meant by it.
func (r *Targets) hintOf(ref model.Ref) (string, *model.Ref) {
	if r.Snapshot.IsRefused(ref) {
		return "it is in the input, but the API server refuses it (SchemaViolation, InvalidObject, UnknownField)", nil
	}
	var names []string
	var elsewhere *model.Object
	for _, o := range r.Snapshot.OfKind(ref.GroupKind()) {
		if o.Ref.Namespace == ref.Namespace {
			names = append(names, o.Ref.Name)
		} else if o.Ref.Name == ref.Name && elsewhere == nil {
			elsewhere = o
		}
	}
	if elsewhere != nil {
		return fmt.Sprintf("there is %s, in another namespace", elsewhere.Ref), &elsewhere.Ref
	}
	if near := form.Nearest(ref.Name, names); len(near) > 0 {
		meant := model.Ref{Group: ref.Group, Kind: ref.Kind, Namespace: ref.Namespace, Name: near[0]}
		return "did you mean " + meant.String() + "?", &meant
	}
	if r.Snapshot.Cluster == nil {
		return "add its manifest if it exists", nil
	}
	return "", nil
}
