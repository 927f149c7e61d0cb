package kgateway

import (
	"fmt"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

var portReplacesDefaults = model.Rule{ID: "PortReplacesDefaults", Severities: []model.Severity{model.Warning},
	Summary: "settings for one port take the place of all defaults of the same policy, not only of those that they repeat",
	Fix:     "repeat the defaults for the port"}

// findPortDefaults reports ListenerPolicies with settings for a port of their Gateway that leave
// out defaults of the same policy: on that port none of the defaults holds.
func findPortDefaults(_ *policy.Kind, g *topology.Graph, at policy.AttachedAt) []model.Problem {
	var out []model.Problem
	said := map[string]bool{}
	for _, id := range g.Order(topology.Traffic) {
		n := g.Node(id)
		if n.Role != topology.Gateway {
			continue
		}
		for _, listener := range g.Children(topology.Traffic, id) {
			if g.Node(listener).Role != topology.Listener {
				continue
			}
			port := int64(g.Listener(listener).Port)
			for _, a := range slices.Concat(at(id), at(listener)) {
				p, key := findMissingDefaults(a.Policy, port), fmt.Sprint(a.Policy.Ref(), port)
				if p != nil && !said[key] {
					said[key] = true
					out = append(out, *p)
				}
			}
		}
	}
	return out
}

func findMissingDefaults(p *policy.Policy, port int64) *model.Problem {
	defaults := listFields(p.Object.Body.At("spec", "default"))
	for _, entry := range p.Object.Body.At("spec", "perPort").Items {
		if number, ok := entry.Field("port").Value().(int64); !ok || number != port {
			continue
		}
		have := listFields(entry.Field("listener"))
		missing := slices.DeleteFunc(slices.Clone(defaults), func(f string) bool { return slices.Contains(have, f) })
		if len(missing) == 0 {
			return nil
		}
		problem := portReplacesDefaults.NewProblem(
			"on port %d the settings of perPort take the place of all defaults of %s: %s of default are not in force there",
			port, p.Ref(), strings.Join(missing, ", ")).At(p.Object, "spec", "perPort")
		return &problem
	}
	return nil
}

// listFields are the settings of a listener as they are merged: fields, and those of httpSettings.
func listFields(b model.Body) []string {
	var out []string
	for key, value := range b.Fields {
		if key != "httpSettings" {
			out = append(out, key)
			continue
		}
		for inner := range value.Fields {
			out = append(out, key+"."+inner)
		}
	}
	slices.Sort(out)
	return out
}
