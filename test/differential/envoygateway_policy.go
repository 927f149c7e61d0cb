package main

import "fmt"

// policy draws a policy of a kind that its target may have, three in ten times for what is high up or another policy may have already.
func (g *envoyInput) policy(name string) {
	t := pick(g.source, g.targets...)
	if g.chance(30) {
		t = g.targets[g.IntN(min(4, len(g.targets)))]
	}
	onRoute := t.kind != "Gateway" && t.kind != "ListenerSet"
	kinds := []string{"BackendTrafficPolicy", "BackendTrafficPolicy", "SecurityPolicy", "EnvoyExtensionPolicy"}
	switch {
	case t.kind == "UDPRoute" || t.kind == "TLSRoute":
		kinds = []string{"BackendTrafficPolicy", "EnvoyExtensionPolicy"}
	case !onRoute && g.chance(30):
		kinds = []string{"ClientTrafficPolicy"}
	}
	kind := pick(g.source, kinds...)
	spec := g.policySettings(kind)
	namespace := t.namespace
	if g.chance(16) {
		selector := object{"kind": t.kind, "matchLabels": object{"tier": pick(g.source, "a", "b")}}
		if g.chance(50) {
			namespace = pick(g.source, "infra", "app", "other")
			selector["namespaces"] = g.from()
		}
		spec["targetSelectors"] = []object{selector}
	} else {
		spec["targetRefs"] = g.targetRefs(t)
	}
	if onRoute && kind != "ClientTrafficPolicy" && g.chance(50) {
		spec["mergeType"] = pick(g.source, "StrategicMerge", "JSONMerge")
	}
	g.add(envoyGroup+"/v1alpha1", kind, g.made(namespace, name), spec)
}

// targetRefs names a target, and one time in six another of the same kind. Three in a hundred name what is not there.
func (g *envoyInput) targetRefs(t target) []object {
	refs := []object{envoyTarget(t)}
	if g.chance(16) {
		for _, other := range g.targets {
			if other != t && other.kind == t.kind && other.namespace == t.namespace {
				refs = append(refs, envoyTarget(other))
				break
			}
		}
	}
	if g.chance(3) {
		refs[0][pick(g.source, "name", "sectionName")] = "missing"
	}
	return refs
}

func envoyTarget(t target) object {
	ref := object{"group": gatewayGroup, "kind": t.kind, "name": t.name}
	if t.section != "" {
		ref["sectionName"] = t.section
	}
	return ref
}

// backendTLS draws a BackendTLSPolicy, half of them for a port.
func (g *envoyInput) backendTLS(name string) {
	ref := object{"group": "", "kind": "Service", "name": "web"}
	if g.chance(50) {
		ref["sectionName"] = "http"
	}
	g.add(gatewayGroup+"/v1", "BackendTLSPolicy", g.made(pick(g.source, "app", "app", "infra", "other"), name), object{"targetRefs": []object{ref},
		"validation": object{"hostname": fmt.Sprintf("b%d.example.com", g.value()), "wellKnownCACertificates": "System"}})
}

// grants lets policies of every namespace use the Service that they ask, and half of the time other things what is in another namespace.
func (g *envoyInput) grants() {
	from := func(group string, kinds ...string) []object {
		var out []object
		for _, kind := range kinds {
			for _, namespace := range []string{"infra", "app", "other"} {
				out = append(out, object{"group": group, "kind": kind, "namespace": namespace})
			}
		}
		return out
	}
	to := func(group string, kinds ...string) []object {
		var out []object
		for _, kind := range kinds {
			out = append(out, object{"group": group, "kind": kind})
		}
		return out
	}
	grant := func(namespace, name string, from, to []object) {
		g.add(gatewayGroup+"/v1beta1", "ReferenceGrant", g.made(namespace, name), object{"from": from, "to": to})
	}
	grant("other", "asked", from(envoyGroup, "SecurityPolicy", "EnvoyExtensionPolicy"), to("", "Service"))
	for _, namespace := range []string{"infra", "app"} {
		if g.chance(50) {
			grant(namespace, "targets", from(envoyGroup, some(g.source, 60, "BackendTrafficPolicy", "SecurityPolicy", "EnvoyExtensionPolicy", "ClientTrafficPolicy")...),
				to(gatewayGroup, some(g.source, 60, "HTTPRoute", "Gateway", "GRPCRoute", "ListenerSet")...))
		}
		if g.chance(50) {
			grant(namespace, "backends", from(gatewayGroup, some(g.source, 60, "HTTPRoute", "GRPCRoute", "TCPRoute", "Gateway", "ListenerSet")...), to("", some(g.source, 70, "Service", "Secret")...))
		}
	}
}

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
	for _, name := range some(g.source, percent, names...) {
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
			out := object{"type": pick(g.source, "Random", "RoundRobin", "LeastRequest")}
			if out["type"] != "Random" && g.chance(50) {
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
			for _, name := range some(g.source, 50, "websocket", "custom") {
				out = append(out, object{"type": name})
			}
			return out
		},
		"connection":    func() any { return object{"bufferLimit": fmt.Sprintf("%dKi", g.value())} },
		"proxyProtocol": func() any { return object{"version": pick(g.source, "V1", "V2")} },
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
	for _, name := range some(g.source, 50, "Gzip", "Brotli") {
		out = append(out, object{"type": name, "minContentLength": 100 + g.value()})
	}
	return out
}

