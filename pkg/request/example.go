package request

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// NormalizedPath returns the path that the implementation of a listener compares for one that is
// written. It is false if that is not known, or if the implementation answers such requests for the
// path alone.
func (m Competition) NormalizedPath(listener topology.NodeID, path string) (string, bool) {
	if m.normalization == nil {
		return "", false
	}
	how, known := m.normalization(listener)
	escaped := normalize.DecodeSlashes(path) != path && how.Decode != normalize.DecodeAll
	if !known || len(how.ListOtherPaths(path)) > 0 || escaped && how.Escaped != normalize.KeepEscaped &&
		how.Escaped != normalize.DecodeEscaped {
		return "", false
	}
	return how.Apply(path), true
}

// ExampleRequests returns requests for which matches of a rule hold, one for every hostname of its
// route at a listener and every match that names its path and has no expression. Another rule may
// take them.
func (m Competition) ExampleRequests(gateway, listener, rule topology.NodeID) []Request {
	route := m.graph.Parents(topology.All, rule)[0]
	if m.graph.RouteKind(route) != "HTTPRoute" {
		return nil
	}
	hosts, open := m.hostnamesAt(listener, route)
	if open != "" {
		return nil
	}
	facts := m.graph.Listener(listener)
	entry := Entry{Gateway: gateway, Port: facts.Port, Secure: facts.Protocol == "HTTPS"}
	var out []Request
	for i := range m.readMatches(rule) {
		match := &m.readMatches(rule)[i]
		if match.hasExpression() || match.hasRedactedValue() || match.path.form == anything {
			continue
		}
		for _, h := range hosts {
			host := h.Effective
			switch {
			case host == "":
				host = "any.example"
			case strings.HasPrefix(host, "*."):
				host = "any" + host[1:]
			}
			r := entry.NewRequest(host, HTTP)
			r.Path = match.path.value
			if match.method != "" {
				r.Method = match.method
			}
			for _, v := range match.headers {
				r.Headers = append(r.Headers, Field{v.name, v.value})
			}
			for _, v := range match.query {
				r.Query = append(r.Query, Field{v.name, v.value})
			}
			out = append(out, r)
		}
	}
	return out
}
