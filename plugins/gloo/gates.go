package gloo

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// gates complete what kinds.yaml says of how settings keep requests out.
func gates() protect.Functions {
	out := protect.Functions{"gloo.Setting": protect.AsDescribed[protect.Input], "gloo.JWT": jwtGate, "gloo.ExtAuth": extAuthGate, "gloo.RBAC": rbacGate, "gloo.WAF": wafGate, "gloo.CORS": corsGate,
		"gloo.BasicLimit": basicLimitGate, "gloo.ServiceLimit": serviceLimitGate, "gloo.CSRF": csrfGate, "gloo.Abort": abortGate}
	for name, f := range out {
		out[name] = func(in protect.Input, g protect.Gate) []protect.Gate { return nearest(in, f(in, g)) }
	}
	return out
}

// nearness orders the kinds: a filter's settings of a route stand in the place of those of the
// virtual host, and these in that of the filter's own.
var nearness = map[string]int{"HttpListenerOption": 0, "VirtualHostOption": 1, "RouteOption": 2}

// The settings of one filter, by the first of their fields. JWTs are verified by a filter before
// and by one after external authorization (solo-io/gloo 8d57572e55,
// docs/content/guides/security/auth/jwt/route-jwt-policy.md;
// projects/gloo/api/v1/route_options.proto:151-175).
var (
	jwtBefore   = []string{"jwtStaged.beforeExtAuth", "jwtProvidersStaged.beforeExtAuth"}
	jwtAfter    = []string{"jwt", "jwtStaged.afterExtAuth", "jwtProvidersStaged.afterExtAuth"}
	buffers     = []string{"buffer", "bufferPerRoute"}
	localLimits = []string{"httpLocalRatelimit", "ratelimit.localRatelimit", "ratelimitEarly.localRatelimit", "ratelimitRegular.localRatelimit"}
	limits      = []string{"ratelimitBasic", "ratelimit.rateLimits", "ratelimitEarly.rateLimits", "ratelimitRegular.rateLimits", "rateLimitConfigs", "rateLimitEarlyConfigs",
		"rateLimitRegularConfigs"}
	filters = [][]string{jwtBefore, jwtAfter, buffers, localLimits, limits, {"extauth"}, {"rbac"}, {"waf"}, {"cors"}, {"csrf"}, {"retries"}}
)

// filterOf lists the settings of the filter that one of them is for.
func filterOf(path []string) []string {
	name := strings.Join(path, ".")
	for _, fields := range filters {
		if slices.ContainsFunc(fields, func(f string) bool { return name == f || strings.HasPrefix(name, f+".") }) {
			return fields
		}
	}
	return nil
}

// nearest tells which policy of a nearer kind stands in the place of gates.
func nearest(in protect.Input, gates []protect.Gate) []protect.Gate {
	fields := filterOf(in.Path)
	rank := nearness[in.Kind.GroupKind.Kind]
	for _, s := range in.Way {
		if s.Kind.GroupKind.Group != group || nearness[s.Kind.GroupKind.Kind] <= rank {
			continue
		}
		for _, f := range fields {
			path := strings.Split(f, ".")
			if s.Value(path...) == nil || addsLimits(s, path) {
				continue
			}
			for i := range gates {
				gates[i].Overridden = s.Source(path...)
			}
			return gates
		}
	}
	return gates
}

// addsLimits reports whether a route's limits are beside those of the virtual host.
func addsLimits(s *protect.Settings, path []string) bool {
	return len(path) == 2 && path[1] == "rateLimits" && s.Text(path[0], "includeVhRateLimits") == "true"
}

// The places of the filters that verify JWTs.
const (
	beforeExtAuth = 10
	afterExtAuth  = 12
)

// jwtGate is that of the providers of one filter, of which one is enough.
func jwtGate(in protect.Input, g protect.Gate) []protect.Gate {
	g.Order = afterExtAuth
	if in.Path[len(in.Path)-1] == "beforeExtAuth" {
		g.Order = beforeExtAuth
	}
	providers := model.Map(in.Value(append(slices.Clone(in.Path), "providers")...))
	if len(providers) == 0 { // a route that only says that it has none
		return nil
	}
	g.Reads = nil
	for _, p := range providers {
		source := model.Map(p, "tokenSource")
		headers, query := model.List(source, "headers"), model.List(source, "queryParams")
		if len(headers)+len(query) == 0 {
			g.Reads = append(g.Reads, "header authorization", "query access_token")
		}
		for _, h := range headers {
			if name := model.Text(h, "header"); name != "" {
				g.Reads = append(g.Reads, "header "+name)
			}
		}
		for _, q := range query {
			if name, _ := q.(string); name != "" {
				g.Reads = append(g.Reads, "query "+name)
			}
		}
	}
	slices.Sort(g.Reads)
	g.Reads = slices.Compact(g.Reads)
	return []protect.Gate{g}
}

