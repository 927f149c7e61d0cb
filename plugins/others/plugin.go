// Package others says what implementations do by objects that no other vendor here reads.
package others

import (
	"embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "others", Kinds: kinds, Proxies: findProxies, Schemas: schemas,
		Attaching: descriptor.Attaching{Links: []build.Linker{addToGraph}}}
}

// addToGraph registers what is made of the objects of an input, and is not in it.
func addToGraph(b *build.Builder) {
	b.AddMaker(findGenerated)
	b.AddMaker(findOperated)
	for _, g := range gateways {
		b.AddGatewayObjects(g)
	}
	b.AddOmitter(findUnnamedObjects)
}
