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

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	out := protect.Functions{"gloo.Setting": protect.AsDescribed[protect.Input], "gloo.JWT": buildJWTGate,
		"gloo.ExtAuth": buildExtAuthGate, "gloo.RBAC": buildRBACGate, "gloo.WAF": buildWAFGate,
		"gloo.CORS":       buildCORSGate,
		"gloo.BasicLimit": buildBasicLimitGate, "gloo.ServiceLimit": buildServiceLimitGate, "gloo.CSRF": buildCSRFGate,
		"gloo.Abort": buildAbortGate}
	for name, f := range out {
		out[name] = func(in protect.Input, g protect.Gate) []protect.Gate { return setOverridden(in, f(in, g)) }
	}
	return out
}

// kindRank orders the kinds: a filter's settings of a route stand in the place of those of the
// virtual host, and these in that of the filter's own.
var kindRank = map[string]int{"HttpListenerOption": 0, "VirtualHostOption": 1, "RouteOption": 2}

// The settings of one filter, by the first of their fields. JWTs are verified by a filter before
// and by one after external authorization (solo-io/gloo 8d57572e55,
// docs/content/guides/security/auth/jwt/route-jwt-policy.md;
// projects/gloo/api/v1/route_options.proto:151-175).
var (
	jwtBeforeFields  = []string{"jwtStaged.beforeExtAuth", "jwtProvidersStaged.beforeExtAuth"}
	jwtAfterFields   = []string{"jwt", "jwtStaged.afterExtAuth", "jwtProvidersStaged.afterExtAuth"}
	bufferFields     = []string{"buffer", "bufferPerRoute"}
	localLimitFields = []string{"httpLocalRatelimit", "ratelimit.localRatelimit", "ratelimitEarly.localRatelimit",
		"ratelimitRegular.localRatelimit"}
	limitFields = []string{"ratelimitBasic", "ratelimit.rateLimits", "ratelimitEarly.rateLimits",
		"ratelimitRegular.rateLimits", "rateLimitConfigs", "rateLimitEarlyConfigs",
		"rateLimitRegularConfigs"}
	filterFields = [][]string{jwtBeforeFields, jwtAfterFields, bufferFields, localLimitFields, limitFields,
		{"extauth"}, {"rbac"}, {"waf"}, {"cors"}, {"csrf"}, {"retries"}}
)

// fieldsOfFilter lists the settings of the filter that one of them is for.
func fieldsOfFilter(path []string) []string {
	name := strings.Join(path, ".")
	for _, fields := range filterFields {
		if slices.ContainsFunc(fields, func(f string) bool { return name == f || strings.HasPrefix(name, f+".") }) {
			return fields
		}
	}
	return nil
}

