// Package traefik describes what Traefik attaches to routes of the Gateway API.
package traefik

import (
	"embed"
	"fmt"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

const controller = "traefik.io/gateway-controller"

var (
	middlewareKind = model.GroupKind{Group: "traefik.io", Kind: "Middleware"}
	serviceKind    = model.GroupKind{Group: "traefik.io", Kind: "TraefikService"}
)

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "traefik", Kinds: kinds, Proxies: findProxies, Schemas: schemas, Gates: gateFunctions(),
		Effects: findEffects, Equivalents: equivalents,
		Attaching: descriptor.Attaching{Links: []build.Linker{addToGraph}},
		Judging:   descriptor.Judging{Lints: map[string]policy.Lint{"traefik.Missing": findMissing}}}
}

// addToGraph registers what Traefik takes as backends: core is a name of the group without one, and a
// TraefikService called NAME@PROVIDER is no object but what that provider has, such as Traefik's own
// API.
func addToGraph(b *build.Builder) {
	b.AddBackendKinds(serviceKind)
	b.AddForeignHosts(func(backend model.Ref) bool {
		return backend.GroupKind() == serviceKind && strings.Contains(backend.Name, "@")
	})
	b.AddImplementation(build.Implementation{Name: "traefik", Controllers: []string{controller},
		Refs: gatewayapi.RefReading{CoreNames: []string{"core"}}})
}

// findMissing reports filters that name a Middleware that is not there: the controller does not
// look, and requests fail.
func findMissing(_ *policy.Kind, g *topology.Graph, _ policy.AttachedAt) []model.Problem {
	var out []model.Problem
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Rule || n.Object == nil || n.Hop > 0 {
			continue
		}
		at := []string{"spec", "rules", strconv.Itoa(n.Index), "filters"}
		for i, f := range n.Object.Body.At(at...).Items {
			to := f.Field("extensionRef")
			ref := model.Ref{Group: middlewareKind.Group, Kind: middlewareKind.Kind, Namespace: n.Ref.Namespace,
				Name: to.Text("name")}
			if to.Text("group") != middlewareKind.Group || to.Text("kind") != middlewareKind.Kind ||
				!g.FindExistence(ref).IsAbsent() {
				continue
			}
			out = append(out, model.Problem{Severity: model.Warning, Code: model.TargetNotFound, Message: fmt.Sprintf(
				"%s, which a filter of %s names, does not exist: conditions stay good, and requests of the rule fail",
				ref, n.Ref)}.At(n.Object, append(at, strconv.Itoa(i))...))
		}
	}
	return out
}
