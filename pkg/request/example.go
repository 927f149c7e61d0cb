package request

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Compared is the path that the implementation of a listener compares for one that is written; false if that is not known, or if it answers such
// requests for the path alone.
func (m Competition) Compared(listener topology.NodeID, path string) (string, bool) {
	if m.tidying == nil {
		return "", false
	}
	how, known := m.tidying(listener)
	escaped := slashes(path) != path && how.Decode != DecodeAll
	if !known || len(how.readings(path)) > 0 || escaped && how.Escaped != KeepEscaped && how.Escaped != DecodeEscaped {
		return "", false
	}
	return how.apply(path), true
}

// Examples are requests that matches of a rule hold for, one for every hostname of its route at a listener and every match that names its path and
// has no expression. Whether the rule takes them is another question.
func (m Competition) Examples(gateway, listener, rule topology.NodeID) []Request {
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
	for i := range m.matches(rule) {
		match := &m.matches(rule)[i]
		if match.expressions() || match.takenOut() || match.path.form == anything {
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
			r := entry.At(host, HTTP)
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

// Plain is a path as it should be spelled: without dots to resolve, slashes that follow each other, backslashes, and characters that need not be escaped.
func Plain(path string) string {
	return Tidying{Dots: true, Slashes: true, Backslashes: true, Decode: DecodeUnreserved, Escaped: DecodeEscaped}.apply(path)
}
