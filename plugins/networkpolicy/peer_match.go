package networkpolicy

import (
	"net/netip"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	topologyselector "github.com/dopolicy/kubectl-dopolicy/pkg/topology/selector"
)

// readSubject is whom a policy selects.
func readSubject(o *model.Object) (topologyselector.PodSelector, error) {
	if o.Ref.GroupKind() != ownKind {
		return policy.ReadPodSelector(o.Body.At("spec", "subject"))
	}
	s := topologyselector.PodSelector{In: o.Ref.Namespace, Pods: topologyselector.Everything()}
	selector := o.Body.At("spec", "podSelector")
	if selector.IsNull() {
		return s, nil
	}
	var err error
	s.Pods, err = topologyselector.ReadLabelSelector(selector)
	return s, err
}

// attachToPods finds the workloads that a NetworkPolicy selects.
func attachToPods(p *policy.Policy, g *topology.Graph, _ *model.Snapshot, _ model.Settings) ([]policy.Attached,
	[]model.Problem) {
	at := []string{"spec", "podSelector"}
	s, err := readSubject(p.Object)
	if err != nil {
		return nil, []model.Problem{policy.UnreadableProblem(p, at, err)}
	}
	return policy.AttachPods(p, at, s, g)
}

// matchPeer reports whether a peer is the other end of the connection; for what is not known, why.
func (j *directionJudge) matchPeer(p peer) (topologyselector.Truth, string) {
	switch {
	case p.variable != "":
		return topologyselector.Maybe, "the variable " + p.variable + " is not rendered"
	case p.pods != nil:
		return j.matchPods(p)
	case p.nodes != nil:
		return j.matchNodes(p)
	case p.domains != nil:
		return topologyselector.Maybe, "domain names are not resolved"
	}
	return j.matchNetworks(p)
}

func (j *directionJudge) matchPods(p peer) (topologyselector.Truth, string) {
	switch {
	case j.peer.pod != nil:
	case j.peer.PodsUnknown:
		return topologyselector.Maybe, "the Pods of " + j.peer.String() + " are not in the input"
	default:
		return topologyselector.No, ""
	}
	picks := j.matchSelector(*p.pods, j.peer.pod)
	switch {
	case picks == topologyselector.No:
	case j.peer.pod.HostNetwork:
		return topologyselector.Maybe, j.peer.String() +
			" is in the network of its node, where it may not be told from it"
	case picks == topologyselector.Maybe && j.peer.pod.Partial:
		return picks, "the labels of " + j.peer.String() + " are not in the input"
	case picks == topologyselector.Maybe:
		return picks, "the labels of namespace " + j.peer.pod.Ref.Namespace + " are not in the input"
	}
	return picks, ""
}

// matchNodes reports whether nodes are the other end: a pod that is not in the network of its node
// has an address of its own.
func (j *directionJudge) matchNodes(p peer) (topologyselector.Truth, string) {
	if j.peer.pod != nil && !j.peer.pod.HostNetwork {
		return topologyselector.No, "" // a Pod has an address of its own
	}
	at := ""
	if j.peer.pod == nil {
		at = j.peer.Address.String() // that of no node if it is not known
	}
	for _, node := range j.snapshot.OfKind(model.GroupKind{Kind: "Node"}) {
		mine := node.Ref.Name != "" && j.peer.pod != nil && node.Ref.Name == j.peer.pod.Node
		for _, a := range node.Body.At("status", "addresses").Items {
			mine = mine || at != "" && a.Text("address") == at
		}
		if mine && p.nodes.SelectsLabels(node.Labels) {
			return topologyselector.Yes, ""
		}
		if mine {
			return topologyselector.No, ""
		}
	}
	return topologyselector.Maybe, "which node that is, is not in the input"
}

func (j *directionJudge) matchNetworks(p peer) (topologyselector.Truth, string) {
	switch {
	case j.peer.pod != nil:
	case !j.peer.Address.IsValid():
		return topologyselector.Maybe, "the address of " + j.peer.String() + " is not in the input"
	default:
		return p.containsAddress(j.peer.Address), ""
	}
	if !slices.ContainsFunc(p.networks, canHoldPods) {
		return topologyselector.No, ""
	}
	var answers []topologyselector.Truth
	for _, text := range j.peer.pod.Addresses {
		if a, err := netip.ParseAddr(text); err == nil {
			answers = append(answers, p.containsAddress(a))
		}
	}
	switch {
	case j.peer.pod.Template || answers == nil:
		return topologyselector.Maybe, "the address of " + j.peer.String() + " is not in the input"
	case slices.Min(answers) != slices.Max(answers):
		return topologyselector.Maybe, j.peer.String() + " has several addresses, and not all are in the network"
	}
	return answers[0], ""
}

// specialNetworks are the networks of a machine by itself, of one link, and of groups: no pod has
// an address in them.
var specialNetworks = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("169.254.0.0/16"),
	netip.MustParsePrefix("224.0.0.0/4"),
	netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("fe80::/10"), netip.MustParsePrefix("ff00::/8")}

// canHoldPods reports whether a pod may have an address in a network.
func canHoldPods(n netip.Prefix) bool {
	return !slices.ContainsFunc(specialNetworks, func(s netip.Prefix) bool {
		return s.Bits() <= n.Bits() &&
			s.Contains(n.Addr())
	})
}

// containsAddress reports whether an address is in the peer's networks.
func (p *peer) containsAddress(a netip.Addr) topologyselector.Truth {
	in := func(n netip.Prefix) bool { return n.Contains(a.Unmap()) }
	if slices.ContainsFunc(p.networks, in) && !slices.ContainsFunc(p.except, in) {
		return topologyselector.Yes
	}
	return topologyselector.No
}
