package envoygateway

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// emittedField is a field that Go's types always write where the object around it is set: with it a
// child takes its parent's value away, or blanks it. A value of nil is a null, which deletes. Where
// the API has a default, that stands there instead.
type emittedField struct {
	kind   string
	path   string // below spec
	value  any
	filled bool // the API fills the field in
}

func emittedFields() []emittedField {
	btp, sp := "BackendTrafficPolicy", "SecurityPolicy"
	return []emittedField{
		{btp, "healthCheck.active.timeout", nil, true},
		{btp, "healthCheck.active.interval", nil, true},
		{btp, "healthCheck.active.unhealthyThreshold", nil, true},
		{btp, "healthCheck.active.healthyThreshold", nil, true},
		{btp, "healthCheck.active.type", "", false},
		{btp, "loadBalancer.type", "", false},
		{btp, "loadBalancer.slowStart.window", nil, false},
		{btp, "faultInjection.delay.fixedDelay", nil, false},
		{sp, "authorization.defaultAction", nil, false},
		{sp, "apiKeyAuth.extractFrom", nil, false},
		{sp, "oidc.provider.issuer", "", false},
		{sp, "oidc.clientSecret", map[string]any{"name": ""}, false},
		{sp, "extAuth.bodyToExtAuth.maxRequestBytes", int64(0), false},
	}
}

// toTyped is a policy as the controller sees it after reading it into its types and before merging
// it: rate limit rules have the controller's names for them, and of a policy that is merged empty
// lists are gone and fields that cannot be left out are there.
func toTyped(o *model.Object, body any, s model.Settings) any {
	spec, ok := model.Get(body, "spec").(map[string]any)
	if !ok {
		return body
	}
	spec = setSelectorGroups(spec)
	spec = nameRules(o, spec, s.Text("envoygateway.stage") != "object-merge")
	if mergeType, _ := spec["mergeType"].(string); mergeType != "" {
		spec, _ = removeEmptyLists(spec).(map[string]any)
		for _, e := range emittedFields() {
			if e.kind == o.Ref.Kind && !(e.filled && s.Bool("envoygateway.applyCRDDefaults")) {
				spec = setAbsent(spec, strings.Split(e.path, "."), e.value)
			}
		}
	}
	out := maps.Clone(body.(map[string]any))
	out["spec"] = spec
	return out
}

// setSelectorGroups fills in the group that selectors leave out.
func setSelectorGroups(spec map[string]any) map[string]any {
	selectors, _ := spec["targetSelectors"].([]any)
	var out []any
	for i, s := range selectors {
		fields, ok := s.(map[string]any)
		if !ok || fields["group"] != nil {
			continue
		}
		if out == nil {
			out = slices.Clone(selectors)
		}
		fields = maps.Clone(fields)
		fields["group"], out[i] = gatewayGroup, fields
	}
	if out == nil {
		return spec
	}
	spec = maps.Clone(spec)
	spec["targetSelectors"] = out
	return spec
}

// nameRules gives rate limit rules the names under which the controller keeps them. The API has no
// such field: what is written there is gone.
func nameRules(o *model.Object, spec map[string]any, names bool) map[string]any {
	limit, ok := spec["rateLimit"].(map[string]any)
	if !ok || o.Ref.Kind != "BackendTrafficPolicy" {
		return spec
	}
	limit = maps.Clone(limit)
	for _, scope := range []string{"global", "local"} {
		at, _ := limit[scope].(map[string]any)
		rules, ok := at["rules"].([]any)
		if !ok {
			continue
		}
		rules = slices.Clone(rules)
		for i, rule := range rules {
			fields, ok := rule.(map[string]any)
			if !ok {
				continue
			}
			fields = maps.Clone(fields)
			delete(fields, "name")
			if names {
				fields["name"] = fmt.Sprintf("%s/rule/%d", o.Ref.FullName(), i)
			}
			rules[i] = fields
		}
		at = maps.Clone(at)
		at["rules"], limit[scope] = rules, at
	}
	spec = maps.Clone(spec)
	spec["rateLimit"] = limit
	return spec
}

// removeEmptyLists is v without empty lists, at any depth: Go's types leave them out.
func removeEmptyLists(v any) any {
	switch t := v.(type) {
	case map[string]any:
		out := make(map[string]any, len(t))
		for key, value := range t {
			if list, ok := value.([]any); !ok || len(list) > 0 {
				out[key] = removeEmptyLists(value)
			}
		}
		return out
	case []any:
		out := make([]any, len(t))
		for i := range t {
			out[i] = removeEmptyLists(t[i])
		}
		return out
	}
	return v
}

// setAbsent sets a field that is absent where the object around it is there.
func setAbsent(in map[string]any, path []string, value any) map[string]any {
	have, there := in[path[0]]
	if len(path) == 1 {
		if there {
			return in
		}
		out := maps.Clone(in)
		out[path[0]] = value
		return out
	}
	inner, ok := have.(map[string]any)
	if !ok {
		return in
	}
	out := maps.Clone(in)
	out[path[0]] = setAbsent(inner, path[1:], value)
	return out
}
