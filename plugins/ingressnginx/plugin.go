// Package ingressnginx says what ingress-nginx makes of Ingress objects: the servers and locations of
// its proxy, and what becomes of requests there.
package ingressnginx

import (
	_ "embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

//go:embed kinds.json
var kinds []byte

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "ingressnginx", Kinds: kinds, Ingresses: readProxy}
}

// readProxy makes the proxy of the Ingresses of the controller; nil: the input has none.
func readProxy(s *model.Snapshot) *ingress.Proxy {
	return nil
}
