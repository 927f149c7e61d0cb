package protecttest

import (
	"fmt"
	"strconv"
)

// nginx counts before it asks for credentials, and refuses everything where a rule has two filters
// that ask.
var nginx = vendor{
	name: "nginx", controller: "gateway.nginx.org/nginx-gateway-controller",
	uses: words{token: `"jwt"`, basic: `"basic"`},
	draw: drawNGINX, filters: filtersOfNGINX,
}

func drawNGINX(w *world) {
	const version = "gateway.nginx.org/v1alpha1"
	for name, spec := range map[string]object{
		"users": {"type": "Basic", "basic": object{"realm": "a", "secretRef": object{"name": "users"}}},
		"tokens": {"type": "JWT", "jwt": object{"realm": "a", "source": "File",
			"file": object{"secretRef": object{"name": "keys"}}}},
		"staff": {"type": "JWT", "jwt": object{"realm": "a", "source": "File",
			"file": object{"secretRef": object{"name": "keys"}},
			"authorization": object{
				"rules": []any{object{"claims": []any{object{"name": "groups", "values": []any{"admin"}}}}}}}},
	} {
		w.named(version, "AuthenticationFilter", name, spec)
	}
	for _, name := range []string{"users", "keys"} {
		w.objects = append(w.objects, object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": name,
			"namespace": namespace}, "type": "nginx.org/htpasswd", "stringData": object{"auth": "a:b"}})
	}
	for _, route := range w.ofKind("HTTPRoute") {
		for _, rule := range list(route, "spec", "rules") {
			var filters []any
			for _, name := range some(w, 4, "users", "tokens", "staff") {
				filters = append(filters, object{"type": "ExtensionRef",
					"extensionRef": object{"group": "gateway.nginx.org", "kind": "AuthenticationFilter", "name": name}})
			}
			if filters != nil {
				rule.(object)["filters"] = filters
			}
		}
	}
	for range w.IntN(3) {
		target := w.target()
		delete(target, "sectionName")
		limit := object{"local": object{"rules": []any{object{"rate": "5r/s", "key": "$binary_remote_addr"}}}}
		if w.chance(3) {
			limit["dryRun"] = !w.chance(3)
		}
		if w.chance(3) {
			limit["rejectCode"] = 429
		}
		w.add(version, "RateLimitPolicy", object{"targetRefs": []any{target}, "rateLimit": limit})
	}
}

func filtersOfNGINX(w *world, p *place) []filter {
	limit := value(p.settings["RateLimitPolicy"], "rateLimit")
	if limit == nil {
		limit = value(p.above["RateLimitPolicy"], "rateLimit")
	}
	var out []filter
	if limit != nil {
		status := 503
		if code, err := strconv.Atoi(fmt.Sprint(value(limit, "rejectCode"))); err == nil {
			status = code
		}
		counted := is(!flag(limit, "dryRun") && len(list(limit, "local", "rules")) > 0)
		out = append(out, filter{name: "limit", does: func(*call, *client) reply {
			return reply{passes: yes,
				counted: counted, status: status}
		}})
	}
	filters := list(p.spec, "filters")
	if len(filters) > 1 {
		return []filter{{name: "two logins", does: func(*call, *client) reply { return refuse(500) }}}
	}
	for _, f := range filters {
		switch text(f, "extensionRef", "name") {
		case "users":
			out = append(out,
				filter{name: "users", does: func(_ *call, who *client) reply { return demand(who.basic == good, 401) }})
		case "staff":
			out = append(out,
				filter{name: "staff", does: func(_ *call, who *client) reply {
					return demand(who.token == good ||
						who.token == claims, 401)
				}},
				filter{name: "claims", decides: true,
					does: func(_ *call, who *client) reply { return demand(who.token == claims, 401) }})
		default:
			out = append(out,
				filter{name: "tokens", does: func(_ *call, who *client) reply {
					return demand(who.token == good ||
						who.token == claims, 401)
				}})
		}
	}
	return out
}
