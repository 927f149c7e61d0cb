package manifest

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// BackendRef is a backendRef with its defaults filled in.
type BackendRef struct {
	Ref  model.Ref
	Port int32 // 0: not given
	At   Position
	Verb string // what the rule does with it, for people
}

// ReadBackendRef reads a backendRef; false if it takes no part.
func (f *Fields) ReadBackendRef() (BackendRef, bool) {
	port := f.ReadPort("port")
	ref, ok := f.ReadNamedReference(model.Ref{Group: gatewayapi.CoreGroup, Kind: gatewayapi.ServiceKind.Kind,
		Namespace: f.At.Object.Ref.Namespace})
	return BackendRef{At: f.At, Port: port, Ref: ref}, ok
}
