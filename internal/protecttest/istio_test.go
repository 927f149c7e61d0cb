package protecttest

import (
	"slices"
	"strings"
)

// istio verifies tokens that are sent, and asks CUSTOM, DENY and ALLOW in that order. Simulated is
// what stands at the Gateway, read from the manifests.
var istio = vendor{
	name: "istio", controller: "istio.io/gateway-controller",
	uses: words{token: "jwtRules", mesh: "rincipals"}, tokens: []string{absent, bad, good, claims, "alice",
		"alice+claims"},
	draw: drawIstio, filters: filtersOfIstio,
}

const istioVersion = "security.istio.io/v1"

func drawIstio(w *world) {
	place := func(spec object) object {
		if !w.chance(4) {
			spec["targetRefs"] = []any{object{"group": apiGroup, "kind": "Gateway", "name": "gw"}}
		}
		return spec
	}
	for range 1 + w.IntN(3) {
		spec := place(object{})
		switch w.IntN(10) {
		case 0:
			spec["action"], spec["provider"] = "CUSTOM", object{"name": "ext"}
		case 1:
			spec["action"] = "AUDIT"
		case 2, 3, 4, 5:
			spec["action"] = "DENY"
		case 6:
			spec["action"] = "ALLOW"
		}
		var rules []any
		for range pick(w, 0, 1, 1, 2, 2) {
			rules = append(rules, w.drawIstioRule(spec["action"] == "DENY"))
		}
		if rules != nil {
			spec["rules"] = rules
		}
		o := w.add(istioVersion, "AuthorizationPolicy", spec)
		if w.chance(8) {
			o["metadata"].(object)["annotations"] = object{"istio.io/dry-run": "true"}
		}
	}
	asked := strings.Contains(string(w.manifests()), "equestPrincipals") ||
		strings.Contains(string(w.manifests()), "request.auth")
	if asked || w.chance(2) {
		w.add(istioVersion, "RequestAuthentication",
			place(object{"jwtRules": []any{object{"issuer": "https://idp.example"}}}))
	}
}

// drawIstioRule draws a rule. Only those that deny have paths that must not fit: with others, they
// could be for all paths together.
func (w *world) drawIstioRule(denies bool) object {
	rule := object{}
	if !w.chance(3) {
		var from []any
		for range 1 + w.IntN(2) {
			source := object{}
			for range 1 + w.IntN(2) {
				switch w.IntN(7) {
				case 0, 1:
					source["requestPrincipals"] = []any{pick(w, "*", "https://idp.example/alice")}
				case 2:
					source["notRequestPrincipals"] = []any{"*"}
				case 3:
					source["principals"] = []any{"*"}
				case 4:
					source["ipBlocks"] = []any{pick(w, networks...)}
				case 5:
					source["notIpBlocks"] = []any{pick(w, networks...)}
				case 6:
					source["notPrincipals"] = []any{"*"}
				}
			}
			from = append(from, object{"source": source})
		}
		rule["from"] = from
	}
	if w.chance(3) {
		operation := object{}
		switch n := w.IntN(4); {
		case n == 0:
			operation["methods"] = []any{pick(w, "GET", "POST")}
		case n == 1 || n == 2 && !denies:
			operation["paths"] = []any{pick(w, "/a", "/a*", "*x", "/b")}
		case n == 2:
			operation["notPaths"] = []any{pick(w, "/a", "/a*")}
		case n == 3:
			operation["notMethods"] = []any{pick(w, "GET", "POST")}
			operation["paths"] = []any{"/a*"}
		}
		w.related = true
		rule["to"] = []any{object{"operation": operation}}
	}
	if w.chance(4) {
		condition := object{}
		values := pick(w, "values", "values", "notValues")
		switch w.IntN(3) {
		case 0:
			condition["key"], condition[values] = "request.auth.claims[groups]", []any{"admin"}
		case 1:
			condition["key"], condition[values] = "request.headers[x-team]", []any{"blue"}
		case 2:
			condition["key"], condition[values] = "source.ip", []any{networks[0]}
		}
		rule["when"] = []any{condition}
	}
	return rule
}