// setOverridden tells which policy of a nearer kind stands in the place of gates.
func setOverridden(in protect.Input, gates []protect.Gate) []protect.Gate {
	fields := fieldsOfFilter(in.Path)
	rank := kindRank[in.Kind.GroupKind.Kind]
	for _, s := range in.InForce {
		if s.Kind.GroupKind.Group != group || kindRank[s.Kind.GroupKind.Kind] <= rank {
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

// buildJWTGate is the gate of the providers of one filter, of which one is enough.
func buildJWTGate(in protect.Input, g protect.Gate) []protect.Gate {
	g.Order = afterExtAuth
	if in.Path[len(in.Path)-1] == "beforeExtAuth" {
		g.Order = beforeExtAuth
	}
	providers := model.Map(in.Value(append(slices.Clone(in.Path), "providers")...))
	if len(providers) == 0 { // a route with an empty list of providers
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

// buildExtAuthGate is the gate of the service that is asked. What it asks clients for is in an
// AuthConfig, which is not read, or in the service itself.
func buildExtAuthGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Text("extauth", "disable") == "true" {
		g.AddReason(gate.Disabled, "extauth.disable")
		return []protect.Gate{g}
	}
	if in.Value("extauth", "configRef") == nil && in.Value("extauth", "customAuth") == nil {
		return nil
	}
	if g.Property == gate.Authentication {
		g.AddReason(gate.ExternalDecision, g.Field)
		if in.Value("extauth", "configRef") != nil {
			g.AddReason(gate.NotRead, "extauth.configRef")
		}
	}
	for _, s := range in.InForce {
		if s.Kind.GroupKind.Kind == "HttpListenerOption" && s.Text("extauth", "failureModeAllow") == "true" {
			open := protect.Gate{Object: s.Source("extauth", "failureModeAllow")}
			open.AddReason(gate.FailOpen, "extauth.failureModeAllow")
			g.Reasons = append(g.Reasons, open.Reasons...)
		}
	}
	return []protect.Gate{g}
}

// buildRBACGate is the gate of policies of which one has to allow the request. Their principals are
// claims of a verified JWT.
func buildRBACGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Text("rbac", "disable") == "true" {
		if g.Property == gate.Authentication {
			return nil
		}
		g.AddReason(gate.Disabled, "rbac.disable")
		return []protect.Gate{g}
	}
	policies := model.Map(in.Value("rbac", "policies"))
	if len(policies) == 0 {
		g.AddReason(gate.NotRead, g.Field)
		return []protect.Gate{g}
	}
	found, looks := judgePolicies(in.Reader, policies)
	switch {
	case found.DeniesAll:
		g.AddReason(gate.DeniesAll, g.Field)
	case g.Property == gate.Authentication && found.Anonymous == gate.Fails, g.Property == gate.Authorization &&
		found.Refuses == gate.Fails:
		if looks {
			g.AddReason(gate.Skipped, g.Field)
		} else {
			g.AddReason(gate.AllowsAll, g.Field)
		}
	case g.Property == gate.Authentication && found.Anonymous == gate.Depends, found.Refuses == gate.Depends:
		g.AddReason(gate.Expression, g.Field)
	}
	return []protect.Gate{g}
}

// judgePolicies judges RBAC policies for a request. looks is true if one of them looks at the
// request itself.
func judgePolicies(look *protect.RequestReader, policies map[string]any) (found protect.Findings, looks bool) {
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
			one := []protect.Fact{d.AddFact(protect.Identity)}
			if len(model.Map(entry, "jwtPrincipal", "claims")) > 0 {
				one = append(one, d.AddFact(protect.Unknown))
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

// buildWAFGate is the gate of ModSecurity, whose rules say themselves whether the engine blocks.
// Those in files and ConfigMaps are not read.
func buildWAFGate(in protect.Input, g protect.Gate) []protect.Gate {
	if in.Text("waf", "disabled") == "true" {
		g.AddReason(gate.Disabled, "waf.disabled")
		return []protect.Gate{g}
	}
	rules := joinTexts(in.Value("waf", "ruleSets")) + joinTexts(in.Value("waf", "coreRuleSet"))
	switch {
	case engineDryRun.MatchString(rules):
		g.AddReason(gate.DryRun, g.Field)
	case engineOff.MatchString(rules):
		g.AddReason(gate.Disabled, g.Field)
	case !engineOn.MatchString(rules):
		g.AddReason(gate.NotRead, g.Field)
	}
	return []protect.Gate{g}
}

// joinTexts puts all texts of a value behind each other, a line each.
func joinTexts(v any) string {
	var b strings.Builder
	switch t := v.(type) {
	case string:
		b.WriteString(t + "\n")
	case []any:
		for _, one := range t {
			b.WriteString(joinTexts(one))
		}
	case map[string]any:
		for _, one := range t {
			b.WriteString(joinTexts(one))
		}
	}
	return b.String()
}

// buildCORSGate is the gate of lists of origins and of expressions for them.
func buildCORSGate(in protect.Input, g protect.Gate) []protect.Gate {
	origins, expressions := in.List("cors", "allowOrigin"), in.List("cors", "allowOriginRegex")
	switch {
	case in.Text("cors", "disableForRoute") == "true":
		g.AddReason(gate.Disabled, "cors.disableForRoute")
	case len(origins)+len(expressions) == 0:
		return nil
	case slices.Contains(origins, any("*")):
		g.AddReason(gate.AnyOrigin, "cors.allowOrigin")
	case slices.Contains(expressions, any(".*")):
		g.AddReason(gate.AnyOrigin, "cors.allowOriginRegex")
	}
	return []protect.Gate{g}
}

// buildBasicLimitGate is the gate of limits for clients that are known and for those that are not;
// one without the other leaves out the rest.
func buildBasicLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	for _, of := range [][2]string{{"authorizedLimits", "user"}, {"anonymousLimits", "source address"}} {
		limit := model.Map(in.Value("ratelimitBasic", of[0]))
		if len(limit) == 0 {
			g.AddReason(gate.Skipped, g.Field)
			continue
		}
		unit, _ := limit["unit"].(string)
		g.Counters = append(g.Counters, protect.Counter{Limit: limit["requestsPerUnit"], Per: unit,
			Key: []string{of[1]}, Replicas: "all"})
	}
	return []protect.Gate{g}
}

// buildServiceLimitGate is the gate of limits that the rate limit server has.
func buildServiceLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	if len(model.List(in.Value(in.Path...))) == 0 {
		return nil
	}
	if strings.HasSuffix(g.Field, ".refs") {
		g.AddReason(gate.NotRead, g.Field)
	} else {
		g.AddReason(gate.ExternalDecision, g.Field)
	}
	return []protect.Gate{g}
}

// buildCSRFGate refuses requests that change something and come from elsewhere. It establishes no
// property.
func buildCSRFGate(in protect.Input, g protect.Gate) []protect.Gate {
	if !in.Reader.IsMethod("POST", "PUT", "DELETE", "PATCH") {
		return nil
	}
	return []protect.Gate{g}
}

// buildAbortGate answers some requests, or all, in the place of a backend.
func buildAbortGate(in protect.Input, g protect.Gate) []protect.Gate {
	switch percent, err := strconv.ParseFloat(in.Text("faults", "abort", "percentage"), 64); {
	case err != nil || percent == 0:
		return nil
	case percent >= 100:
		g.AddReason(gate.DeniesAll, g.Field)
	}
	return []protect.Gate{g}
}
