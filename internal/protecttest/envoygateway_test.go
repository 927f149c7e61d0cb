package protecttest

import (
	"net/netip"
	"slices"
	"strings"
)

const envoyGatewayVersion = "gateway.envoyproxy.io/v1alpha1"

// envoyGateway asks extAuth, API keys, basic authentication, OIDC, JWT, the authorization and then
// limits (internal/xds/translator/httpfilters.go:106-150 @ v1.9.1).
var envoyGateway = vendor{
	name: "envoygateway", controller: "gateway.envoyproxy.io/gatewayclass-controller", secure: true,
	uses: words{token: "jwt", basic: "basicAuth", key: "apiKeyAuth", session: "oidc"},
	draw: drawEnvoyGateway, filters: filtersOfEnvoyGateway,
}

func drawEnvoyGateway(w *world) {
	for range 1 + w.IntN(3) {
		spec := object{}
		target := w.target()
		spec["targetRefs"] = []any{target}
		if target["kind"] == "HTTPRoute" && w.chance(4) {
			spec["mergeType"] = pick(w, "StrategicMerge", "JSONMerge")
		}
		w.drawSecurity(spec)
		w.add(envoyGatewayVersion, "SecurityPolicy", spec)
	}
	if w.chance(2) {
		w.add(envoyGatewayVersion, "BackendTrafficPolicy", object{"targetRefs": []any{w.target()},
			"rateLimit": w.drawRateLimit()})
	}
	if l := w.listeners[len(w.listeners)-1]; l.secure && w.chance(2) {
		validation := object{"caCertificateRefs": []any{object{"kind": "Secret", "group": "", "name": "pair"}}}
		switch w.IntN(3) {
		case 0:
			validation["optional"] = w.chance(2)
		case 1:
			validation["mode"] = pick(w, "Request", "RequireAny", "VerifyIfGiven", "RequireAndVerify")
		}
		w.add(envoyGatewayVersion, "ClientTrafficPolicy",
			object{"targetRefs": []any{object{"group": apiGroup, "kind": "Gateway", "name": "gw",
				"sectionName": l.name}},
				"tls": object{"clientValidation": validation}})
	}
}

func (w *world) drawSecurity(spec object) {
	if w.chance(5) {
		spec["apiKeyAuth"] = object{"credentialRefs": []any{object{"name": "keys"}},
			"extractFrom": []any{object{"headers": []any{"x-key"}}}}
	}
	if w.chance(5) {
		spec["basicAuth"] = object{"users": object{"name": "users"}}
	}
	if w.chance(3) {
		jwt := object{"providers": []any{object{"name": "p", "issuer": "https://idp.example",
			"remoteJWKS": object{"uri": "https://idp.example/keys"}}}}
		if w.chance(3) {
			jwt[pick(w, "optional", "failOpen")] = !w.chance(4)
		}
		spec["jwt"] = jwt
	}
	if w.chance(5) {
		oidc := object{"provider": object{"issuer": "https://idp.example"}, "clientID": "a",
			"clientSecret": object{"name": "secret"}}
		if spec["jwt"] != nil && w.chance(2) {
			oidc["passThroughAuthHeader"] = true
		}
		spec["oidc"] = oidc
	}
	if w.chance(8) {
		extAuth := object{"http": object{"backendRefs": []any{object{"name": "web", "port": 80}}}}
		if w.chance(2) {
			extAuth["failOpen"] = true
		}
		spec["extAuth"] = extAuth
	}
	if w.chance(2) {
		spec["authorization"] = w.drawAuthorization(spec["jwt"] != nil)
	}
	if len(spec) <= 2 {
		spec["cors"] = object{"allowOrigins": []any{"https://a.example"}}
	}
}

