package protecttest

import (
	"slices"
	"strings"
)

// agentgateway asks logins, a service, the authorization and limits in that order, first those of
// the phase before routing and then those of the route.
var agentgateway = vendor{
	name: "agentgateway", controller: "agentgateway.dev/agentgateway",
	uses: words{token: "jwtAuth", basic: "basicAuth", key: "apiKeyAuth", opaque: "request."},
	draw: drawAgentgateway, filters: filtersOfAgentgateway,
}

func drawAgentgateway(w *world) {
	for range 1 + w.IntN(4) {
		target, traffic := w.target(), object{}
		if target["kind"] == "Gateway" && w.chance(2) {
			traffic["phase"] = "PreRouting"
		}
		mode := func(modes ...string) string { return pick(w, append(modes, "Strict", "Strict")...) }
		if w.chance(3) {
			traffic["jwtAuthentication"] = object{"mode": mode("Optional", "Permissive"),
				"providers": []any{object{"issuer": "https://idp.example", "jwks": object{"inline": `{"keys":[]}`}}}}
		}
		if w.chance(5) {
			traffic["basicAuthentication"] = object{"mode": mode("Optional"), "users": []any{"a:$apr1$x"}}
		}
		if w.chance(5) {
			traffic["apiKeyAuthentication"] = object{"mode": mode("Optional", "Permissive"),
				"secretRef": object{"name": "keys"}}
		}
		if w.chance(2) {
			opaque := "request.headers['x-team'] == 'blue'"
			if traffic["phase"] != nil {
				opaque = "true" // one expression in two decisions is not looked at
			}
			expressions := slices.Concat([]any{pick(w, "true", "false",
				"cidr('10.0.0.0/8').containsIP(source.address)", "cidr('192.0.2.0/24').containsIP(source.address)",
				opaque)},
				some(w, 4, "cidr('10.0.0.0/8').containsIP(source.address)"))
			traffic["authorization"] = object{"action": pick(w, "Allow", "Deny", "Require"),
				"policy": object{"matchExpressions": expressions}}
		}
		if traffic["phase"] == nil && w.chance(4) {
			traffic["rateLimit"] = object{"local": []any{object{"requests": 5, "unit": "Minutes"}}}
		}
		if w.chance(10) {
			traffic["extAuth"] = object{"backendRef": object{"name": "web", "port": 80}, "grpc": object{}}
			if w.chance(3) {
				traffic["extAuth"].(object)["failureMode"] = "FailOpen"
			}
		}
		if len(traffic) == 0 || len(traffic) == 1 && traffic["phase"] != nil {
			delete(traffic, "phase")
			traffic["timeouts"] = object{"request": "5s"}
		}
		w.add("agentgateway.dev/v1alpha1", "AgentgatewayPolicy", object{"targetRefs": []any{target},
			"traffic": traffic})
	}
	if w.chance(4) {
		w.add("agentgateway.dev/v1alpha1", "AgentgatewayPolicy",
			object{"targetRefs": []any{object{"group": apiGroup, "kind": "Gateway", "name": "gw"}},
				"frontend": object{"networkAuthorization": object{"policy": object{"matchExpressions": []any{pick(w,
					"cidr('10.0.0.0/8').containsIP(source.address)",
					"cidr('0.0.0.0/0').containsIP(source.address)")}}}}})
	}
	w.objects = append(w.objects, object{"apiVersion": "v1", "kind": "Secret", "metadata": object{"name": "keys",
		"namespace": namespace}, "stringData": object{"a": "b"}})
}

func filtersOfAgentgateway(_ *world, p *place) []filter {
	above, own := p.above["AgentgatewayPolicy"], p.settings["AgentgatewayPolicy"]
	var out []filter
	if rules := value(above, "frontend", "networkAuthorization"); rules != nil {
		out = append(out, filter{name: "networkAuthorization",
			does: func(_ *call, who *client) reply { return ask(allowedByAgentgateway(rules, who), noAnswer) }})
	}
	return append(append(out, trafficFilters(value(above, "traffic"))...), trafficFilters(value(own, "traffic"))...)
}

// trafficFilters are those of one phase.
func trafficFilters(traffic any) []filter {
	var out []filter
	login := func(name string, credential func(*client) string) {
		setting := value(traffic, name)
		if setting == nil {
			return
		}
		out = append(out, filter{name: name, does: func(_ *call, who *client) reply {
			switch c := credential(who); {
			case c == absent:
				return demand(text(setting, "mode") == "Optional" || text(setting, "mode") == "Permissive", 401)
			case c == bad:
				return demand(text(setting, "mode") == "Permissive", 401)
			}
			return pass()
		}})
	}
	login("jwtAuthentication", func(c *client) string { return c.token })
	login("basicAuthentication", func(c *client) string { return c.basic })
	login("apiKeyAuthentication", func(c *client) string { return c.key })
	if value(traffic, "extAuth") != nil {
		out = append(out, filter{name: "extAuth", decides: true,
			does: func(*call, *client) reply { return ask(maybe, 0) }})
	}
	if rules := value(traffic, "authorization"); rules != nil {
		out = append(out, filter{name: "authorization", decides: true,
			does: func(_ *call, who *client) reply { return ask(allowedByAgentgateway(rules, who), 403) }})
	}
	if len(list(traffic, "rateLimit", "local")) > 0 {
		out = append(out, filter{name: "rateLimit", does: func(*call, *client) reply { return count(yes) }})
	}
	return out
}

// allowedByAgentgateway takes the rules of all policies together.
func allowedByAgentgateway(v any, who *client) truth {
	all, ok := v.([]any)
	if !ok {
		all = []any{v}
	}
	denied, required, allowed, some := no, yes, no, false
	for _, one := range all {
		for _, expression := range texts(one, "policy", "matchExpressions") {
			t := is(who.opaque)
			if network, found := strings.CutPrefix(expression, "cidr('"); found {
				network, _, _ = strings.Cut(network, "'")
				t = is(inNetworks(who.address, network))
			} else if expression == "true" || expression == "false" {
				t = is(expression == "true")
			}
			switch text(one, "action") {
			case "Deny":
				denied = max(denied, t)
			case "Require":
				required = min(required, t)
			default:
				some, allowed = true, max(allowed, t)
			}
		}
	}
	out := min(denied.not(), required)
	if some {
		out = min(out, allowed)
	}
	return out
}
