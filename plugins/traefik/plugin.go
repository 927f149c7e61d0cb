// Package traefik describes what Traefik attaches to routes of the Gateway API.
package traefik

import (
	"embed"
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

var middlewareKind = model.GroupKind{Group: "traefik.io", Kind: "Middleware"}

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "traefik", Kinds: kinds, Schemas: schemas, Gates: gateFunctions(),
		Judging: descriptor.Judging{Lints: map[string]policy.Lint{"traefik.Missing": findMissing}}}
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
