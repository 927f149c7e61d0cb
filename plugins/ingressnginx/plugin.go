// Package ingressnginx says what ingress-nginx makes of Ingress objects: the servers and locations of
// its proxy, and what becomes of requests there.
package ingressnginx

import (
	_ "embed"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "ingressnginx", Kinds: kinds, Ingresses: readProxy, Findings: listFindings()}
}

// readProxy makes the proxy of the Ingresses of the controller; nil: the input has none.
func readProxy(s *model.Snapshot) *ingress.Proxy {
	if len(s.OfKind(ingressKind)) == 0 {
		return nil
	}
	c := readController(s)
	entries, dropped := c.readEntries()
	if len(entries)+len(dropped) == 0 && !slices.ContainsFunc(c.classless, c.isWrittenFor) {
		return nil
	}
	c.noteClassless()
	p := &proxy{control: c, entries: entries, global: c.globalAuth(), copies: map[string]*upstream{}}
	p.makeUpstreams()
	p.makeServers()
	p.fillServers()
	p.mergeCanaries()
	p.orderServers()
	for _, server := range p.ordered {
		server.expandLocations()
		p.prepareLocations(server)
	}
	p.nameServers()
	return p.describeProxy(dropped)
}
