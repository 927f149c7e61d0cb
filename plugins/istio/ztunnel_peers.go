package istio

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// strict is the mode that refuses connections without identity.
const strict = "STRICT"

// tunnelPeers are the PeerAuthentications that count at a workload of ztunnel: the oldest of the root
// namespace, of its namespace and with a selector; nil: there is none.
type tunnelPeers struct {
	root, space, own *model.Object
	// bareRoot and bareSpace are the same without any selector: the control plane looks for those where
	// it rewrites the modes of ports (pilot/pkg/serviceregistry/ambient/policies.go:181-186).
	bareRoot, bareSpace *model.Object
}

// newTunnelPeers picks them from the policies in force, which are in order.
func newTunnelPeers(layers []*policy.Policy, root string) tunnelPeers {
	var out tunnelPeers
	first := func(to **model.Object, o *model.Object) {
		if *to == nil {
			*to = o
		}
	}
	for _, p := range layers {
		if p.Builtin != "" {
			continue
		}
		o := p.Object
		bare := !o.Body.At("spec", "selector").IsObject()
		switch {
		case readPolicyTargets(o).selector.Len() > 0:
			first(&out.own, o)
		case o.Ref.Namespace != root:
			if first(&out.space, o); bare {
				first(&out.bareSpace, o)
			}
		default:
			if first(&out.root, o); bare {
				first(&out.bareRoot, o)
			}
		}
	}
	return out
}

// peerMode is the mode that a policy has for all ports; "": none.
func peerMode(o *model.Object) string {
	if o == nil || o.Text("spec", "mtls", "mode") == "UNSET" {
		return ""
	}
	return o.Text("spec", "mtls", "mode")
}

// findStrict returns the policy by which ztunnel refuses connections without identity at a port; nil:
// it does not. What the control plane sends is either the mode of all ports, or a rewritten policy with
// the modes of ports, and the latter loses some of them
// (pilot/pkg/serviceregistry/ambient/authorization.go:81-410).
func (t *tunnelPeers) findStrict(port string) *model.Object {
	var by *model.Object
	if peerMode(t.root) == strict {
		by = t.root
	}
	if mode := peerMode(t.space); mode != "" {
		if by = nil; mode == strict {
			by = t.space
		}
	}
	if t.own == nil {
		return by
	}
	mode := peerMode(t.own)
	if mode != "" {
		if by = nil; mode == strict {
			by = t.own
		}
	}
	var anyStrict, anyPermissive, anyDisabled bool
	ports := t.own.Body.At("spec", "portLevelMtls")
	for _, name := range sortFields(ports) {
		switch ports.At(name, "mode").Text() {
		case strict:
			anyStrict = true
		case permissive:
			anyPermissive = true
		case "DISABLE":
			anyDisabled = true
		}
	}
	switch {
	case by == nil && anyStrict, by != nil && anyPermissive, mode == strict && anyDisabled:
		return t.findRewritten(mode, port, by)
	}
	return by
}

// findRewritten is findStrict by the policy that the control plane makes of the modes of ports; by is
// the policy whose mode the other ports have, if it is STRICT.
func (t *tunnelPeers) findRewritten(mode, port string, by *model.Object) *model.Object {
	space, root := peerMode(t.bareSpace), peerMode(t.bareRoot)
	above := (t.bareSpace == nil || space == "") && root == strict // it is thought to be the mode
	inherits := space == strict || t.bareSpace == nil && root == strict
	ports := t.own.Body.At("spec", "portLevelMtls")
	open, listed := false, false // whether a port is exempt, and whether it is this one
	for _, name := range sortFields(ports) {
		switch own := ports.At(name, "mode").Text(); {
		case own == strict && name == port && mode != strict && !(mode == "" && space == strict) && !above:
			return t.own
		case own != permissive && own != "DISABLE", mode == permissive, mode == "DISABLE", mode == "" && !inherits:
		default:
			open = true
			listed = listed || name == port
		}
	}
	if listed || !open {
		return nil
	}
	return by
}
