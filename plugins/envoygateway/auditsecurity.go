package envoygateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// running tells that a filter runs on the route, because the route says so.
func running(filter string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		doubtful(c)
		if r, on := c.At(filterPrefix + filter); on && r.PerRoute {
			return true
		}
		if owners, _ := owned(c, filter, "securitypolicy"); owners != nil {
			return true
		}
		return nil
	}
}

// doubtful: what is written for routes that send nowhere differs from filter to filter.
func doubtful(c *audit.Case) {
	if c.Place.Route.Action() != "route" {
		c.Doubt("the route does not forward requests")
	}
}

// wantOwned asks for a filter of one of the rule's policies.
func wantOwned(_ *audit.Case, v any) any {
	if v == nil {
		return nil
	}
	return true
}

// foundOwned tells that filters of the rule's policies run, or whose do instead.
func foundOwned(filter string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		doubtful(c)
		owners, _ := owned(c, filter, "securitypolicy")
		return ownership(c, owners)
	}
}

func ownership(c *audit.Case, owners []string) any {
	if owners == nil {
		return nil
	}
	if others := foreign(c, owners); len(others) == len(owners) && c.Spec != nil {
		return "of " + strings.Join(others, ", ")
	}
	return true
}

// wantJWT is the providers by name.
func wantJWT(_ *audit.Case, v any) any {
	var out []any
	for _, p := range dataplane.List(v, "providers") {
		one := audit.Value{"name": dataplane.Text(p, "name"), "issuer": dataplane.Text(p, "issuer"), "audiences": audit.Set(dataplane.Texts(p, "audiences"))}
		if uri := dataplane.Text(p, "remoteJWKS", "uri"); uri != "" {
			one["jwks"] = uri
		}
		out = append(out, one)
	}
	if v == nil {
		return nil
	}
	return byName(out)
}

// foundJWT follows the route's requirement to its providers.
func foundJWT(c *audit.Case) any {
	name := filterPrefix + "jwt_authn"
	r, on := c.At(name)
	if !on || !r.PerRoute {
		return nil
	}
	requirement := dataplane.Text(r.Config, "requirement_name")
	config := r.Filter.Config
	required, ok := dataplane.Map(config, "requirement_map")[requirement]
	if !ok {
		return nil // the name leads nowhere: nothing is asked for
	}
	providers := dataplane.Map(config, "providers")
	var out []any
	for _, key := range providersOf(required) {
		p, ok := providers[key].(map[string]any)
		if !ok {
			continue
		}
		one := audit.Value{"name": dataplane.Text(p, "payload_in_metadata"), "issuer": dataplane.Text(p, "issuer"), "audiences": audit.Set(dataplane.Texts(p, "audiences"))}
		if uri := dataplane.Text(p, "remote_jwks", "http_uri", "uri"); uri != "" {
			one["jwks"] = uri
		}
		out = append(out, one)
	}
	if len(out) == 0 {
		return nil
	}
	return byName(out)
}

// providersOf are the providers that a requirement names, at any depth.
func providersOf(requirement any) []string {
	var out []string
	for _, key := range []string{"provider_name"} {
		if name := dataplane.Text(requirement, key); name != "" {
			out = append(out, name)
		}
	}
	if name := dataplane.Text(requirement, "provider_and_audiences", "provider_name"); name != "" {
		out = append(out, name)
	}
	for _, key := range []string{"requires_any", "requires_all"} {
		for _, x := range dataplane.List(requirement, key, "requirements") {
			out = append(out, providersOf(x)...)
		}
	}
	return out
}

func byName(providers []any) []any {
	slices.SortFunc(providers, func(a, b any) int { return strings.Compare(dataplane.Text(a, "name"), dataplane.Text(b, "name")) })
	return providers
}

func sameJWT(want, found any) bool {
	w, _ := want.([]any)
	f, _ := found.([]any)
	return len(w) == len(f) && !slices.ContainsFunc(w, func(x any) bool {
		return !slices.ContainsFunc(f, func(y any) bool { return audit.Within(x, y) })
	})
}

// wantExtAuth is the sort of service and what happens when it fails.
func wantExtAuth(c *audit.Case, v any) any {
	if v == nil {
		return nil
	}
	out := audit.Value{"owner": true, "failOpen": dataplane.True(v, "failOpen")}
	switch {
	case dataplane.Has(v, "grpc"):
		out["service"] = "grpc"
	case dataplane.Has(v, "http"):
		out["service"] = "http"
		if path := dataplane.Text(v, "http", "path"); path != "" && !dataplane.Has(v, "http", "pathOverride") {
			out["path"] = path
		}
	}
	return out
}

func foundExtAuth(c *audit.Case) any {
	doubtful(c)
	owners, _ := owned(c, "ext_authz", "securitypolicy")
	if owners == nil {
		return nil
	}
	filter := c.Manager.Filter(filterPrefix + "ext_authz/securitypolicy/" + owners[0])
	if filter == nil {
		return nil
	}
	out := audit.Value{"owner": ownership(c, owners), "failOpen": dataplane.True(filter.Config, "failure_mode_allow")}
	switch {
	case dataplane.Has(filter.Config, "grpc_service"):
		out["service"] = "grpc"
	case dataplane.Has(filter.Config, "http_service"):
		out["service"] = "http"
		if path := dataplane.Text(filter.Config, "http_service", "path_prefix"); path != "" {
			out["path"] = path
		}
	}
	return out
}

// wantCORS is what the policy says; a CORS filter of the route wins over it.
func wantCORS(c *audit.Case, v any) any {
	if v == nil || c.HasFilter("CORS") {
		return nil
	}
	out := audit.Value{"origins": audit.Set(dataplane.Texts(v, "allowOrigins"))}
	for field, name := range map[string]string{"allowMethods": "methods", "allowHeaders": "headers", "exposeHeaders": "expose"} {
		if l := dataplane.Texts(v, field); len(l) > 0 {
			out[name] = joined(l)
		}
	}
	if d, ok := audit.Duration(dataplane.Get(v, "maxAge")); ok {
		out["maxAge"] = d
	}
	if b, ok := dataplane.Get(v, "allowCredentials").(bool); ok {
		out["credentials"] = b
	}
	return out
}

// joined is a list as the translator writes it: a star stands for all.
func joined(l []string) string {
	if slices.Contains(l, "*") {
		return "*"
	}
	return strings.Join(l, ", ")
}

func foundCORS(c *audit.Case) any {
	r, on := c.At(filterPrefix + "cors")
	if !on || !r.PerRoute || c.HasFilter("CORS") {
		return nil
	}
	var origins []string
	for _, m := range dataplane.List(r.Config, "allow_origin_string_match") {
		origins = append(origins, origin(m))
	}
	out := audit.Value{"origins": audit.Set(origins), "credentials": dataplane.True(r.Config, "allow_credentials")}
	for field, name := range map[string]string{"allow_methods": "methods", "allow_headers": "headers", "expose_headers": "expose"} {
		if s := dataplane.Text(r.Config, field); s != "" {
			out[name] = s
		}
	}
	if age := dataplane.Text(r.Config, "max_age"); age != "" {
		out["maxAge"], _ = audit.Duration(age + "s")
	}
	return out
}

// origin is an origin as a policy writes it: the translator makes regular expressions of those with stars.
func origin(match any) string {
	if exact := dataplane.Text(match, "exact"); exact != "" {
		return exact
	}
	regex := dataplane.Text(match, "safe_regex", "regex")
	return strings.ReplaceAll(strings.ReplaceAll(regex, ".*", "*"), `\`, "")
}
