// Package defaults fills in what an API server adds to objects of the Gateway API, for code that reads objects as a server has stored them. It
// needs the standard library alone, so that it can be built into any module.
package defaults

import (
	"encoding/json"
	"strings"
)

// ofKind are the defaults in the definitions of the Gateway API 1.6.0, without those of fields that no input has. Those of an object come before
// those of its fields.
var ofKind = map[string][][2]string{
	"Gateway": append([][2]string{
		{"allowedListeners.namespaces", `{"from": "None"}`},
		{"allowedListeners.namespaces.from", `"None"`},
	}, ofListeners...),
	"ListenerSet": append([][2]string{
		{"parentRef.group", `"gateway.networking.k8s.io"`},
		{"parentRef.kind", `"Gateway"`},
	}, ofListeners...),
	"HTTPRoute": append([][2]string{
		{"rules", `[{"matches": [{"path": {"type": "PathPrefix", "value": "/"}}]}]`},
		{"rules[].matches", `[{"path": {"type": "PathPrefix", "value": "/"}}]`},
		{"rules[].matches[].path", `{"type": "PathPrefix", "value": "/"}`},
		{"rules[].matches[].path.type", `"PathPrefix"`},
		{"rules[].matches[].path.value", `"/"`},
		{"rules[].matches[].queryParams[].type", `"Exact"`},
		{"rules[].filters[].requestRedirect.statusCode", `302`},
		{"rules[].filters[].cors.maxAge", `5`},
	}, ofRoutes...),
	"GRPCRoute": append([][2]string{
		{"rules[].matches[].method.type", `"Exact"`},
	}, ofRoutes...),
}

var ofListeners = [][2]string{
	{"listeners[].allowedRoutes", `{"namespaces": {"from": "Same"}}`},
	{"listeners[].allowedRoutes.namespaces", `{"from": "Same"}`},
	{"listeners[].allowedRoutes.namespaces.from", `"Same"`},
	{"listeners[].allowedRoutes.kinds[].group", `"gateway.networking.k8s.io"`},
	{"listeners[].tls.mode", `"Terminate"`},
	{"listeners[].tls.certificateRefs[].group", `""`},
	{"listeners[].tls.certificateRefs[].kind", `"Secret"`},
}

var ofRoutes = [][2]string{
	{"parentRefs[].group", `"gateway.networking.k8s.io"`},
	{"parentRefs[].kind", `"Gateway"`},
	{"rules[].matches[].headers[].type", `"Exact"`},
	{"rules[].backendRefs[].group", `""`},
	{"rules[].backendRefs[].kind", `"Service"`},
	{"rules[].backendRefs[].weight", `1`},
}

// Fill fills in the defaults of an object.
func Fill(o map[string]any) error {
	kind, _ := o["kind"].(string)
	for _, d := range ofKind[kind] {
		var value any
		if err := json.Unmarshal([]byte(d[1]), &value); err != nil {
			return err
		}
		fill(o["spec"], strings.Split(d[0], "."), value)
	}
	return nil
}

// fill sets a field where what it is a field of is there, and it is not.
func fill(v any, path []string, value any) {
	fields, ok := v.(map[string]any)
	if !ok {
		return
	}
	name, isList := strings.CutSuffix(path[0], "[]")
	switch {
	case isList:
		entries, _ := fields[name].([]any)
		for _, e := range entries {
			fill(e, path[1:], value)
		}
	case len(path) > 1:
		fill(fields[name], path[1:], value)
	case fields[name] == nil:
		fields[name] = value
	}
}