// extAuthGate is that of the service that is asked. What it asks clients for is in an AuthConfig,
// which is not read, or in the service itself.
func extAuthGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Text("extauth", "disable") == "true" {
		g.Weaken(gate.Disabled, "extauth.disable")
		return []protect.Gate{g}
	}
	if in.Value("extauth", "configRef") == nil && in.Value("extauth", "customAuth") == nil {
		return nil
	}
	if g.Property == gate.Authentication {
		g.Weaken(gate.ExternalDecision, g.Field)
		if in.Value("extauth", "configRef") != nil {
			g.Weaken(gate.NotRead, "extauth.configRef")
		}
	}
	for _, s := range in.Way {
		if s.Kind.GroupKind.Kind == "HttpListenerOption" && s.Text("extauth", "failureModeAllow") == "true" {
			open := protect.Gate{Object: s.Source("extauth", "failureModeAllow")}
			open.Weaken(gate.FailOpen, "extauth.failureModeAllow")
			g.Reasons = append(g.Reasons, open.Reasons...)
		}
	}
	return []protect.Gate{g}
}

// rbacGate is that of policies of which one has to allow the request. Their principals are claims
// of a verified JWT.
func rbacGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Text("rbac", "disable") == "true" {
		if g.Property == gate.Authentication {
			return nil
		}
		g.Weaken(gate.Disabled, "rbac.disable")
		return []protect.Gate{g}
	}
	policies := model.Map(in.Value("rbac", "policies"))
	if len(policies) == 0 {
		g.Weaken(gate.NotRead, g.Field)
		return []protect.Gate{g}
	}
	found, looks := judgePolicies(in.Look, policies)
	switch {
	case found.DeniesAll:
		g.Weaken(gate.DeniesAll, g.Field)
	case g.Property == gate.Authentication && found.Anonymous == gate.Fails, g.Property == gate.Authorization && found.Refuses == gate.Fails:
		if looks {
			g.Weaken(gate.Skipped, g.Field)
		} else {
			g.Weaken(gate.AllowsAll, g.Field)
		}
	case g.Property == gate.Authentication && found.Anonymous == gate.Depends, found.Refuses == gate.Depends:
		g.Weaken(gate.Expression, g.Field)
	}
	return []protect.Gate{g}
}

// judgePolicies judges RBAC policies for a request. looks is true if one of them looks at the
// request itself.
func judgePolicies(look *protect.Look, policies map[string]any) (found protect.Findings, looks bool) {
	var d protect.Decision
	var allowed [][][]protect.Fact // by policy and principal; without principals anybody is allowed
	for _, policy := range slices.Sorted(maps.Keys(policies)) {
		p := policies[policy]
		permissions := model.Map(p, "permissions")
		fits := true
		if prefix, _ := permissions["pathPrefix"].(string); prefix != "" && prefix != "/" {
			looks = true
			under, _ := look.PathMatches(regexp.QuoteMeta(prefix) + "(?s:.*)")
			fits = under
		}
		if methods := model.List(permissions, "methods"); len(methods) > 0 {
			looks = true
			var names []string
			for _, m := range methods {
				name, _ := m.(string)
				names = append(names, name)
			}
			fits = look.IsMethod(names...) && fits
		}
		principals := [][]protect.Fact{}
		for _, entry := range model.List(p, "principals") {
			one := []protect.Fact{d.Add(protect.Identity)}
			if len(model.Map(entry, "jwtPrincipal", "claims")) > 0 {
				one = append(one, d.Add(protect.Unknown))
			}
			principals = append(principals, one)
		}
		if len(principals) == 0 {
			principals = append(principals, nil)
		}
		if fits {
			allowed = append(allowed, principals)
		}
	}
	d.Allows = func(holds func(protect.Fact) bool) bool {
		return slices.ContainsFunc(allowed, func(principals [][]protect.Fact) bool {
			return slices.ContainsFunc(principals, func(all []protect.Fact) bool {
				return !slices.ContainsFunc(all, func(f protect.Fact) bool { return !holds(f) })
			})
		})
	}
	return d.Judge(), looks
}

