package envoyaigateway

import (
	"cmp"
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// generateAIRoute is the HTTPRoute that an AIGatewayRoute makes, with the rule that answers what no
// other takes. An error in one rule leaves nothing. The filters that rewrite the host are left out:
// they change nothing of what policies do.
func generateAIRoute(o *model.Object, in *model.Snapshot) ([]*model.Object, []model.Problem) {
	var rules []any
	for i, rule := range o.Body.At("spec", "rules").Items {
		var refs []any
		for j, b := range rule.Field("backendRefs").Items {
			to, why := resolveBackend(o, b, in)
			if why != "" {
				return nil, []model.Problem{model.Problem{Severity: model.Warning, Code: model.BackendNotFound,
					Message: fmt.Sprintf(
						"%s: the controller makes no HTTPRoute of %s", why, o.Ref)}.At(o, "spec", "rules",
					strconv.Itoa(i),
					"backendRefs", strconv.Itoa(j))}
			}
			refs = append(refs, to)
		}
		out := map[string]any{"matches": listMatches(rule), "backendRefs": refs}
		if name := rule.Text("name"); name != "" {
			out["name"] = name
		}
		timeouts, _ := rule.Field("timeouts").Value().(map[string]any)
		if timeouts == nil {
			timeouts = map[string]any{}
		}
		if timeouts["request"] == nil {
			timeouts["request"] = "60s"
		}
		out["timeouts"] = timeouts
		rules = append(rules, out)
	}
	rules = append(rules, map[string]any{"name": "route-not-found",
		"matches": []any{map[string]any{"path": rootPrefix()}},
		"filters": []any{newFilter("ai-eg-route-not-found-response-" + o.Ref.Name)}})
	return []*model.Object{newRoute(o, o.Ref.Name, rules)}, nil
}

// listMatches are those of a rule: headers, below the controller's root.
func listMatches(rule model.Body) []any {
	var out []any
	for _, m := range rule.Field("matches").Items {
		match := map[string]any{"path": rootPrefix()}
		if h := m.Field("headers"); !h.IsNull() {
			match["headers"] = h.Value()
		}
		out = append(out, match)
	}
	if out == nil {
		out = []any{map[string]any{"path": rootPrefix()}}
	}
	return out
}

func rootPrefix() any { return map[string]any{"type": "PathPrefix", "value": "/"} }

func newFilter(name string) any {
	return map[string]any{"type": "ExtensionRef", "extensionRef": map[string]any{"group": envoyGroup,
		"kind": "HTTPRouteFilter", "name": name}}
}

// resolveBackend is the backendRef that stands for one of an AIGatewayRoute, or why there is none.
func resolveBackend(o *model.Object, b model.Body, in *model.Snapshot) (any, string) {
	ns := cmp.Or(b.Text("namespace"), o.Ref.Namespace)
	out := map[string]any{}
	if w := b.Field("weight"); !w.IsNull() {
		out["weight"] = w.Value()
	}
	if b.Text("kind") == "InferencePool" {
		out["group"], out["kind"], out["name"], out["namespace"] = b.Text("group"), "InferencePool", b.Text("name"), ns
		return out, ""
	}
	ref := model.Ref{Group: group, Kind: "AIServiceBackend", Namespace: ns, Name: b.Text("name")}
	service := in.Get(ref)
	switch {
	case service == nil:
		return nil, ref.String() + " does not exist"
	case ns != o.Ref.Namespace && !isGranted(in, o.Ref.Namespace, ref):
		return nil, "no ReferenceGrant lets it refer to " + ref.String()
	}
	to := service.Body.At("spec", "backendRef")
	out["group"], out["kind"], out["name"] = cmp.Or(to.Text("group"), envoyGroup), cmp.Or(to.Text("kind"),
		"Backend"), to.Text("name")
	out["namespace"] = cmp.Or(to.Text("namespace"), ns)
	if port := to.Field("port"); !port.IsNull() {
		out["port"] = port.Value()
	}
	return out, ""
}

// isGranted reports whether a ReferenceGrant lets AIGatewayRoutes of a namespace refer to an
// object.
func isGranted(in *model.Snapshot, from string, to model.Ref) bool {
	for _, g := range in.OfKind(model.GroupKind{Group: gatewayGroup, Kind: "ReferenceGrant"}) {
		if g.Ref.Namespace != to.Namespace {
			continue
		}
		who, what := false, false
		for _, f := range g.Body.At("spec", "from").Items {
			who = who || f.Text("group") == group && f.Text("kind") == "AIGatewayRoute" && f.Text("namespace") == from
		}
		for _, t := range g.Body.At("spec", "to").Items {
			what = what || t.Text("group") == to.Group && t.Text("kind") == to.Kind && (t.Text("name") == "" ||
				t.Text("name") == to.Name)
		}
		if who && what {
			return true
		}
	}
	return false
}

// newRoute is an HTTPRoute in the place of an object, with its parents and hostnames.
func newRoute(o *model.Object, name string, rules []any) *model.Object {
	spec := map[string]any{"parentRefs": o.Get("spec", "parentRefs"), "rules": rules}
	if h := o.Get("spec", "hostnames"); h != nil {
		spec["hostnames"] = h
	}
	return newObject(o, "HTTPRoute", gatewayGroup, "v1", name, spec)
}

func newObject(o *model.Object, kind, in, version, name string, spec any) *model.Object {
	labels := map[string]any{}
	for k, v := range o.Labels {
		labels[k] = v
	}
	body := map[string]any{"apiVersion": in + "/" + version, "kind": kind, "spec": spec,
		"metadata": map[string]any{"name": name, "namespace": o.Ref.Namespace, "labels": labels}}
	return &model.Object{Ref: model.Ref{Group: in, Kind: kind, Namespace: o.Ref.Namespace, Name: name},
		Version: version,
		Labels:  o.Labels, Body: model.Pack(body, nil)}
}

// generateMCPRoute is what an MCPRoute makes: the route by which clients come, and the policies for
// it. Routes to its backends are on a listener that clients do not reach.
func generateMCPRoute(o *model.Object, _ *model.Snapshot) ([]*model.Object, []model.Problem) {
	main := "ai-eg-mcp-main-" + o.Ref.Name
	match := map[string]any{"path": map[string]any{"type": "Exact", "value": cmp.Or(o.Text("spec", "path"), "/mcp")}}
	if h := o.Get("spec", "headers"); h != nil {
		match["headers"] = h
	}
	rules := []any{map[string]any{"matches": []any{match}, "timeouts": map[string]any{"request": "30m",
		"backendRequest": "30m"},
		"backendRefs": []any{map[string]any{"group": envoyGroup, "kind": "Backend", "name": "ai-eg-mcp-proxy"}}}}
	security := o.Body.At("spec", "securityPolicy")
	oauth := !security.Field("oauth").IsNull()
	if oauth {
		for _, rule := range [][2]string{{"oauth-protected-resource-metadata", "/.well-known/oauth-protected-resource"},
			{"oauth-authorization-server-metadata", "/.well-known/oauth-authorization-server"},
			{"oauth-authorization-server-metadata-oidc", "/.well-known/openid-configuration"}} {
			rules = append(rules, map[string]any{"name": rule[0],
				"matches": []any{map[string]any{"path": map[string]any{"type": "PathPrefix", "value": rule[1]}}}})
		}
	}
	out := []*model.Object{newRoute(o, main, rules)}
	spec := map[string]any{"targetRefs": []any{map[string]any{"group": gatewayGroup, "kind": "HTTPRoute",
		"name": main}}}
	for _, field := range []string{"apiKeyAuth", "extAuth"} {
		if v := security.Field(field); !v.IsNull() {
			spec[field] = v.Value()
		}
	}
	addMergeType(spec, security)
	var problems []model.Problem
	if oauth {
		spec["jwt"] = map[string]any{"providers": []any{map[string]any{"name": "mcp-jwt-provider",
			"issuer": security.Text("oauth", "issuer")}}}
		problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: fmt.Sprintf(
				"what the SecurityPolicy and the BackendTrafficPolicy say that the controller makes of the oauth of %s is known in outline only", o.Ref)}.At(o, "spec", "securityPolicy", "oauth"))
	}
	if hasAuthentication(spec) {
		policy := newObject(o, "SecurityPolicy", envoyGroup, "v1alpha1", "ai-eg-mcp-"+o.Ref.Name, spec)
		out = append(out, policy)
		problems = append(problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated, Message: fmt.Sprintf(
			"the age of %s, which the controller makes, is not known: a SecurityPolicy of yours for the same route may be older or younger", policy.Ref)}.At(o, "spec", "securityPolicy"))
	}
	if oauth {
		out = append(out, newObject(o, "BackendTrafficPolicy", envoyGroup, "v1alpha1",
			"ai-eg-mcp-"+o.Ref.Name+"-oauth-protected-resource-metadata", newOverride(o, main)))
	}
	return out, problems
}

// hasAuthentication reports whether a SecurityPolicy that an MCPRoute makes asks for anything.
func hasAuthentication(spec map[string]any) bool {
	return spec["apiKeyAuth"] != nil || spec["extAuth"] != nil || spec["jwt"] != nil
}

// addMergeType has a policy that an MCPRoute makes be merged as the route says, instead of replacing
// what is above it.
func addMergeType(spec map[string]any, of model.Body) {
	if t := of.Text("mergeType"); t != "" {
		spec["mergeType"] = t
	}
}

// newOverride says how clients learn where to log in: by the answer 401.
func newOverride(o *model.Object, route string) map[string]any {
	spec := map[string]any{
		"targetRefs": []any{map[string]any{"group": gatewayGroup, "kind": "HTTPRoute", "name": route}},
		"responseOverride": []any{map[string]any{
			"match":    map[string]any{"statusCodes": []any{map[string]any{"type": "Value", "value": int64(401)}}},
			"response": map[string]any{"statusCode": int64(401)}}}}
	addMergeType(spec, o.Body.At("spec", "backendTrafficPolicy"))
	return spec
}
