package behavior

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
)

// rulesOf are the rules of all routes.
func rulesOf(docs []viewtest.Doc) []viewtest.Doc {
	var out []viewtest.Doc
	for _, o := range viewtest.OfKinds(docs, "HTTPRoute") {
		for _, rule := range viewtest.SpecList(o, "rules") {
			out = append(out, rule.(viewtest.Doc))
		}
	}
	return out
}

func inRule(change func(viewtest.Generator, viewtest.Doc) bool) func(viewtest.Generator,
	[]viewtest.Doc) []viewtest.Doc {
	return func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
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

func inMatch(change func(viewtest.Generator, viewtest.Doc) bool) func(viewtest.Generator,
	[]viewtest.Doc) []viewtest.Doc {
	return inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		return change(d, viewtest.Pick(d, rule["matches"].([]any)...).(viewtest.Doc))
	})
}

func inObject(kind string, change func(viewtest.Generator, viewtest.Doc) bool) func(viewtest.Generator,
	[]viewtest.Doc) []viewtest.Doc {
	return func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
		all := viewtest.OfKinds(docs, kind)
		d.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
		for _, o := range all {
			if change(d, o) {
				return docs
			}
		}
		return nil
	}
}

func withoutOne(kind string) func(viewtest.Generator, []viewtest.Doc) []viewtest.Doc {
	return func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
		gone := viewtest.Pick(d, viewtest.OfKinds(docs, kind)...)
		return slices.DeleteFunc(docs, func(o viewtest.Doc) bool {
			return o["kind"] == kind && viewtest.Metadata(o, "name") == viewtest.Metadata(gone, "name")
		})
	}
}

func filterDoc(value string) viewtest.Doc {
	return viewtest.Doc{"type": "RequestHeaderModifier",
		"requestHeaderModifier": viewtest.Doc{"set": []any{viewtest.Doc{"name": "x-a", "value": value}}}}
}

var mutations = []edit{
	{"host", inObject("HTTPRoute", func(d viewtest.Generator, o viewtest.Doc) bool {
		o["spec"].(viewtest.Doc)["hostnames"] = []any{viewtest.Pick(d, "other.com", "x.b.com")}
		return true
	})},
	{"path value", inMatch(func(d viewtest.Generator, m viewtest.Doc) bool {
		m["path"].(viewtest.Doc)["value"] = "/changed"
		return true
	})},
	{"path type", inMatch(func(d viewtest.Generator, m viewtest.Doc) bool {
		p := m["path"].(viewtest.Doc)
		p["type"] = map[string]string{"Exact": "PathPrefix", "PathPrefix": "Exact"}[p["type"].(string)]
		return true
	})},
	{"header", inMatch(func(d viewtest.Generator, m viewtest.Doc) bool {
		m["headers"] = []any{viewtest.Doc{"name": "y", "value": "1"}}
		return true
	})},
	{"method", inMatch(func(d viewtest.Generator, m viewtest.Doc) bool { m["method"] = "DELETE"; return true })},
	{"query", inMatch(func(d viewtest.Generator, m viewtest.Doc) bool {
		m["queryParams"] = []any{viewtest.Doc{"name": "z", "value": "1"}}
		return true
	})},
	{"weight", inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		l := rule["backendRefs"].([]any)
		if len(l) < 2 {
			return false
		}
		l[0].(viewtest.Doc)["weight"] = 17
		return true
	})},
	{"backend", inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		rule["backendRefs"].([]any)[0].(viewtest.Doc)["name"] = "evil"
		return true
	})},
	{"port", inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		rule["backendRefs"].([]any)[0].(viewtest.Doc)["port"] = 81
		return true
	})},
	{"filter added", inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		if rule["filters"] != nil {
			return false
		}
		rule["filters"] = []any{filterDoc("2")}
		return true
	})},
	{"filter removed", inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		had := rule["filters"] != nil
		delete(rule, "filters")
		return had
	})},
	{"filter changed", inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		had := rule["filters"] != nil
		if had {
			rule["filters"] = []any{filterDoc("3")}
		}
		return had
	})},
	{"redirect", inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		rule["filters"] = []any{viewtest.Doc{"type": "RequestRedirect",
			"requestRedirect": viewtest.Doc{"scheme": "https"}}}
		return true
	})},
	{"timeout", inRule(func(d viewtest.Generator, rule viewtest.Doc) bool {
		rule["timeouts"] = viewtest.Doc{"request": "1s"}
		return true
	})},
	{"policy removed", withoutOne("Cache")},
	{"policy value", inObject("Cache", func(d viewtest.Generator, o viewtest.Doc) bool {
		spec := o["spec"].(viewtest.Doc)
		for _, at := range []viewtest.Doc{spec, asDoc(spec["defaults"]), asDoc(spec["overrides"])} {
			for _, name := range []string{"auth", "ttl"} {
				if at[name] != nil {
					at[name] = "changed"
					return true
				}
			}
		}
		return false
	})},
	{"override for default", inObject("Cache", func(d viewtest.Generator, o viewtest.Doc) bool {
		spec := o["spec"].(viewtest.Doc)
		had := spec["defaults"] != nil
		if had {
			spec["overrides"] = spec["defaults"]
			delete(spec, "defaults")
		}
		return had
	})},
	{"target section", inObject("Cache", func(d viewtest.Generator, o viewtest.Doc) bool {
		had := targetOf(o)["kind"] == "Gateway"
		targetOf(o)["sectionName"] = "l1"
		return had
	})},
	{"listener hostname", inObject("Gateway", func(d viewtest.Generator, o viewtest.Doc) bool {
		viewtest.Pick(d, viewtest.SpecList(o, "listeners")...).(viewtest.Doc)["hostname"] = "other.com"
		return true
	})},
	{"listener removed", inObject("Gateway", func(d viewtest.Generator, o viewtest.Doc) bool {
		o["spec"].(viewtest.Doc)["listeners"] = viewtest.SpecList(o, "listeners")[1:]
		return len(viewtest.SpecList(o, "listeners")) > 0
	})},
	{"allowed routes", inObject("Gateway", func(d viewtest.Generator, o viewtest.Doc) bool {
		viewtest.SpecList(o, "listeners")[0].(viewtest.Doc)["allowedRoutes"] = viewtest.Doc{"namespaces": viewtest.Doc{
			"from": "Same"}}
		return true
	})},
	{"grant removed", withoutOne("ReferenceGrant")},
	{"route deleted", withoutOne("HTTPRoute")},
	{"age", func(d viewtest.Generator, docs []viewtest.Doc) []viewtest.Doc {
		for _, o := range docs {
			if viewtest.Metadata(o, "name") == "old" {
				o["metadata"].(viewtest.Doc)["creationTimestamp"] = viewtest.Timestamp(400)
			}
		}
		return docs
	}},
	{"section of a parent", inObject("HTTPRoute", func(d viewtest.Generator, o viewtest.Doc) bool {
		viewtest.SpecList(o, "parentRefs")[0].(viewtest.Doc)["sectionName"] = "l1"
		return true
	})},
}

func asDoc(v any) viewtest.Doc { out, _ := v.(viewtest.Doc); return out }