var (
	engineOn     = regexp.MustCompile(`(?im)^\s*SecRuleEngine\s+On\b`)
	engineDryRun = regexp.MustCompile(`(?im)^\s*SecRuleEngine\s+DetectionOnly\b`)
	engineOff    = regexp.MustCompile(`(?im)^\s*SecRuleEngine\s+Off\b`)
)

// wafGate is that of ModSecurity, whose rules say themselves whether the engine blocks. Those in
// files and ConfigMaps are not read.
func wafGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Text("waf", "disabled") == "true" {
		g.Weaken(gate.Disabled, "waf.disabled")
		return []protect.Gate{g}
	}
	rules := textsIn(in.Value("waf", "ruleSets")) + textsIn(in.Value("waf", "coreRuleSet"))
	switch {
	case engineDryRun.MatchString(rules):
		g.Weaken(gate.DryRun, g.Field)
	case engineOff.MatchString(rules):
		g.Weaken(gate.Disabled, g.Field)
	case !engineOn.MatchString(rules):
		g.Weaken(gate.NotRead, g.Field)
	}
	return []protect.Gate{g}
}

// textsIn puts all texts of a value behind each other, a line each.
func textsIn(v any) string {
	var b strings.Builder
	switch t := v.(type) {
	case string:
		b.WriteString(t + "\n")
	case []any:
		for _, one := range t {
			b.WriteString(textsIn(one))
		}
	case map[string]any:
		for _, one := range t {
			b.WriteString(textsIn(one))
		}
	}
	return b.String()
}

// corsGate is that of lists of origins and of expressions for them.
func corsGate(in protect.Input, g protect.Gate) []protect.Gate {
	origins, expressions := in.List("cors", "allowOrigin"), in.List("cors", "allowOriginRegex")
	switch {
	case in.Text("cors", "disableForRoute") == "true":
		g.Weaken(gate.Disabled, "cors.disableForRoute")
	case len(origins)+len(expressions) == 0:
		return nil
	case slices.Contains(origins, any("*")):
		g.Weaken(gate.AnyOrigin, "cors.allowOrigin")
	case slices.Contains(expressions, any(".*")):
		g.Weaken(gate.AnyOrigin, "cors.allowOriginRegex")
	}
	return []protect.Gate{g}
}

// basicLimitGate is that of limits for clients that are known and for those that are not; one
// without the other leaves out the rest.
func basicLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	for _, of := range [][2]string{{"authorizedLimits", "user"}, {"anonymousLimits", "source address"}} {
		limit := model.Map(in.Value("ratelimitBasic", of[0]))
		if len(limit) == 0 {
			g.Weaken(gate.Skipped, g.Field)
			continue
		}
		unit, _ := limit["unit"].(string)
		g.Counters = append(g.Counters, protect.Counter{Limit: limit["requestsPerUnit"], Per: unit, Key: []string{of[1]}, Replicas: "all"})
	}
	return []protect.Gate{g}
}

// serviceLimitGate is that of limits that the rate limit server has.
func serviceLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	if len(model.List(in.Value(in.Path...))) == 0 {
		return nil
	}
	if strings.HasSuffix(g.Field, ".refs") {
		g.Weaken(gate.NotRead, g.Field)
	} else {
		g.Weaken(gate.ExternalDecision, g.Field)
	}
	return []protect.Gate{g}
}

// csrfGate refuses requests that change something and come from elsewhere. It establishes no
// property.
func csrfGate(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.Look.IsMethod("POST", "PUT", "DELETE", "PATCH") {
		return nil
	}
	return []protect.Gate{g}
}

// abortGate answers some requests, or all, in the place of a backend.
func abortGate(in protect.Input, g protect.Gate) []protect.Gate {
	switch percent, err := strconv.ParseFloat(in.Text("faults", "abort", "percentage"), 64); {
	case err != nil || percent == 0:
		return nil
	case percent >= 100:
		g.Weaken(gate.DeniesAll, g.Field)
	}
	return []protect.Gate{g}
}
