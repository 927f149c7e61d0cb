package request

import (
	"slices"
	"strings"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// absentGateway is a Gateway that routes name and the input does not have: it may be forbidden, or
// in another file.
type absentGateway struct {
	why   string
	hosts []string // of its routes; nil: any
}

// findAbsentGateways lists the Gateways that routes name and that the input does not have, in the
// order of the routes.
func (m *Matcher) findAbsentGateways() []absentGateway {
	if m.absentGateways != nil {
		return m.absentGateways
	}
	m.absentGateways = []absentGateway{}
	at := map[string]int{}
	for _, id := range m.graph.Order(topology.Traffic) {
		n := m.graph.Node(id)
		if n.Role != topology.Route || n.Hop > 0 || n.Object == nil {
			continue
		}
		for _, a := range m.graph.Attachments(id) {
			if !a.Missing || a.Parent.Kind != "Gateway" {
				continue
			}
			why := a.Parent.WithoutSection().String() + " is not in the input"
			if a.State == topology.Unknown {
				why = a.Parent.WithoutSection().String() + " is forbidden"
			}
			i, known := at[why]
			if !known {
				i = len(m.absentGateways)
				at[why] = i
				m.absentGateways = append(m.absentGateways, absentGateway{why: why, hosts: []string{}})
			}
			g := &m.absentGateways[i]
			names := n.Object.Body.At("spec", "hostnames")
			if names.Len() == 0 {
				g.hosts = nil
			}
			for _, name := range names.Items {
				if g.hosts != nil {
					g.hosts = append(g.hosts, strings.ToLower(name.Text()))
				}
			}
		}
	}
	return m.absentGateways
}

// dependOnAbsentGateways makes an answer without a listener depend on the Gateways that are not in
// the input: those that routes name, or else all that are forbidden.
func (t *trace) dependOnAbsentGateways() {
	host, before := t.request.wantedName(), t.answer.doubts
	for _, g := range t.matcher.findAbsentGateways() {
		covers := func(name string) bool { return gatewayapi.CoversHostname(name, host) }
		if g.hosts == nil || host == "" || slices.ContainsFunc(g.hosts, covers) {
			t.answer.makeRuleUncertain("cannot tell: " + g.why)
		}
	}
	if where, forbidden := t.matcher.findForbiddenGateways(); forbidden && t.answer.doubts == before {
		t.answer.makeRuleUncertain("cannot tell: the Gateways " + where + " are forbidden")
	}
}

// findForbiddenGateways says in which namespaces the Gateways could not be read; not forbidden: all
// of the cluster were read, or the input is no cluster.
func (m *Matcher) findForbiddenGateways() (where string, forbidden bool) {
	cluster := m.graph.Cluster()
	if cluster == nil {
		return "", false
	}
	var in []string
	for _, u := range cluster.Unread {
		switch {
		case u.Kind != (model.GroupKind{Group: gatewayv1.GroupName, Kind: "Gateway"}):
		case u.Namespace != "":
			in = append(in, u.Namespace)
		case len(u.Except) > 0:
			return "of other namespaces than " + strings.Join(u.Except, ", "), true
		default:
			return "of the cluster", true
		}
	}
	return "of namespace " + strings.Join(in, ", "), len(in) > 0
}
