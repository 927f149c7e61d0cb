package view

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
)

// selection notes which of the hosts and paths that are asked about take requests that get through.
type selection struct {
	scope        *space.Scope
	hosts, paths map[string]bool
}

func newSelection(s *space.Scope) selection {
	return selection{s, map[string]bool{}, map[string]bool{}}
}

// note notes a class of requests that get through.
func (s *selection) note(c *space.Class) {
	for _, host := range s.scope.Hosts {
		if !s.hosts[host] && c.Within(host, "/**") {
			s.hosts[host] = true
		}
	}
	for _, path := range s.scope.Paths {
		if !s.paths[path] && space.On(&c.Request, "*", path) {
			s.paths[path] = true
		}
	}
}

// voids says which hosts and paths take no request that gets through, with the nearest that a route names.
func (s *selection) voids(m *request.Matcher) []string {
	if len(s.hosts) == len(s.scope.Hosts) && len(s.paths) == len(s.scope.Paths) {
		return nil
	}
	all := request.Competition{Matcher: m}
	var hosts, paths []string
	for _, e := range all.Entries(s.scope.Where) {
		names := all.Names(e)
		hosts = append(hosts, names...)
		for _, name := range append(names, "any.example") {
			for _, c := range all.Competing(e, request.Where{Gateway: e.Gateway}, strings.TrimPrefix(name, "*."), request.HTTP) {
				for _, t := range c.Tests {
					if t.Of == request.AspectPath && t.Form != request.Expression && t.Value != "" {
						paths = append(paths, t.Value)
					}
				}
			}
		}
	}
	var out []string
	add := func(what, asked string, known []string) {
		line := "no request " + what + " " + asked + " gets through"
		if near := form.Nearest(strings.TrimSuffix(asked, "/**"), unique(known)); len(near) > 0 && near[0] != strings.TrimSuffix(asked, "/**") {
			line += "; did you mean " + near[0] + "?"
		}
		out = append(out, line)
	}
	for _, host := range s.scope.Hosts {
		if !s.hosts[host] {
			add("to", host, hosts)
		}
	}
	for _, path := range s.scope.Paths {
		if !s.paths[path] {
			add("on", path, paths)
		}
	}
	return out
}

func unique(words []string) []string {
	out := slices.Clone(words)
	slices.Sort(out)
	return slices.Compact(out)
}
