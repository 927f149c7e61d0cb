package kgateway

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// auditFields is the table of settings and of where the control plane writes them
// (internal/kgateway/extensions2/plugins/trafficpolicy).
func auditFields() []audit.Field {
	traffic := model.GroupKind{Group: group, Kind: "TrafficPolicy"}
	listener := model.GroupKind{Group: group, Kind: "ListenerPolicy"}
	backend := model.GroupKind{Group: group, Kind: "BackendConfigPolicy"}
	value, presence := audit.ByValue, audit.ByPresence
	f := func(setting, place string, how audit.How, note string, functions audit.Field) audit.Field {
		functions.Kind, functions.Setting, functions.Location, functions.How, functions.Note = traffic, setting,
			place, how, note
		return functions
	}
	out := []audit.Field{
		f("extAuth", "filters ext_auth/EXTENSION", value, "the set of extensions", audit.Field{Want: wantExtensions,
			Found: foundExtensions("ext_auth/", "ext_auth")}),
		f("extProc", "filters ext_proc/EXTENSION", value, "the set of extensions", audit.Field{Want: wantExtensions,
			Found: foundExtensions("ext_proc/", "ext_proc")}),
		f("jwtAuth", "filters jwt/EXTENSION", value, "the set of extensions", audit.Field{Want: wantExtensions,
			Found: foundExtensions("jwt/", "jwt")}),
		f("oauth2", "filters oauth2/EXTENSION", value, "the set of extensions", audit.Field{Want: wantExtensions,
			Found: foundExtensions(filterPrefix+"oauth2/", "")}),
		f("rateLimit.global", "filters ratelimit/EXTENSION", value,
			"the set of extensions; requests and unit are with the rate limit service", audit.Field{
				Want: wantExtensions, Found: foundExtensions("ratelimit/", "")}),
		f("rateLimit.local", "filter ratelimit/local", value, "", audit.Field{Want: wantLocalLimit,
			Found: foundLocalLimit}),
		f("cors", "filter cors", value, "the number of origins", audit.Field{Want: wantCORS, Found: foundCORS}),
		f("csrf", "filter csrf", presence, "", audit.Field{Want: wantUnlessDisabled,
			Found: foundRunning(filterPrefix + "csrf")}),
		f("buffer", "filter buffer", value, "", audit.Field{Want: wantBuffer, Found: audit.NumberOfFilter(filterPrefix+
			"buffer", "buffer", "max_request_bytes")}),
		f("rbac", "filter rbac", presence, "", audit.Field{Want: wantUnlessDisabled,
			Found: foundRunning(filterPrefix + "rbac")}),
		f("faultInjection", "filter fault", value, "delay and abort", audit.Field{Want: wantFault, Found: foundFault,
			Equal: audit.IsWithin}),
		f("apiKeyAuth", "filter api_key_auth", presence, "keys are secret", audit.Field{Want: wantUnlessDisabled,
			Found: foundRunning(filterPrefix + "api_key_auth")}),
		f("basicAuth", "filter basic_auth", presence, "users are secret", audit.Field{Want: wantUnlessDisabled,
			Found: foundRunning(filterPrefix + "basic_auth")}),
		f("headerModifiers", "filter header_mutation", presence, "", audit.Field{Want: wantUnlessDisabled,
			Found: foundRunning(headerMutation)}),
		f("transformation", "filter dynamic_modules/simple_mutations", presence, "",
			audit.Field{Want: wantUnlessDisabled, Found: foundRunning("dynamic_modules/simple_mutations")}),
		f("acl", "filter dynamic_modules/http-acl", presence, "", audit.Field{Want: wantUnlessDisabled,
			Found: foundRunning("dynamic_modules/http-acl")}),
		f("compression.responseCompression", "filters compressor.…", value, "the set of libraries",
			audit.Field{Want: wantLibraries, Found: foundLibraries("compressor"), Equal: equalLibraries}),
		f("compression.requestDecompression", "filters decompressor.…", value, "the set of libraries",
			audit.Field{Want: wantLibraries, Found: foundLibraries("decompressor"), Equal: equalLibraries}),
		f("timeouts.request", "route.timeout", value, "", audit.Field{Want: wantTimeout,
			Found: foundTimeout("timeout")}),
		f("timeouts.streamIdle", "route.idle_timeout", value, "", audit.Field{Want: wantTimeout,
			Found: foundTimeout("idle_timeout")}),
		f("retry", "route.retry_policy", value, "", audit.Field{Want: wantRetry, Found: foundRetry,
			Equal: audit.IsWithin, IgnoreUnasked: true}),
		f("internalRedirect", "route.internal_redirect_policy", presence, "", audit.Field{Want: wantAction,
			Found: foundAction("internal_redirect_policy"), IgnoreUnasked: true}),
		f("autoHostRewrite", "route.auto_host_rewrite", presence, "", audit.Field{Want: wantHostRewrite,
			Found: foundAction("auto_host_rewrite"), IgnoreUnasked: true}),
		f("urlRewrite", "route.regex_rewrite", presence, "", audit.Field{Want: wantPathRewrite,
			Found: foundAction("regex_rewrite"), IgnoreUnasked: true}),
		f("tracing", "route tracing", presence, "", audit.Field{Want: wantAction, Found: foundField("tracing"),
			IgnoreUnasked: true}),
		f("statPrefix", "route stat_prefix", value, "one with {{ by presence", audit.Field{Want: wantStatPrefix,
			Found: foundStatPrefix, Equal: sameStatPrefix, IgnoreUnasked: true}),
		f("requestMirror", "route.request_mirror_policies", audit.NotCompared,
			"filters of the route write to the same place", audit.Field{}),
	}
	for _, kind := range []model.GroupKind{listener, backend} {
		out = append(out, audit.Field{Kind: kind, Setting: "all settings",
			Location: "listener, connection manager or cluster", How: audit.NotCompared,
			Note: "it does not hold for rules"})
	}
	return out
}
