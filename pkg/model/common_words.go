package model

// commonWords are words that are in most objects, the most frequent first. In packed values their
// number stands for them. The order may change: these do not outlive the program.
var commonWords = [...]string{
	"name", "kind", "apiVersion", "metadata", "namespace", "spec", "rules", "group", "targetRef", "type", "value",
	"port", "path", "matches",
	"backendRefs", "parentRefs", "hostnames", "gateway.networking.k8s.io", "HTTPRoute", "gateway.networking.k8s.io/v1",
	"PathPrefix", "Gateway",
	"sectionName", "defaults", "overrides", "strategy", "merge", "atomic", "when", "predicate", "key", "selector",
	"matchLabels", "labels",
	"annotations", "listeners", "protocol", "hostname", "allowedRoutes", "namespaces", "from", "All", "Same",
	"Selector", "HTTP", "HTTPS", "Service",
	"weight", "filters", "headers", "method", "GRPCRoute", "gatewayClassName", "targetRefs", "matchExpressions",
	"operator", "values", "In", "tls",
	"mode", "certificateRefs", "controllerName", "parametersRef", "Exact", "RegularExpression", "queryParams", "GET",
	"POST", "TCP", "TLS", "UDP",
	"v1", "Namespace", "GatewayClass", "ReferenceGrant", "gateway.networking.k8s.io/v1beta1", "to", "ports",
	"targetPort", "app",
	"app.kubernetes.io/name", "creationTimestamp", "uid", "resourceVersion", "generation", "status", "conditions",
	"data", "requestHeaderModifier",
	"responseHeaderModifier", "requestRedirect", "urlRewrite", "extensionRef", "set", "add", "remove",
	"replacePrefixMatch", "service", "default",
	"timeouts", "request", "backendRequest", "description", "config", "options", "limits", "rates", "limit", "window",
	"duration", "policy", "patch",
	"allow", "deny", "action", "claims", "required", "expression", "host", "scheme", "code",
}

// commonWordNumbers finds common words.
var commonWordNumbers = func() map[string]int {
	m := make(map[string]int, len(commonWords))
	for i, word := range commonWords {
		m[word] = i
	}
	return m
}()
