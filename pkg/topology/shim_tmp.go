package topology

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

const All = Traffic
const Frontend Role = "service"

func (g *Graph) Frontend(ref model.Ref) NodeID { return None }

type BackendRef struct {
	Ref             model.Ref
	Port            int32
	Weight          int
	Reason, Message string
	Unknown         bool
}

func (g *Graph) Backends(rule NodeID) []BackendRef { return nil }
