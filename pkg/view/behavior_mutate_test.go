package view

import "slices"

// rulesOf are the rules of all routes.
func rulesOf(docs []doc) []doc {
	var out []doc
	for _, o := range find(docs, "HTTPRoute") {
		for _, rule := range listOf(o, "rules") {
			out = append(out, rule.(doc))
		}
	}
	return out
}

func inRule(change func(drawn, doc) bool) func(drawn, []doc) []doc {
	return func(d drawn, docs []doc) []doc {
		rules := rulesOf(docs)
		d.Shuffle(len(rules), func(i, j int) { rules[i], rules[j] = rules[j], rules[i] })
		for _, rule := range rules {
			if change(d, rule) {
				return docs
			}
		}
		return nil
	}
}

func inMatch(change func(drawn, doc) bool) func(drawn, []doc) []doc {
	return inRule(func(d drawn, rule doc) bool { return change(d, one(d, rule["matches"].([]any)...).(doc)) })
}

func inObject(kind string, change func(drawn, doc) bool) func(drawn, []doc) []doc {
	return func(d drawn, docs []doc) []doc {
		all := find(docs, kind)
		d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, o := range all {
			if change(d, o) {
				return docs
			}
		}
		return nil
	}
}

func withoutOne(kind string) func(drawn, []doc) []doc {
	return func(d drawn, docs []doc) []doc {
		gone := one(d, find(docs, kind)...)
		return slices.DeleteFunc(docs, func(o doc) bool { return o["kind"] == kind && meta(o, "name") == meta(gone, "name") })
	}
}

func filterDoc(value string) doc {
	return doc{"type": "RequestHeaderModifier", "requestHeaderModifier": doc{"set": []any{doc{"name": "x-a", "value": value}}}}
}

var mutations = []edit{
	{"host", inObject("HTTPRoute", func(d drawn, o doc) bool {
		o["spec"].(doc)["hostnames"] = []any{one(d, "other.com", "x.b.com")}
		return true
	})},
	{"path value", inMatch(func(d drawn, m doc) bool { m["path"].(doc)["value"] = "/changed"; return true })},
	{"path type", inMatch(func(d drawn, m doc) bool {
		p := m["path"].(doc)
		p["type"] = map[string]string{"Exact": "PathPrefix", "PathPrefix": "Exact"}[p["type"].(string)]
		return true
	})},
	{"header", inMatch(func(d drawn, m doc) bool {
		m["headers"] = []any{doc{"name": "y", "value": "1"}}
		return true
	})},
	{"method", inMatch(func(d drawn, m doc) bool { m["method"] = "DELETE"; return true })},
	{"query", inMatch(func(d drawn, m doc) bool {
		m["queryParams"] = []any{doc{"name": "z", "value": "1"}}
		return true
	})},
	{"weight", inRule(func(d drawn, rule doc) bool {
		l := rule["backendRefs"].([]any)
		if len(l) < 2 {
			return false
		}
		l[0].(doc)["weight"] = 17
		return true
	})},
	{"backend", inRule(func(d drawn, rule doc) bool { rule["backendRefs"].([]any)[0].(doc)["name"] = "evil"; return true })},
	{"port", inRule(func(d drawn, rule doc) bool { rule["backendRefs"].([]any)[0].(doc)["port"] = 81; return true })},
	{"filter added", inRule(func(d drawn, rule doc) bool {
		if rule["filters"] != nil {
			return false
		}
		rule["filters"] = []any{filterDoc("2")}
		return true
	})},
	{"filter removed", inRule(func(d drawn, rule doc) bool {
		had := rule["filters"] != nil
		delete(rule, "filters")
		return had
	})},
	{"filter changed", inRule(func(d drawn, rule doc) bool {
		had := rule["filters"] != nil
		if had {
			rule["filters"] = []any{filterDoc("3")}
		}
		return had
	})},
	{"redirect", inRule(func(d drawn, rule doc) bool {
		rule["filters"] = []any{doc{"type": "RequestRedirect", "requestRedirect": doc{"scheme": "https"}}}
		return true
	})},
	{"timeout", inRule(func(d drawn, rule doc) bool { rule["timeouts"] = doc{"request": "1s"}; return true })},
	{"policy removed", withoutOne("Cache")},
	{"policy value", inObject("Cache", func(d drawn, o doc) bool {
		spec := o["spec"].(doc)
		for _, at := range []doc{spec, asDoc(spec["defaults"]), asDoc(spec["overrides"])} {
			for _, name := range []string{"auth", "ttl"} {
				if at[name] != nil {
					at[name] = "changed"
					return true
				}
			}
		}
		return false
	})},
	{"override for default", inObject("Cache", func(d drawn, o doc) bool {
		spec := o["spec"].(doc)
		had := spec["defaults"] != nil
		if had {
			spec["overrides"] = spec["defaults"]
			delete(spec, "defaults")
		}
		return had
	})},
	{"target section", inObject("Cache", func(d drawn, o doc) bool {
		had := targetOf(o)["kind"] == "Gateway"
		targetOf(o)["sectionName"] = "l1"
		return had
	})},
	{"listener hostname", inObject("Gateway", func(d drawn, o doc) bool {
		one(d, listOf(o, "listeners")...).(doc)["hostname"] = "other.com"
		return true
	})},
	{"listener removed", inObject("Gateway", func(d drawn, o doc) bool {
		o["spec"].(doc)["listeners"] = listOf(o, "listeners")[1:]
		return len(listOf(o, "listeners")) > 0
	})},
	{"allowed routes", inObject("Gateway", func(d drawn, o doc) bool {
		listOf(o, "listeners")[0].(doc)["allowedRoutes"] = doc{"namespaces": doc{"from": "Same"}}
		return true
	})},
	{"grant removed", withoutOne("ReferenceGrant")},
	{"route deleted", withoutOne("HTTPRoute")},
	{"age", func(d drawn, docs []doc) []doc {
		for _, o := range docs {
			if meta(o, "name") == "old" {
				o["metadata"].(doc)["creationTimestamp"] = stamp(400)
			}
		}
		return docs
	}},
	{"section of a parent", inObject("HTTPRoute", func(d drawn, o doc) bool {
		listOf(o, "parentRefs")[0].(doc)["sectionName"] = "l1"
		return true
	})},
}

func asDoc(v any) doc { out, _ := v.(doc); return out }
