package request

import (
	"slices"
	"strings"

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
// the input.
func (t *trace) dependOnAbsentGateways() {
	host := t.request.wantedName()
	for _, g := range t.matcher.findAbsentGateways() {
		covers := func(name string) bool { return gatewayapi.CoversHostname(name, host) }
		if g.hosts == nil || host == "" || slices.ContainsFunc(g.hosts, covers) {
			t.answer.makeRuleUncertain("cannot tell: " + g.why)
		}
	}
}
