package protecttest

import (
	"net/netip"
	"slices"
)

// kgateway asks the access list, external services, logins, RBAC and limits in that order. The mode
// of tokens is in the GatewayExtension.
var kgateway = vendor{
	name: "kgateway", controller: "kgateway.dev/kgateway", secure: true,
	uses: words{token: "jwtAuth", basic: "basicAuth", key: "apiKeyAuth", opaque: "request."},
	draw: drawKgateway, filters: filtersOfKgateway,
}

const kgatewayVersion = "gateway.kgateway.dev/v1alpha1"

func drawKgateway(w *world) {
	w.objects = append(w.objects, object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": "keys",
		"namespace": namespace}, "stringData": object{"a": "b"}})
	jwks := object{"local": object{"inline": `{"keys":[]}`}}
	for name, jwt := range map[string]object{"strict": {}, "loose": {"validationMode": "AllowMissing"}} {
		jwt["providers"] = []any{object{"name": "p", "issuer": "https://idp.example", "jwks": jwks}}
		w.named(kgatewayVersion, "GatewayExtension", name, object{"jwt": jwt})
	}
	for name, open := range map[string]bool{"service": false, "open": true} {
		w.named(kgatewayVersion, "GatewayExtension", name,
			object{"extAuth": object{"failOpen": open, "grpcService": object{"backendRef": object{"name": "web",
				"port": 80}}}})
	}
	listed := map[any]string{} // the same in all lists, which are merged
	for _, cidr := range []string{networks[0], networks[1], "10.1.0.0/16"} {
		listed[cidr] = pick(w, "allow", "deny")
	}
	for range 1 + w.IntN(3) {
		target := w.target()
		spec := object{"targetRefs": []any{target}}
		if w.chance(3) {
			spec["jwtAuth"] = pick(w, object{"extensionRef": object{"name": "strict"}},
				object{"extensionRef": object{"name": "loose"}}, object{"disable": object{}})
		}
		if w.chance(5) {
			spec["basicAuth"] = pick(w, object{"users": []any{"a:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="}},
				object{"users": []any{"a:{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ="}}, object{"disable": object{}})
		}
		if w.chance(5) {
			spec["apiKeyAuth"] = pick(w, object{"secretRef": object{"name": "keys"},
				"keySources": []any{object{"header": "x-key"}}}, object{"disable": object{}})
		}
		if w.chance(8) {
			spec["extAuth"] = pick(w, object{"extensionRef": object{"name": "service"}},
				object{"extensionRef": object{"name": "open"}}, object{"disable": object{}})
		}
		if w.chance(4) {
			spec["rbac"] = object{"action": pick(w, "Allow", "Deny"),
				"policy": object{"matchExpressions": slices.Concat([]any{pick(w, "true", "false",
					"request.path == '/a'")}, some(w, 4, "true"))}}
		}
		if w.chance(4) {
			acl := object{"defaultAction": pick(w, "allow", "deny")}
			var rules []any
			for _, cidr := range some(w, 3, networks[0], networks[1], "10.1.0.0/16") {
				rules = append(rules, object{"action": listed[cidr], "cidrs": []any{cidr}})
			}
			if acl["defaultAction"] == "deny" && w.chance(5) {
				rules = append(rules, object{"action": "allow", "cidrs": []any{"0.0.0.0/0"}})
			}
			if rules != nil {
				acl["rules"] = rules
			}
			spec["acl"] = acl
		}
		if w.chance(3) {
			local := object{"tokenBucket": object{"maxTokens": 5, "fillInterval": "1s"}}
			switch w.IntN(5) {
			case 0:
				local = object{}
			case 1:
				local["percentEnforced"] = pick(w, 0, 100)
			}
			spec["rateLimit"] = object{"local": local}
		}
		if len(spec) == 1 {
			spec["timeouts"] = object{"request": "5s"}
		}
		w.add(kgatewayVersion, "TrafficPolicy", spec)
	}
	w.drawFrontend()
}

func filtersOfKgateway(w *world, p *place) []filter {
	out := frontendFilters(w)
	add := func(name string, decides bool, does func(*call, *client) reply) {
		out = append(out, filter{name: name, decides: decides, does: does})
	}
	s := p.settings["TrafficPolicy"]
	if acl := s["acl"]; acl != nil {
		add("acl", false, func(_ *call, who *client) reply { return ask(listedByKgateway(acl, who.address), 403) })
	}
	if key := s["apiKeyAuth"]; key != nil && value(key, "disable") == nil {
		add("apiKeyAuth", false, func(_ *call, who *client) reply { return demand(who.key == good, 401) })
	}
	if basic := s["basicAuth"]; basic != nil && value(basic, "disable") == nil {
		add("basicAuth", false, func(_ *call, who *client) reply { return demand(who.basic == good, 401) })
	}
	for range named(s["extAuth"]) {
		add("extAuth", true, func(*call, *client) reply { return ask(maybe, 0) })
	}
	for _, extension := range named(s["jwtAuth"]) {
		add("jwtAuth", false, func(_ *call, who *client) reply {
			return demand(who.token == good || who.token == claims || who.token == absent && extension == "loose", 401)
		})
	}
	if rbac := s["rbac"]; rbac != nil {
		add("rbac", true, func(_ *call, who *client) reply {
			matched := no
			for _, e := range texts(rbac, "policy", "matchExpressions") {
				switch e {
				case "true":
					matched = yes
				case "false":
				default:
					matched = max(matched, is(who.opaque))
				}
			}
			if text(rbac, "action") == "Deny" {
				matched = matched.not()
			}
			return ask(matched, 403)
		})
	}
	if local, ok := value(s, "rateLimit", "local").(object); ok {
		off := func(v any) bool { n, ok := v.(float64); return ok && n == 0 }
		counted := is(len(local) > 0 && !off(local["percentEnforced"]) && !off(local["percentEnabled"]))
		add("rateLimit", false, func(*call, *client) reply { return count(counted) })
	}
	return out
}

// named are the extensions that a setting names, of one policy or of several.
func named(v any) []string {
	all, ok := v.([]any)
	if !ok {
		all = []any{v}
	}
	var out []string
	for _, one := range all {
		if name := text(one, "extensionRef", "name"); name != "" {
			out = append(out, name)
		}
	}
	return out
}

// listedByKgateway reports whether an access list allows an address: the longest prefix decides. Of
// one that is both allowed and denied it is not known.
func listedByKgateway(acl any, address string) truth {
	best, allowed := -1, is(text(acl, "defaultAction") == "allow")
	for _, rule := range list(acl, "rules") {
		for _, cidr := range texts(rule, "cidrs") {
			network := netip.MustParsePrefix(cidr)
			one := is(text(rule, "action") == "allow")
			switch {
			case !network.Contains(netip.MustParseAddr(address)) || network.Bits() < best:
			case network.Bits() == best && one != allowed:
				allowed = maybe
			default:
				best, allowed = network.Bits(), one
			}
		}
	}
	return allowed
}
