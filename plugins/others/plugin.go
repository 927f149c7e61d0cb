// Package others says what implementations do by objects that no other vendor here reads.
package others

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "others", Kinds: kinds,
		Attaching: descriptor.Attaching{Links: []build.Linker{addToGraph}}}
}
