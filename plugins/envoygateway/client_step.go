package envoygateway

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// checkListenerStep says why a ClientTrafficPolicy is in force nowhere at a listener: the controller
// leaves it out of the proxy's configuration.
func checkListenerStep(g *topology.Graph, _, child topology.NodeID) *model.Problem {
	n := g.Node(child)
	if n.Role != topology.Listener || n.Object == nil {
		return nil
	}
	why := ""
	switch f := g.Listener(child); {
	case f.Conflict.Reason != "":
		why = "it has " + f.Conflict.Message
	case f.InvalidKinds:
		why = "allowedRoutes names kinds that the protocol does not take"
	case f.Unsupported:
		why = fmt.Sprintf("protocol %q is not supported", f.Protocol)
	case f.Refused.Reason != "":
		why = f.Refused.Message
	case f.WithoutCertificate != "":
		why = f.WithoutCertificate
	default:
		return nil
	}
	p := model.Problem{Severity: model.Info, Code: model.NotReached,
		Message: fmt.Sprintf("listener %s takes no traffic, and no ClientTrafficPolicy is in force there: %s",
			n.Ref.Section, why)}.At(n.Object)
	return &p
}
