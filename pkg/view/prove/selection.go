package prove

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
)

// scopeUse notes which of the hosts and paths asked about take requests that get through.
type scopeUse struct {
	scope        *space.Scope
	hosts, paths map[string]bool
}

func newScopeUse(s *space.Scope) scopeUse {
	return scopeUse{s, map[string]bool{}, map[string]bool{}}
}

// noteClass notes a class of requests that get through.
func (s *scopeUse) noteClass(c *space.Class) {
	for _, host := range s.scope.Hosts {
		if !s.hosts[host] && c.IsWithin(host, "/**") {
			s.hosts[host] = true
		}
	}
	for _, path := range s.scope.Paths {
		if !s.paths[path] && space.IsRequestOn(&c.Request, "*", path) {
			s.paths[path] = true
		}
	}
}

// findUnused says which hosts and paths take no request that gets through, with the nearest ones
// that a route names.
func (s *scopeUse) findUnused(m *request.Matcher) []string {
	if len(s.hosts) == len(s.scope.Hosts) && len(s.paths) == len(s.scope.Paths) {
		return nil
	}
	all := request.Competition{Matcher: m}
	var hosts, paths []string
	for _, e := range all.Entries(s.scope.Destination) {
		names := all.Hostnames(e)
		hosts = append(hosts, names...)
		for _, name := range append(names, "any.example") {
			for _, c := range all.Competitors(e, request.Destination{Gateway: e.Gateway},
				strings.TrimPrefix(name, "*."), request.HTTP) {
				for _, t := range c.Tests {
					if t.Aspect == request.AspectPath && t.Form != request.Expression && t.Value != "" {
						paths = append(paths, t.Value)
					}
				}
			}
		}
	}
	var out []string
	add := func(what, asked string, known []string) {
		line := "no request " + what + " " + asked + " gets through"
		if near := form.Nearest(strings.TrimSuffix(asked, "/**"), sortUnique(known)); len(near) > 0 &&
			near[0] != strings.TrimSuffix(asked, "/**") {
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

func sortUnique(words []string) []string {
	out := slices.Clone(words)
	slices.Sort(out)
	return slices.Compact(out)
}
