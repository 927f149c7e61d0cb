package main

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// policySettings draws what a policy of a kind says. Hardly a value occurs twice, so that a value tells whose it is.
func (g *envoyInput) policySettings(kind string) object {
	switch kind {
	case "BackendTrafficPolicy":
		return g.trafficSettings()
	case "SecurityPolicy":
		return g.securitySettings()
	case "EnvoyExtensionPolicy":
		return g.extensionSettings()
	}
	return g.clientSettings()
}

// seconds is a duration that no other is.
func (g *envoyInput) seconds() string { return fmt.Sprintf("%ds", 100+g.value()) }

// filled draws some of the fields.
func (g *envoyInput) filled(percent int, fields map[string]func() any, names ...string) object {
	out := object{}
	for _, name := range draw.Some(g.Source, percent, names...) {
		out[name] = fields[name]()
	}
	return out
}

func (g *envoyInput) trafficSettings() object {
	return g.filled(22, map[string]func() any{
		"timeout": func() any {
			return g.filled(50, map[string]func() any{
				"http": func() any {
					return g.filled(50, map[string]func() any{"requestTimeout": g.duration, "connectionIdleTimeout": g.duration}, "requestTimeout", "connectionIdleTimeout")
				},
				"tcp": func() any { return object{"connectTimeout": g.seconds()} },
			}, "http", "tcp")
		},
		"retry": func() any {
			return g.filled(50, map[string]func() any{"numRetries": g.number, "retryOn": func() any { return object{"httpStatusCodes": []int{500 + g.value()%99}} }}, "numRetries", "retryOn")
		},
		"circuitBreaker": func() any {
			return g.filled(50, map[string]func() any{"maxConnections": g.number, "maxPendingRequests": g.number}, "maxConnections", "maxPendingRequests")
		},
		"tcpKeepalive": func() any {
			return g.filled(50, map[string]func() any{"probes": g.number, "idleTime": g.duration}, "probes", "idleTime")
		},
		"rateLimit":  g.rateLimit,
		"compressor": func() any { return g.compressors() },
		"loadBalancer": func() any {
			out := object{"type": draw.Pick(g.Source, "Random", "RoundRobin", "LeastRequest")}
			if out["type"] != "Random" && g.Chance(50) {
				out["slowStart"] = object{"window": g.seconds()}
			}
			return out
		},
		"faultInjection": func() any {
			return g.filled(50, map[string]func() any{"delay": func() any { return object{"fixedDelay": g.seconds()} }, "abort": func() any { return object{"httpStatus": 400 + g.value()} }}, "delay", "abort")
		},
		"healthCheck": func() any { return object{"passive": object{"consecutive5XxErrors": g.value()}} },
		"httpUpgrade": func() any {
			var out []object
			for _, name := range draw.Some(g.Source, 50, "websocket", "custom") {
				out = append(out, object{"type": name})
			}
			return out
		},
		"connection":    func() any { return object{"bufferLimit": fmt.Sprintf("%dKi", g.value())} },
		"proxyProtocol": func() any { return object{"version": draw.Pick(g.Source, "V1", "V2")} },
		"http2":         func() any { return object{"maxConcurrentStreams": g.value()} },
		"responseOverride": func() any {
			return []object{{"match": object{"statusCodes": []object{{"type": "Value", "value": 404}}}, "response": object{"statusCode": 400 + g.value()}}}
		},
	}, "timeout", "retry", "circuitBreaker", "tcpKeepalive", "rateLimit", "compressor", "loadBalancer", "faultInjection", "healthCheck", "httpUpgrade", "connection",
		"proxyProtocol", "http2", "responseOverride")
}

func (g *envoyInput) duration() any { return g.seconds() }

func (g *envoyInput) number() any { return g.value() }

func (g *envoyInput) compressors() []object {
	var out []object
	for _, name := range draw.Some(g.Source, 50, "Gzip", "Brotli") {
		out = append(out, object{"type": name, "minContentLength": 100 + g.value()})
	}
	return out
}

func (g *envoyInput) rateLimit() any {
	out := object{}
	halves := draw.Some(g.Source, 50, "local", "global")
	for _, half := range halves {
		var rules []object
		for range g.Between(1, 2) {
			rule := object{"limit": object{"requests": g.value(), "unit": "Minute"}}
			if half == "global" || g.Chance(60) {
				rule["clientSelectors"] = []object{{"headers": []object{{"name": "x-user", "value": fmt.Sprint(g.value())}}}}
			}
			rules = append(rules, rule)
			if rule["clientSelectors"] == nil {
				break // at most one rule is for everything else
			}
		}
		out[half] = object{"rules": rules}
	}
	if len(halves) == 1 && g.Chance(20) {
		out["type"] = map[string]string{"local": "Local", "global": "Global"}[halves[0]]
	}
	return out
}

