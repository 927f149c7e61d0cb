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
				rule.(object)["filters"] = []any{object{"type": "ExternalAuth",
					"externalAuth": object{"protocol": "GRPC", "grpc": object{}, "backendRef": object{"name": "web",
						"port": 80}}}}
			}
		}
	}
	w.drawFrontend()
}

// drawFrontend draws whether the Gateway asks for client certificates.
func (w *world) drawFrontend() {
	if !w.listeners[len(w.listeners)-1].secure || w.chance(2) {
		return
	}
	validation := object{"caCertificateRefs": []any{object{"group": "", "kind": "ConfigMap", "name": "ca"}}}
	if w.chance(2) {
		validation["mode"] = pick(w, "AllowValidOnly", "AllowInsecureFallback")
	}
	w.ofKind("Gateway")[0]["spec"].(object)["tls"] = object{
		"frontend": object{"default": object{"validation": validation}}}
	w.objects = append(w.objects, object{"apiVersion": "v1", "kind": "ConfigMap", "metadata": object{"name": "ca",
		"namespace": namespace}, "data": object{
		"ca.crt": "-----BEGIN CERTIFICATE-----\nZHVtbXk=\n-----END CERTIFICATE-----\n"}})
}

// frontendFilters are those of the client certificates that a Gateway asks for.
func frontendFilters(w *world) []filter {
	validation := value(w.ofKind("Gateway")[0], "spec", "tls", "frontend", "default", "validation")
	if validation == nil || text(validation, "mode") == "AllowInsecureFallback" {
		return nil
	}
	return []filter{{name: "frontend", does: func(c *call, who *client) reply {
		return demand(!c.secure ||
			who.certificate == good, noAnswer)
	}}}
}

func filtersOfGatewayAPI(w *world, p *place) []filter {
	out := frontendFilters(w)
	for _, f := range list(p.spec, "filters") {
		if text(f, "type") == "ExternalAuth" {
			out = append(out, filter{name: "ExternalAuth", decides: true,
				does: func(*call, *client) reply { return ask(maybe, 0) }})
		}
	}
	return out
}
