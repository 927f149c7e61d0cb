package request

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// absentGateway is a Gateway that routes name and the input does not have: it may be forbidden, or in another file.
type absentGateway struct {
	why   string
	hosts []string // of its routes; nil: any
}

// absentGateways lists the Gateways that routes name and that the input does not have, in the order of the routes.
func (m *Matcher) absentGateways() []absentGateway {
	if m.absent != nil {
		return m.absent
	}
	m.absent = []absentGateway{}
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
			why := "Gateway " + a.Parent.FullName() + " is not in the input"
			if a.State == topology.Unknown {
				why = "Gateway " + a.Parent.FullName() + " is forbidden"
			}
			i, known := at[why]
			if !known {
				i = len(m.absent)
				at[why] = i
				m.absent = append(m.absent, absentGateway{why: why, hosts: []string{}})
			}
			g := &m.absent[i]
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
	return m.absent
}

// mayHaveListener makes an answer without a listener depend on the Gateways that are not there to look at.
func (t *trace) mayHaveListener() {
	host := t.r.wanted()
	for _, g := range t.m.absentGateways() {
		covers := func(name string) bool { return topology.Covers(name, host) }
		if g.hosts == nil || host == "" || slices.ContainsFunc(g.hosts, covers) {
			t.answer.conditional("cannot tell: " + g.why)
		}
	}
}
