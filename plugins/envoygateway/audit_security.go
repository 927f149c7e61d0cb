package envoygateway

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dataplane"
)

// foundRunning reports whether a filter runs on the route, because the route says so.
func foundRunning(filter string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		noteNotForwarded(c)
		if r, on := c.FindFilter(filterPrefix + filter); on && r.PerRoute {
			return true
		}
		if owners, _ := findOwners(c, filter, "securitypolicy"); owners != nil {
			return true
		}
		return nil
	}
}

// noteNotForwarded notes that the route does not forward requests: what is written for such routes
// differs from filter to filter.
func noteNotForwarded(c *audit.Case) {
	if c.ServedRoute.Route.Action() != "route" {
		c.SetUncertain("the route does not forward requests")
	}
}

// wantOwned asks for a filter of one of the rule's policies.
func wantOwned(_ *audit.Case, v any) any {
	if v == nil {
		return nil
	}
	return true
}

// foundOwned reports whether filters of the rule's policies run, or whose do instead.
func foundOwned(filter string) func(*audit.Case) any {
	return func(c *audit.Case) any {
		noteNotForwarded(c)
		owners, _ := findOwners(c, filter, "securitypolicy")
		return describeOwners(c, owners)
	}
}

func describeOwners(c *audit.Case, owners []string) any {
	if owners == nil {
		return nil
	}
	if others := filterForeign(c, owners); len(others) == len(owners) && c.Spec != nil {
		return "of " + strings.Join(others, ", ")
	}
	return true
}

// wantJWT is the providers by name.
func wantJWT(_ *audit.Case, v any) any {
	var out []any
	for _, p := range dataplane.List(v, "providers") {
		one := audit.Value{"name": dataplane.Text(p, "name"), "issuer": dataplane.Text(p, "issuer"),
			"audiences": audit.SortedSet(dataplane.Texts(p, "audiences"))}
		if uri := dataplane.Text(p, "remoteJWKS", "uri"); uri != "" {
			one["jwks"] = uri
		}
		out = append(out, one)
	}
	if v == nil {
		return nil
	}
	return sortByName(out)
}

// foundJWT follows the route's requirement to its providers.
func foundJWT(c *audit.Case) any {
	name := filterPrefix + "jwt_authn"
	r, on := c.FindFilter(name)
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
	for _, key := range listProviders(required) {
		p, ok := providers[key].(map[string]any)
		if !ok {
			continue
		}
		one := audit.Value{"name": dataplane.Text(p, "payload_in_metadata"), "issuer": dataplane.Text(p, "issuer"),
			"audiences": audit.SortedSet(dataplane.Texts(p, "audiences"))}
		if uri := dataplane.Text(p, "remote_jwks", "http_uri", "uri"); uri != "" {
			one["jwks"] = uri
		}
		out = append(out, one)
	}
	if len(out) == 0 {
		return nil
	}
	return sortByName(out)
}

// listProviders are the providers that a requirement names, at any depth.
func listProviders(requirement any) []string {
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
			out = append(out, listProviders(x)...)
		}
	}
	return out
}

func sortByName(providers []any) []any {
	slices.SortFunc(providers, func(a, b any) int {
		return strings.Compare(dataplane.Text(a, "name"),
			dataplane.Text(b, "name"))
	})
	return providers
}

func sameJWT(want, found any) bool {
	w, _ := want.([]any)
	f, _ := found.([]any)
	return len(w) == len(f) && !slices.ContainsFunc(w, func(x any) bool {
		return !slices.ContainsFunc(f, func(y any) bool { return audit.IsWithin(x, y) })
	})
}

// wantExtAuth is the sort of service and what happens when it fails.
func wantExtAuth(c *audit.Case, v any) any {
	if v == nil {
		return nil
	}
	out := audit.Value{"owner": true, "failOpen": dataplane.IsTrue(v, "failOpen")}
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
	noteNotForwarded(c)
	owners, _ := findOwners(c, "ext_authz", "securitypolicy")
	if owners == nil {
		return nil
	}
	filter := c.Manager.Filter(filterPrefix + "ext_authz/securitypolicy/" + owners[0])
	if filter == nil {
		return nil
	}
	out := audit.Value{"owner": describeOwners(c, owners), "failOpen": dataplane.IsTrue(filter.Config,
		"failure_mode_allow")}
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
	out := audit.Value{"origins": audit.SortedSet(dataplane.Texts(v, "allowOrigins"))}
	for field, name := range map[string]string{"allowMethods": "methods", "allowHeaders": "headers",
		"exposeHeaders": "expose"} {
		if l := dataplane.Texts(v, field); len(l) > 0 {
			out[name] = joinList(l)
		}
	}
	if d, ok := audit.ParseDuration(dataplane.Get(v, "maxAge")); ok {
		out["maxAge"] = d
	}
	if b, ok := dataplane.Get(v, "allowCredentials").(bool); ok {
		out["credentials"] = b
	}
	return out
}

// joinList is a list as the translator writes it: a star stands for all.
func joinList(l []string) string {
	if slices.Contains(l, "*") {
		return "*"
	}
	return strings.Join(l, ", ")
}

func foundCORS(c *audit.Case) any {
	r, on := c.FindFilter(filterPrefix + "cors")
	if !on || !r.PerRoute || c.HasFilter("CORS") {
		return nil
	}
	var origins []string
	for _, m := range dataplane.List(r.Config, "allow_origin_string_match") {
		origins = append(origins, readOrigin(m))
	}
	out := audit.Value{"origins": audit.SortedSet(origins), "credentials": dataplane.IsTrue(r.Config,
		"allow_credentials")}
	for field, name := range map[string]string{"allow_methods": "methods", "allow_headers": "headers",
		"expose_headers": "expose"} {
		if s := dataplane.Text(r.Config, field); s != "" {
			out[name] = s
		}
	}
	if age := dataplane.Text(r.Config, "max_age"); age != "" {
		out["maxAge"], _ = audit.ParseDuration(age + "s")
	}
	return out
}

// readOrigin is an origin as a policy writes it: the translator makes regular expressions of those
// with stars.
func readOrigin(match any) string {
	if exact := dataplane.Text(match, "exact"); exact != "" {
		return exact
	}
	regex := dataplane.Text(match, "safe_regex", "regex")
	return strings.ReplaceAll(strings.ReplaceAll(regex, ".*", "*"), `\`, "")
}