func (w *world) drawAuthorization(tokens bool) object {
	out := object{}
	if w.chance(2) {
		out["defaultAction"] = pick(w, "Allow", "Allow", "Deny")
	}
	var rules []any
	for i := range w.IntN(4) {
		rule := object{"name": string(rune('a' + i)), "action": pick(w, "Allow", "Deny")}
		if w.chance(3) {
			operation := object{}
			if w.chance(2) {
				operation["methods"] = []any{pick(w, "GET", "POST")}
			}
			if len(operation) == 0 || w.chance(2) {
				operation["path"] = object{"type": pick(w, "Exact", "PathPrefix", "RegularExpression"),
					"value": pick(w, "/a", "/b", "/a/x")}
				if w.chance(5) {
					operation["path"].(object)["invert"] = true
				}
				w.related = true
			}
			rule["operation"] = operation
		}
		principal := object{}
		if w.chance(3) {
			principal["clientCIDRs"] = slices.Concat([]any{pick(w, networks[0], networks[1], "0.0.0.0/0")},
				some(w, 3, networks[0]))
		}
		if tokens && w.chance(2) {
			jwt := object{"provider": "p"}
			if w.chance(3) {
				jwt["claims"] = []any{object{"name": "groups", "valueType": "StringArray", "values": []any{"admin"}}}
			}
			principal["jwt"] = jwt
		}
		if len(principal) == 0 || w.chance(5) {
			values := slices.Concat([]any{"blue"}, some(w, 4, "red"))
			principal["headers"] = []any{object{"name": "x-team", "values": values}}
			w.related = w.related || len(values) > 1
		}
		rule["principal"] = principal
		rules = append(rules, rule)
	}
	if rules != nil {
		out["rules"] = rules
	}
	return out
}

func (w *world) drawRateLimit() object {
	var rules []any
	for range 1 + w.IntN(2) {
		rule := object{"limit": object{"requests": 10, "unit": "Minute"}}
		if w.chance(2) {
			selector := object{}
			switch w.IntN(4) {
			case 0:
				selector["headers"] = []any{object{"name": "x-team", "type": pick(w, "Exact", "Distinct"),
					"value": "blue"}}
				if h := selector["headers"].([]any)[0].(object); h["type"] == "Distinct" {
					delete(h, "value")
				}
			case 1:
				selector["methods"] = []any{object{"value": pick(w, "GET", "POST")}}
			case 2:
				selector["path"] = object{"type": pick(w, "Exact", "PathPrefix"), "value": pick(w, "/a", "/b")}
			case 3:
				selector["sourceCIDR"] = object{"type": "Exact", "value": pick(w, networks[0], "0.0.0.0/0")}
			}
			rule["clientSelectors"] = []any{selector}
		}
		if w.chance(5) {
			rule["shadowMode"] = true
		}
		rules = append(rules, rule)
	}
	which := pick(w, "Global", "Local")
	return object{"type": which, strings.ToLower(which): object{"rules": rules}}
}

func filtersOfEnvoyGateway(w *world, p *place) []filter {
	var out []filter
	add := func(name string, decides bool, does func(*call, *client) reply) {
		out = append(out, filter{name: name, decides: decides, does: does})
	}
	if tls := value(p.above["ClientTrafficPolicy"], "tls", "clientValidation"); tls != nil {
		add("clientValidation", false, func(c *call, who *client) reply {
			mode := text(tls, "mode")
			if mode == "" && flag(tls, "optional") {
				mode = "VerifyIfGiven"
			}
			return demand(!c.secure || handshake(mode, who.certificate), noAnswer)
		})
	}
	s := p.settings["SecurityPolicy"]
	if s["extAuth"] != nil {
		add("extAuth", true, func(*call, *client) reply { return ask(maybe, 0) })
	}
	if s["apiKeyAuth"] != nil {
		add("apiKeyAuth", false, func(_ *call, who *client) reply { return demand(who.key == good, 401) })
	}
	if s["basicAuth"] != nil {
		add("basicAuth", false, func(_ *call, who *client) reply { return demand(who.basic == good, 401) })
	}
	jwt, oidc := s["jwt"], s["oidc"]
	passThrough := flag(oidc, "passThroughAuthHeader") && jwt != nil
	if oidc != nil {
		add("oidc", false, func(_ *call, who *client) reply {
			return demand(who.session || passThrough && who.token != absent, 302)
		})
	}
	if jwt != nil {
		add("jwt", false, func(_ *call, who *client) reply {
			switch {
			case who.token == absent && passThrough && who.session: // the token of the session may be forwarded
				return ask(maybe, 401)
			case who.token == absent:
				return demand(flag(jwt, "optional") || flag(jwt, "failOpen"), 401)
			case who.token == bad:
				return demand(flag(jwt, "failOpen"), 401)
			}
			return pass()
		})
	}
	if authorization := s["authorization"]; authorization != nil {
		add("authorization", true,
			func(c *call, who *client) reply { return demand(authorizedByEnvoyGateway(authorization, c, who), 403) })
	}
	limit := value(p.settings["BackendTrafficPolicy"], "rateLimit")
	if limit != nil {
		rules := list(limit, strings.ToLower(text(limit, "type")), "rules")
		add("rateLimit", false, func(c *call, who *client) reply {
			counted := slices.ContainsFunc(rules, func(rule any) bool {
				return !flag(rule, "shadowMode") &&
					selectedByEnvoyGateway(rule, c, who)
			})
			return count(is(counted))
		})
	}
	return out
}