func filtersOfIstio(w *world, _ *place) []filter {
	var out []filter
	verified := len(w.ofKind("RequestAuthentication")) > 0
	if verified {
		out = append(out,
			filter{name: "tokens", does: func(_ *call, who *client) reply { return demand(who.token != bad, 401) }})
	}
	byAction := map[string][]object{}
	for _, o := range w.ofKind("AuthorizationPolicy") {
		action := text(o, "spec", "action")
		if action == "" {
			action = "ALLOW"
		}
		if text(o, "metadata", "annotations", "istio.io/dry-run") == "true" {
			continue
		}
		byAction[action] = append(byAction[action], o)
	}
	matched := func(policies []object, c *call, who *client) bool {
		for _, o := range policies {
			for _, rule := range list(o, "spec", "rules") {
				if fitsIstio(rule, c, who, verified) {
					return true
				}
			}
		}
		return false
	}
	if all := byAction["CUSTOM"]; all != nil {
		out = append(out, filter{name: "CUSTOM", decides: true, partly: true, does: func(c *call, who *client) reply {
			if matched(all, c, who) {
				return ask(maybe, 0)
			}
			return pass()
		}})
	}
	if len(byAction["DENY"])+len(byAction["ALLOW"]) == 0 {
		return out
	}
	return append(out, filter{name: "DENY and ALLOW", decides: true, does: func(c *call, who *client) reply {
		if matched(byAction["DENY"], c, who) {
			return refuse(403)
		}
		return demand(len(byAction["ALLOW"]) == 0 || matched(byAction["ALLOW"], c, who), 403)
	}})
}

// fitsIstio reports whether a rule matches: one of its sources, one of its operations, and all of
// its conditions.
func fitsIstio(rule any, c *call, who *client, verified bool) bool {
	principal, groups := "", ""
	if verified && who.token != absent && who.token != bad {
		principal = "https://idp.example/bob"
		if strings.HasPrefix(who.token, "alice") {
			principal = "https://idp.example/alice"
		}
		if strings.HasSuffix(who.token, claims) {
			groups = "admin"
		}
	}
	peer := ""
	if who.mesh {
		peer = "cluster.local/ns/x/sa/y"
	}
	from, to := list(rule, "from"), list(rule, "to")
	if len(from) > 0 && !slices.ContainsFunc(from, func(f any) bool {
		s := value(f, "source")
		return fitsTexts(s, "requestPrincipals", principal) && fitsTexts(s, "principals", peer) &&
			fitsAddress(texts(s, "ipBlocks"), texts(s, "notIpBlocks"), who.address)
	}) {
		return false
	}
	if len(to) > 0 && !slices.ContainsFunc(to, func(t any) bool {
		o := value(t, "operation")
		return fitsTexts(o, "methods", c.method) && fitsTexts(o, "paths", c.path)
	}) {
		return false
	}
	return !slices.ContainsFunc(list(rule, "when"), func(one any) bool {
		switch text(one, "key") {
		case "source.ip":
			return !fitsAddress(texts(one, "values"), texts(one, "notValues"), who.address)
		case "request.headers[x-team]":
			return !fitsTexts(one, "values", c.team)
		}
		return !fitsTexts(one, "values", groups)
	})
}

func fitsAddress(in, out []string, address string) bool {
	return (len(in) == 0 || inNetworks(address, in...)) && (len(out) == 0 || !inNetworks(address, out...))
}

// fitsTexts holds a text against a field with patterns, and one with those that must not fit.
func fitsTexts(fields any, name, value string) bool {
	in, out := texts(fields, name), texts(fields, "not"+strings.ToUpper(name[:1])+name[1:])
	fits := func(pattern string) bool {
		switch {
		case value == "":
			return false
		case pattern == "*":
			return true
		case strings.HasPrefix(pattern, "*"):
			return strings.HasSuffix(value, pattern[1:])
		case strings.HasSuffix(pattern, "*"):
			return strings.HasPrefix(value, pattern[:len(pattern)-1])
		}
		return value == pattern
	}
	return (len(in) == 0 || slices.ContainsFunc(in, fits)) && !slices.ContainsFunc(out, fits)
}