func (g *envoyInput) securitySettings() object {
	return g.filled(35, map[string]func() any{
		"cors": func() any {
			return g.filled(50, map[string]func() any{
				"allowOrigins": func() any { return []string{fmt.Sprintf("https://o%d.example.com", g.value())} },
				"allowMethods": func() any { return draw.Some(g.Source, 40, "GET", "PUT", "POST") },
				"maxAge":       g.duration,
			}, "allowOrigins", "allowMethods", "maxAge")
		},
		"authorization": func() any {
			out := object{"rules": []object{{"action": draw.Pick(g.Source, "Allow", "Deny"), "principal": object{"clientCIDRs": []string{fmt.Sprintf("10.0.%d.0/24", g.value())}}}}}
			if g.Chance(50) {
				out["defaultAction"] = draw.Pick(g.Source, "Allow", "Deny")
			}
			return out
		},
		"jwt": func() any {
			return object{"providers": []object{{"name": draw.Pick(g.Source, "one", "two"), "issuer": fmt.Sprintf("https://i%d.example.com", g.value()),
				"localJWKS": object{"type": "Inline", "inline": `{"keys":[]}`}}}}
		},
		"csrf": func() any {
			return object{"additionalOrigins": []string{fmt.Sprintf("https://o%d.example.com", g.value())}}
		},
		"extAuth": g.extAuth,
	}, "cors", "authorization", "jwt", "csrf", "extAuth")
}

// asked is the Service that policies ask. It is named with its namespace, because a policy that is written back may stand in another one.
func asked() []object { return []object{{"name": "web", "namespace": "other", "port": 80}} }

func (g *envoyInput) extAuth() any {
	out := object{"http": object{"backendRefs": asked()}}
	if g.Chance(50) {
		out["http"].(object)["path"] = fmt.Sprintf("/auth/%d", g.value())
	}
	if g.Chance(40) {
		out["failOpen"] = g.Chance(50)
	}
	if g.Chance(40) {
		out["timeout"] = g.seconds()
	}
	if g.Chance(40) {
		var list []object
		for _, name := range draw.Some(g.Source, 50, "a", "b") {
			list = append(list, object{"name": name, "type": "Value", "value": fmt.Sprint(g.value())})
		}
		out["contextExtensions"] = list
	}
	return out
}

func (g *envoyInput) extensionSettings() object {
	out := object{}
	if g.Chance(30) {
		out["extProc"] = []object{{"backendRefs": asked(), "messageTimeout": g.seconds()}}
	}
	if g.Chance(75) {
		out["lua"] = []object{{"type": "Inline", "inline": fmt.Sprintf("function envoy_on_response(h) h:logInfo('%d') end", g.value())}}
	}
	return out
}

func (g *envoyInput) clientSettings() object {
	return g.filled(35, map[string]func() any{
		"tcpKeepalive": func() any {
			return g.filled(50, map[string]func() any{"probes": g.number, "idleTime": g.duration}, "probes", "idleTime")
		},
		"timeout": func() any {
			return g.filled(50, map[string]func() any{
				"http": func() any {
					return g.filled(50, map[string]func() any{"requestReceivedTimeout": g.duration, "idleTimeout": g.duration}, "requestReceivedTimeout", "idleTimeout")
				},
				"tcp": func() any { return object{"idleTimeout": g.seconds()} },
			}, "http", "tcp")
		},
		"connection": func() any {
			return g.filled(50, map[string]func() any{
				"bufferLimit":     func() any { return fmt.Sprintf("%dKi", g.value()) },
				"connectionLimit": func() any { return object{"value": g.value()} },
			}, "bufferLimit", "connectionLimit")
		},
		"path": func() any { return object{"disableMergeSlashes": true} },
		"headers": func() any {
			return object{"withUnderscoresAction": draw.Pick(g.Source, "Allow", "RejectRequest", "DropHeader")}
		},
		"http1": func() any { return object{"enableTrailers": true} },
		"http2": func() any { return object{"maxConcurrentStreams": g.value()} },
		"clientIPDetection": func() any {
			return object{"xForwardedFor": object{"numTrustedHops": g.value()}}
		},
		"healthCheck":   func() any { return object{"path": fmt.Sprintf("/health/%d", g.value())} },
		"tls":           func() any { return object{"minVersion": draw.Pick(g.Source, "1.2", "1.3")} },
		"http3":         func() any { return object{} },
		"proxyProtocol": func() any { return object{"optional": g.Chance(50)} },
	}, "tcpKeepalive", "timeout", "connection", "path", "headers", "http1", "http2", "clientIPDetection", "healthCheck", "tls", "http3", "proxyProtocol")
}
