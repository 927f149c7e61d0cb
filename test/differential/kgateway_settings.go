package main

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// settings draws one to four settings of a TrafficPolicy. Each has a value that no other has. Some are for policies of HTTPRoutes only.
//
// Left out are settings of which values are no numbers, which would not tell policies apart; rbac, jwtAuth, oauth2, basicAuth and apiKeyAuth,
// which are merged as csrf and buffer are or as extAuth is; and requestMirror and tracing, which Envoy is told with clusters.
func (g *kgatewayInput) settings(spec object, forRoutes bool) {
	names := []string{"timeouts", "retry", "cors", "csrf", "buffer", "headerModifiers", "rateLimit", "compression", "transformation", "acl", "faultInjection", "internalRedirect",
		"extAuth", "extProc", "transformation", "acl", "extAuth", "extProc"} // twice: what can be combined
	if forRoutes {
		names = append(names, "autoHostRewrite", "urlRewrite", "statPrefix")
	}
	for range g.Between(1, 4) {
		name := draw.Pick(g.Source, names...)
		spec[name] = g.setting(name)
	}
}

func (g *kgatewayInput) setting(name string) any {
	n := g.value()
	switch name {
	case "timeouts":
		out := object{}
		for _, field := range draw.Some(g.Source, 60, "request", "streamIdle") {
			out[field] = fmt.Sprintf("%ds", n)
		}
		return out
	case "retry":
		return object{"attempts": n, "backoffBaseInterval": "25ms", "retryOn": []string{"5xx"}}
	case "cors":
		return object{"allowOrigins": []string{fmt.Sprintf("https://%d.example.com", n)}, "maxAge": n}
	case "csrf":
		return object{"percentageEnabled": n % 100, "additionalOrigins": []object{{"exact": fmt.Sprintf("%d.example.com", n)}}}
	case "buffer":
		if g.Chance(20) {
			return object{"disable": object{}}
		}
		return object{"maxRequestSize": fmt.Sprintf("%dKi", n)}
	case "headerModifiers":
		return object{"request": object{"set": []object{{"name": "x-from", "value": fmt.Sprint(n)}}}}
	case "rateLimit":
		return g.limits(n)
	case "compression":
		return g.compression()
	case "transformation":
		out := object{}
		for _, side := range draw.Some(g.Source, 50, "request", "response") {
			out[side] = g.transform(n)
		}
		return out
	case "acl":
		return g.accessList(n)
	case "faultInjection":
		return object{"abort": object{"httpStatus": 400 + n%100, "percentage": 100}}
	case "internalRedirect":
		return object{"responseHeadersToCopy": []string{fmt.Sprintf("x-%d", n)}}
	case "extAuth":
		return g.provided(object{"contextExtensions": object{"from": fmt.Sprint(n)}}, "auth-1", "auth-2")
	case "extProc":
		mode := object{"requestHeaderMode": draw.Pick(g.Source, "DEFAULT", "SEND", "SKIP"), "responseHeaderMode": "SEND", "requestBodyMode": "NONE",
			"responseBodyMode": "NONE", "requestTrailerMode": "SKIP", "responseTrailerMode": "SKIP"}
		return g.provided(object{"processingMode": mode}, "proc-1", "proc-2")
	case "autoHostRewrite":
		return g.Chance(80)
	case "urlRewrite":
		return object{"pathRegex": object{"pattern": "^/x", "substitution": fmt.Sprintf("/%d", n)}}
	case "statPrefix":
		return fmt.Sprintf("p%d", n)
	}
	return nil
}

func (g *kgatewayInput) compression() object {
	out := object{}
	for _, side := range draw.Some(g.Source, 50, "responseCompression", "requestDecompression") {
		out[side] = object{"libraries": draw.Some(g.Source, 30, "Gzip", "Brotli", "Zstd")}
		if g.Chance(20) {
			out[side] = object{"disable": object{}, "libraries": []string{"Gzip"}}
		}
	}
	return out
}

func (g *kgatewayInput) transform(n int) object {
	out := object{}
	for _, action := range draw.Some(g.Source, 50, "set", "add", "remove", "body", "dynamicMetadata") {
		switch name := draw.Pick(g.Source, "x-a", "x-b"); action {
		case "remove":
			out[action] = []string{fmt.Sprintf("%s-%d", name, n)}
		case "dynamicMetadata":
			out[action] = []object{{"namespace": "ns", "key": "from", "value": object{"stringValue": fmt.Sprint(n)}}}
		case "body":
			out[action] = object{"parseAs": "AsString", "value": fmt.Sprint(n)}
		default:
			out[action] = []object{{"name": name, "value": fmt.Sprint(n)}}
		}
	}
	return out
}

func (g *kgatewayInput) accessList(n int) object {
	out := object{"defaultAction": draw.Pick(g.Source, "deny", "deny", "allow")}
	if g.Chance(85) {
		out["rules"] = []object{{"name": fmt.Sprintf("r%d", n), "action": "allow", "cidrs": []string{fmt.Sprintf("10.0.%d.0/24", n)}}}
	}
	if g.Chance(30) {
		response := object{"statusCode": draw.Pick(g.Source, 403, 403, 404)}
		if g.Chance(50) {
			response["blockedByHeaderName"] = draw.Pick(g.Source, "x-blocked", "x-by")
		}
		out["denyResponse"] = response
	}
	return out
}

// provided is a setting for one of some providers, or one that turns all of them off.
func (g *kgatewayInput) provided(setting object, providers ...string) object {
	if g.Chance(15) {
		return object{"disable": object{}}
	}
	setting["extensionRef"] = object{"name": draw.Pick(g.Source, providers...), "namespace": "infra"}
	return setting
}

func (g *kgatewayInput) limits(n int) object {
	out := object{}
	for _, side := range draw.Some(g.Source, 50, "local", "global") {
		if side == "local" {
			out[side] = object{"tokenBucket": object{"maxTokens": n, "tokensPerFill": n, "fillInterval": "60s"}}
			continue
		}
		entry := object{"type": "Generic", "generic": object{"key": "from", "value": fmt.Sprint(n)}}
		out[side] = object{"descriptors": []object{{"entries": []object{entry}}}, "extensionRef": object{"name": "limit", "namespace": "infra"}}
	}
	return out
}