func (g *envoyInput) rateLimit() any {
	out := object{}
	halves := some(g.source, 50, "local", "global")
	for _, half := range halves {
		var rules []object
		for range g.between(1, 2) {
			rule := object{"limit": object{"requests": g.value(), "unit": "Minute"}}
			if half == "global" || g.chance(60) {
				rule["clientSelectors"] = []object{{"headers": []object{{"name": "x-user", "value": fmt.Sprint(g.value())}}}}
			}
			rules = append(rules, rule)
			if rule["clientSelectors"] == nil {
				break // at most one rule is for everything else
			}
		}
		out[half] = object{"rules": rules}
	}
	if len(halves) == 1 && g.chance(20) {
		out["type"] = map[string]string{"local": "Local", "global": "Global"}[halves[0]]
	}
	return out
}

func (g *envoyInput) securitySettings() object {
	return g.filled(35, map[string]func() any{
		"cors": func() any {
			return g.filled(50, map[string]func() any{
				"allowOrigins": func() any { return []string{fmt.Sprintf("https://o%d.example.com", g.value())} },
				"allowMethods": func() any { return some(g.source, 40, "GET", "PUT", "POST") },
				"maxAge":       g.duration,
			}, "allowOrigins", "allowMethods", "maxAge")
		},
		"authorization": func() any {
			out := object{"rules": []object{{"action": pick(g.source, "Allow", "Deny"), "principal": object{"clientCIDRs": []string{fmt.Sprintf("10.0.%d.0/24", g.value())}}}}}
			if g.chance(50) {
				out["defaultAction"] = pick(g.source, "Allow", "Deny")
			}
			return out
		},
		"jwt": func() any {
			return object{"providers": []object{{"name": pick(g.source, "one", "two"), "issuer": fmt.Sprintf("https://i%d.example.com", g.value()),
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
	if g.chance(50) {
		out["http"].(object)["path"] = fmt.Sprintf("/auth/%d", g.value())
	}
	if g.chance(40) {
		out["failOpen"] = g.chance(50)
	}
	if g.chance(40) {
		out["timeout"] = g.seconds()
	}
	if g.chance(40) {
		var list []object
		for _, name := range some(g.source, 50, "a", "b") {
			list = append(list, object{"name": name, "type": "Value", "value": fmt.Sprint(g.value())})
		}
		out["contextExtensions"] = list
	}
	return out
}

func (g *envoyInput) extensionSettings() object {
	out := object{}
	if g.chance(30) {
		out["extProc"] = []object{{"backendRefs": asked(), "messageTimeout": g.seconds()}}
	}
	if g.chance(75) {
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
			return object{"withUnderscoresAction": pick(g.source, "Allow", "RejectRequest", "DropHeader")}
		},
		"http1": func() any { return object{"enableTrailers": true} },
		"http2": func() any { return object{"maxConcurrentStreams": g.value()} },
		"clientIPDetection": func() any {
			return object{"xForwardedFor": object{"numTrustedHops": g.value()}}
		},
		"healthCheck":   func() any { return object{"path": fmt.Sprintf("/health/%d", g.value())} },
		"tls":           func() any { return object{"minVersion": pick(g.source, "1.2", "1.3")} },
		"http3":         func() any { return object{} },
		"proxyProtocol": func() any { return object{"optional": g.chance(50)} },
	}, "tcpKeepalive", "timeout", "connection", "path", "headers", "http1", "http2", "clientIPDetection", "healthCheck", "tls", "http3", "proxyProtocol")
}
