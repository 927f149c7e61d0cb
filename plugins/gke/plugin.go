// Package gke describes the policy kinds of GKE Gateway. Nearly all of it is data.
package gke

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "gke", Kinds: kinds, Attaching: descriptor.Attaching{Links: []build.Linker{
		func(b *build.Builder) { b.AddBackendKinds(model.GroupKind{Group: "net.gke.io", Kind: "ServiceImport"}) }}}}
}
