package envoygateway

import "github.com/dopolicy/kubectl-dopolicy/pkg/ingress"

// equivalents are what does the same as features of other proxies.
var equivalents = ingress.Equivalents{
	ingress.FeatureBasic:             "SecurityPolicy basicAuth.users (hashes of {SHA} only)",
	ingress.FeatureExternal:          "SecurityPolicy extAuth.http",
	ingress.FeatureClientCertificate: "ClientTrafficPolicy tls.clientValidation",
	ingress.FeatureAddressList:       "SecurityPolicy authorization.rules[].principal.clientCIDRs",
	ingress.FeatureRewrite:           "HTTPRouteFilter urlRewrite.path.replaceRegexMatch",
	ingress.FeatureBodyLimit:         "BackendTrafficPolicy requestBuffer.limit",
	ingress.FeatureLimits:            "BackendTrafficPolicy rateLimit",
	ingress.FeatureTimeouts:          "BackendTrafficPolicy timeout",
	ingress.FeatureRetries:           "BackendTrafficPolicy retry",
	ingress.FeatureAffinity:          "BackendTrafficPolicy loadBalancer.consistentHash",
}
