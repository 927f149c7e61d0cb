package protecttest

import "fmt"

// traefik runs the middlewares that the filters of a rule name, in their order; a chain is its
// parts.
var traefik = vendor{
	name: "traefik", controller: "traefik.io/gateway-controller",
	uses: words{basic: "Auth"},
	draw: drawTraefik, filters: filtersOfTraefik,
}

func drawTraefik(w *world) {
	const version = "traefik.io/v1alpha1"
	var names []string
	for i := range 3 + w.IntN(3) {
		var spec object
		switch w.IntN(8) {
		case 0, 1:
			spec = object{pick(w, "basicAuth", "digestAuth"): object{"secret": "users"}}
		case 2:
			spec = object{"forwardAuth": object{"address": "http://auth.example"}}
		case 3, 4:
			list := object{"sourceRange": []any{pick(w, networks[0], networks[1], "0.0.0.0/0")}}
			if w.chance(3) {
				list["rejectStatusCode"] = 404
			}
			spec = object{"ipAllowList": list}
		case 5, 6:
			spec = object{"rateLimit": object{"average": pick(w, 0, 5, 5)}}
		default:
			var parts []any
			for _, name := range names {
				if w.chance(2) {
					parts = append(parts, object{"name": name})
				}
			}
			spec = object{"chain": object{"middlewares": parts}}
			if parts == nil {
				spec = object{"compress": object{}}
			}
		}
		name := fmt.Sprintf("m%d", i)
		names = append(names, name)
		w.named(version, "Middleware", name, spec)
	}
	w.objects = append(w.objects, object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": "users",
		"namespace": namespace}, "stringData": object{"users": "a:b"}})
	for _, route := range w.ofKind("HTTPRoute") {
		for _, rule := range list(route, "spec", "rules") {
			var filters []any
			for _, name := range names {
				if w.chance(3) {
					filters = append(filters, object{"type": "ExtensionRef",
						"extensionRef": object{"group": "traefik.io", "kind": "Middleware", "name": name}})
				}
			}
			if filters != nil {
				rule.(object)["filters"] = filters
			}
		}
	}
}

func filtersOfTraefik(w *world, p *place) []filter {
	var out []filter
	for _, f := range list(p.spec, "filters") {
		out = append(out, middlewareFilters(w, text(f, "extensionRef", "name"))...)
	}
	return out
}

func middlewareFilters(w *world, name string) []filter {
	var spec any
	for _, m := range w.ofKind("Middleware") {
		if text(m, "metadata", "name") == name {
			spec = m["spec"]
		}
	}
	switch {
	case value(spec, "basicAuth") != nil, value(spec, "digestAuth") != nil:
		return []filter{{name: name, does: func(_ *call, who *client) reply { return demand(who.basic == good, 401) }}}
	case value(spec, "forwardAuth") != nil:
		return []filter{{name: name, decides: true, does: func(*call, *client) reply { return ask(maybe, 0) }}}
	case value(spec, "ipAllowList") != nil:
		status := 403
		if n, ok := value(spec, "ipAllowList", "rejectStatusCode").(int); ok {
			status = n
		}
		return []filter{{name: name, does: func(_ *call, who *client) reply {
			return demand(inNetworks(who.address, texts(spec, "ipAllowList", "sourceRange")...), status)
		}}}
	case value(spec, "rateLimit") != nil:
		return []filter{{name: name,
			does: func(*call, *client) reply { return count(is(value(spec, "rateLimit", "average") != 0)) }}}
	}
	var out []filter
	for _, part := range list(spec, "chain", "middlewares") {
		out = append(out, middlewareFilters(w, text(part, "name"))...)
	}
	return out
}
