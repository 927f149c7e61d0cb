package envoygateway

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// auditFields is the table of settings and of where the translator writes them
// (internal/xds/translator).
func auditFields() []audit.Field {
	security := model.GroupKind{Group: policyGroup, Kind: "SecurityPolicy"}
	traffic := model.GroupKind{Group: policyGroup, Kind: "BackendTrafficPolicy"}
	extension := model.GroupKind{Group: policyGroup, Kind: "EnvoyExtensionPolicy"}
	client := model.GroupKind{Group: policyGroup, Kind: "ClientTrafficPolicy"}
	f := func(kind model.GroupKind, setting, place string, how audit.How, note string,
		functions audit.Field) audit.Field {
		functions.Kind, functions.Setting, functions.Location, functions.How, functions.Note = kind, setting,
			place, how, note
		return functions
	}
	value, presence := audit.ByValue, audit.ByPresence
	out := []audit.Field{
		f(security, "jwt", "filter jwt_authn: requirement_name, requirement_map, providers", value,
			"issuer, audiences and URI of the keys; not claims", audit.Field{Want: wantJWT, Found: foundJWT,
				Equal: sameJWT}),
		f(security, "extAuth", "filter ext_authz/securitypolicy/…", value,
			"whose it is, the sort of service, failOpen and the path; not headers", audit.Field{Want: wantExtAuth,
				Found: foundExtAuth, Equal: audit.IsWithin}),
		f(security, "basicAuth", "filter basic_auth/securitypolicy/…", presence, "users are secret",
			audit.Field{Want: wantOwned, Found: foundOwned("basic_auth")}),
		f(security, "apiKeyAuth", "filter api_key_auth", presence, "keys are secret",
			audit.Field{Found: foundRunning("api_key_auth")}),
		f(security, "oidc", "filter oauth2", presence, "", audit.Field{Found: foundRunning("oauth2")}),
		f(security, "csrf", "filter csrf", presence, "", audit.Field{Found: foundRunning("csrf")}),
		f(security, "authorization", "filter rbac", presence, "", audit.Field{Found: foundRunning("rbac")}),
		f(security, "cors", "filter cors", value, "", audit.Field{Want: wantCORS, Found: foundCORS,
			Equal: audit.IsWithin}),

		f(traffic, "timeout.http.requestTimeout", "route.timeout", value, "", audit.Field{Want: wantTimeout,
			Found: foundTimeout}),
		f(traffic, "timeout.http.streamIdleTimeout", "route.idle_timeout", value, "", audit.Field{Want: wantDuration,
			Found: routeDuration("idle_timeout"), IgnoreUnasked: true}),
		f(traffic, "timeout.http.maxStreamDuration", "route.max_stream_duration", value, "",
			audit.Field{Want: wantDuration, Found: routeDuration("max_stream_duration", "max_stream_duration"),
				IgnoreUnasked: true}),
		f(traffic, "retry", "route.retry_policy", value, "not the vendor's own additions", audit.Field{Want: wantRetry,
			Found: foundRetry, Equal: audit.IsWithin, IgnoreUnasked: true}),
		f(traffic, "faultInjection", "filter fault", value, "", audit.Field{Want: wantFault, Found: foundFault,
			Equal: audit.IsWithin}),
		f(traffic, "rateLimit.local", "filter local_ratelimit", value,
			"the buckets; not which requests take from which", audit.Field{Want: wantLocalLimit,
				Found: foundLocalLimit, Equal: audit.IsWithin}),
		f(traffic, "rateLimit.global", "filter ratelimit", presence,
			"requests and unit are with the rate limit service", audit.Field{Want: wantGlobalLimit,
				Found: foundGlobalLimit, Equal: isEnough}),
		f(traffic, "requestBuffer", "filter buffer", value, "", audit.Field{Want: wantBuffer,
			Found: audit.NumberOfFilter(filterPrefix+"buffer", "buffer", "max_request_bytes")}),
		f(traffic, "compression", "filter compressor.…", value, "the set of types", audit.Field{Want: wantCompression,
			Found: foundCompression}),
		f(traffic, "responseOverride", "filter custom_response/backendtrafficpolicy/…", presence, "",
			audit.Field{Want: wantOwned, Found: foundOverride}),
		f(traffic, "bandwidthLimit", "filter bandwidth_limit/…", presence, "request and response",
			audit.Field{Want: wantBandwidth, Found: foundBandwidth}),
		f(traffic, "httpUpgrade", "route.upgrade_configs", value, "", audit.Field{Want: wantUpgrade,
			Found: foundUpgrade, IgnoreUnasked: true}),

		f(traffic, "timeout.tcp.connectTimeout", "cluster.connect_timeout", value, "", audit.Field{Want: wantDuration,
			Found: clusterDuration("connect_timeout"), IgnoreUnasked: true}),
		f(traffic, "circuitBreaker", "cluster.circuit_breakers.thresholds", value, "",
			audit.Field{Want: wantFields(breakerFields), Found: foundFields(breakerFields, breakerDefaults,
				readFirst("circuit_breakers", "thresholds")), Equal: audit.IsWithin, IgnoreUnasked: true}),
		f(traffic, "healthCheck.active", "cluster.health_checks", value, "intervals and thresholds; not what is sent",
			audit.Field{Want: wantFields(activeCheckFields), Found: foundFields(activeCheckFields, nil,
				readFirst("health_checks")), Equal: audit.IsWithin, IgnoreUnasked: true}),
		f(traffic, "healthCheck.passive", "cluster.outlier_detection", value, "",
			audit.Field{Want: wantFields(passiveCheckFields), Found: foundFields(passiveCheckFields, nil,
				readOutlierDetection), Equal: audit.IsWithin, IgnoreUnasked: true}),
		f(traffic, "loadBalancer", "cluster.load_balancing_policy", value, "the type", audit.Field{Want: wantBalancer,
			Found: foundBalancer, IgnoreUnasked: true}),
		f(traffic, "proxyProtocol", "cluster.transport_socket", presence, "",
			audit.Field{Want: ifForwarding(wantAnything), Found: foundProxyProtocol, IgnoreUnasked: true}),
		f(traffic, "tcpKeepalive", "cluster.upstream_connection_options", value, "",
			audit.Field{Want: wantFields(keepaliveFields), Found: foundFields(keepaliveFields, nil, readTCPKeepalive),
				Equal: audit.IsWithin, IgnoreUnasked: true}),
		f(traffic, "connection.bufferLimit", "cluster.per_connection_buffer_limit_bytes", value, "",
			audit.Field{Want: ifForwarding((*audit.Case).ReadBytes), Found: foundBufferLimit, IgnoreUnasked: true}),

		f(extension, "extProc", "filter ext_proc/envoyextensionpolicy/…", value, "how many, and whose",
			audit.Field{Want: wantCount, Found: foundCount("ext_proc")}),
		f(extension, "wasm", "filter wasm/envoyextensionpolicy/…", value, "how many, and whose",
			audit.Field{Want: wantCount, Found: foundCount("wasm")}),
		f(extension, "lua", "filter lua/envoyextensionpolicy/…", value, "how many, and whose",
			audit.Field{Want: wantCount, Found: foundCount("lua")}),
		f(extension, "dynamicModule", "filter dynamic_modules/envoyextensionpolicy/…", value, "how many, and whose",
			audit.Field{Want: wantCount, Found: foundCount("dynamic_modules")}),
	}
	for _, setting := range []string{"timeout.http.connectionIdleTimeout", "timeout.http.maxConnectionDuration",
		"connection.socketBufferLimit", "connection.preconnect", "healthCheck.panicThreshold",
		"dns", "http2", "useClientProtocol", "telemetry", "admissionControl", "routingType"} {
		out = append(out, f(traffic, setting, "cluster", audit.NotCompared,
			"the cluster's options are not compared yet", audit.Field{}))
	}
	for _, setting := range []string{"tls", "timeout", "connection", "clientIPDetection", "headers", "path", "http1",
		"http2", "http3", "healthCheck", "enableProxyProtocol", "proxyProtocol", "tcpKeepalive"} {
		out = append(out, f(client, setting, "listener and connection manager", audit.NotCompared,
			"it holds for connections, not for rules", audit.Field{}))
	}
	return out
}
