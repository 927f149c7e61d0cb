package protecttest

// gatewayAPI is an implementation of which nothing is known but what the Gateway API itself says.
var gatewayAPI = vendor{
	name: "gatewayapi", controller: "example.com/controller", secure: true,
	draw: drawGatewayAPI, filters: filtersOfGatewayAPI,
}

func drawGatewayAPI(w *world) {
	for _, route := range w.ofKind("HTTPRoute") {
		for _, rule := range list(route, "spec", "rules") {
			if w.chance(4) {
				rule.(object)["filters"] = []any{object{"type": "ExternalAuth", "externalAuth": object{"protocol": "GRPC", "grpc": object{}, "backendRef": object{"name": "web", "port": 80}}}}
			}
		}
	}
	gw := w.ofKind("Gateway")[0]["spec"].(object)
	if w.chance(2) {
		validation := object{"caCertificateRefs": []any{object{"group": "", "kind": "ConfigMap", "name": "ca"}}}
		if w.chance(2) {
			validation["mode"] = pick(w, "AllowValidOnly", "AllowInsecureFallback")
		}
		gw["tls"] = object{"frontend": object{"default": object{"validation": validation}}}
	}
}

func filtersOfGatewayAPI(w *world, p *place) []filter {
	out := frontendFilters(w)
	for _, f := range list(p.spec, "filters") {
		if text(f, "type") == "ExternalAuth" {
			out = append(out, filter{name: "ExternalAuth", decides: true, does: func(*call, *client) reply { return ask(maybe, 0) }})
		}
	}
	return out
}
