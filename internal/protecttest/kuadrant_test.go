package protecttest

import (
	"maps"
	"slices"
	"strings"
)

// kuadrant asks for limits first, unless one of them reads the identity, then for any of the
// methods and for all authorizations.
var kuadrant = vendor{
	name: "kuadrant", controller: "istio.io/gateway-controller",
	uses: words{token: "jwt", key: "apiKey"},
	draw: drawKuadrant, filters: filtersOfKuadrant,
}

func drawKuadrant(w *world) {
	block := func(kind string, spec object) {
		target := w.target()
		out := object{"targetRef": target}
		switch w.IntN(4) {
		case 0:
			spec["strategy"] = pick(w, "atomic", "merge")
			out["defaults"] = spec
		case 1:
			spec["strategy"] = pick(w, "atomic", "merge")
			out["overrides"] = spec
		default:
			maps.Copy(out, spec)
		}
		w.add("kuadrant.io/v1", kind, out)
	}
	for range 1 + w.IntN(3) {
		spec := object{"rules": w.drawLogin()}
		if w.chance(10) {
			spec["when"] = []any{object{"predicate": "request.host == 'a'"}}
		}
		block("AuthPolicy", spec)
	}
	for range w.IntN(3) {
		limits := object{}
		for _, name := range []string{"a", "b"} {
			if len(limits) == 1 && w.chance(2) {
				continue
			}
			limit := object{"rates": []any{object{"limit": 5, "window": "10s"}}}
			if w.chance(6) {
				limit["when"] = []any{object{"predicate": "request.host == 'a'"}}
			}
			if w.chance(4) {
				limit["counters"] = []any{object{"expression": pick(w, "auth.identity.userid", "source.address")}}
			}
			limits[name] = limit
		}
		block("RateLimitPolicy", object{"limits": limits})
	}
}

// drawLogin draws the rules of an AuthPolicy.
func (w *world) drawLogin() object {
	methods, decisions := object{}, object{}
	for _, name := range []string{"a", "b", "c"} {
		if !w.chance(2) {
			continue
		}
		var method object
		switch w.IntN(5) {
		case 0, 1:
			method = object{"jwt": object{"issuerUrl": "https://idp.example"}}
		case 2, 3:
			method = object{"apiKey": object{"selector": object{"matchLabels": object{"a": "b"}}},
				"credentials": object{"customHeader": object{"name": "x-key"}}}
		case 4:
			method = object{"anonymous": object{}}
		}
		if w.chance(8) {
			method["when"] = []any{object{"predicate": "request.host == 'a'"}}
		}
		methods[name] = method
	}
	for _, name := range []string{"d", "e"} {
		if !w.chance(3) {
			continue
		}
		var decision object
		switch w.IntN(6) {
		case 0:
			decision = object{"opa": object{"rego": pick(w, "allow = true", "allow { true }", "default allow = true")}}
		case 1:
			decision = object{"opa": object{"rego": `allow { input.auth.identity.a == "x" }`}}
		case 2:
			decision = object{"patternMatching": object{"patterns": []any{object{"predicate": "true"}}}}
		default:
			decision = object{"patternMatching": object{
				"patterns": []any{object{"predicate": "auth.identity.a == 'x'"}, object{"predicate": "true"}}}}
		}
		if w.chance(6) {
			decision["when"] = []any{object{"predicate": "request.host == 'a'"}}
		}
		decisions[name] = decision
	}
	out := object{}
	if len(methods) > 0 {
		out["authentication"] = methods
	}
	if len(decisions) > 0 {
		out["authorization"] = decisions
	}
	if len(out) == 0 || w.chance(4) {
		out["response"] = object{"unauthenticated": object{"code": 302}}
	}
	return out
}

func filtersOfKuadrant(_ *world, p *place) []filter {
	var out []filter
	s := p.settings["AuthPolicy"]
	if s != nil {
		conditional := len(list(s, "when")) > 0
		guarded := func(r reply) reply {
			if conditional && r.passes == no {
				r.passes = maybe
			}
			return r
		}
		code := func(word string, standard int) int {
			if n, ok := value(s, "rules", "response", word, "code").(float64); ok {
				return int(n)
			}
			return standard
		}
		out = append(out, filter{name: "authentication", does: func(_ *call, who *client) reply {
			methods, _ := value(s, "rules", "authentication").(object)
			best := is(len(methods) == 0)
			for _, m := range methods {
				fits := is(value(m, "anonymous") != nil || value(m, "jwt") != nil && who.token != absent &&
					who.token != bad || value(m, "apiKey") != nil && who.key == good)
				if len(list(m, "when")) > 0 {
					fits = min(fits, maybe)
				}
				best = max(best, fits)
			}
			return guarded(ask(best, code("unauthenticated", 401)))
		}})
		decisions, _ := value(s, "rules", "authorization").(object)
		for _, name := range slices.Sorted(maps.Keys(decisions)) {
			out = append(out, filter{name: name, decides: true, does: func(*call, *client) reply {
				return guarded(ask(decidedByAuthorino(decisions[name]), code("unauthorized", 403)))
			}})
		}
	}
	limits := p.settings["RateLimitPolicy"]
	if limits == nil {
		return out
	}
	reads := false
	counted := no
	all, _ := limits["limits"].(object)
	for _, limit := range all {
		one := yes
		if len(list(limit, "when"))+len(list(limits, "when")) > 0 {
			one = maybe
		}
		counted = max(counted, one)
		for _, c := range list(limit, "counters") {
			reads = reads || strings.Contains(text(c, "expression"), "auth.")
		}
	}
	limiter := filter{name: "limits", does: func(*call, *client) reply { return count(counted) }}
	if reads {
		return append(out, limiter)
	}
	return append([]filter{limiter}, out...)
}

// decidedByAuthorino is what one authorization says to anybody.
func decidedByAuthorino(decision any) truth {
	switch text(decision, "opa", "rego") {
	case "allow = true", "allow { true }", "default allow = true":
		return yes
	case "":
		for _, p := range list(decision, "patternMatching", "patterns") {
			if text(p, "predicate") != "true" {
				return maybe
			}
		}
		return yes
	}
	return maybe
}