// handshake reports whether a TLS listener of Envoy Gateway accepts a certificate.
func handshake(mode, certificate string) bool {
	switch mode {
	case "Request":
		return true
	case "RequireAny":
		return certificate != absent
	case "VerifyIfGiven":
		return certificate != bad
	}
	return certificate == good
}

// authorizedByEnvoyGateway goes through the rules: the first that matches decides.
func authorizedByEnvoyGateway(authorization any, c *call, who *client) bool {
	for _, rule := range list(authorization, "rules") {
		operation, principal := value(rule, "operation"), value(rule, "principal")
		if m := texts(operation, "methods"); len(m) > 0 && !slices.Contains(m, c.method) {
			continue
		}
		if path := value(operation, "path"); path != nil && pathFits(text(path, "type"), text(path, "value"),
			c.path) == flag(path, "invert") {
			continue
		}
		if cidrs := texts(principal, "clientCIDRs"); len(cidrs) > 0 && !inNetworks(who.address, cidrs...) {
			continue
		}
		if jwt := value(principal, "jwt"); jwt != nil {
			if who.token != good && who.token != claims || len(list(jwt, "claims")) > 0 && who.token != claims {
				continue
			}
		}
		if !slices.ContainsFunc(list(principal, "headers"),
			func(h any) bool { return slices.Contains(texts(h, "values"), c.team) }) && principal != nil &&
			len(list(principal, "headers")) > 0 {
			continue
		}
		return text(rule, "action") != "Deny"
	}
	return text(authorization, "defaultAction") == "Allow"
}

// selectedByEnvoyGateway reports whether all selectors of a limit fit.
func selectedByEnvoyGateway(rule any, c *call, who *client) bool {
	for _, s := range list(rule, "clientSelectors") {
		if m := list(s, "methods"); len(m) > 0 &&
			!slices.ContainsFunc(m, func(m any) bool { return text(m, "value") == c.method }) {
			return false
		}
		if path := value(s, "path"); path != nil && !pathFits(text(path, "type"), text(path, "value"), c.path) {
			return false
		}
		for _, h := range list(s, "headers") {
			if c.team == "" || text(h, "type") != "Distinct" && text(h, "value") != c.team {
				return false
			}
		}
		if cidr := text(s, "sourceCIDR", "value"); cidr != "" && !inNetworks(who.address, cidr) {
			return false
		}
	}
	return true
}

// pathFits compares a path as the Gateway API does; the expressions that are drawn have no
// operators, so that they are equal to texts.
func pathFits(kind, value, path string) bool {
	if kind != "PathPrefix" && kind != "" {
		return path == value
	}
	return path == value || strings.HasPrefix(path, strings.TrimSuffix(value, "/")+"/")
}

func inNetworks(address string, networks ...string) bool {
	return slices.ContainsFunc(networks,
		func(n string) bool { return netip.MustParsePrefix(n).Contains(netip.MustParseAddr(address)) })
}
