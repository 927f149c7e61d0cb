package kgateway

import "github.com/dopolicy/kubectl-dopolicy/pkg/ingress"

// equivalents are what does the same as features of other proxies.
var equivalents = ingress.Equivalents{
	ingress.FeatureBasic:       "TrafficPolicy basicAuth (hashes of {SHA} only)",
	ingress.FeatureExternal:    "TrafficPolicy extAuth with a GatewayExtension",
	ingress.FeatureAddressList: "TrafficPolicy acl",
	ingress.FeatureRewrite:     "TrafficPolicy urlRewrite.pathRegex",
	ingress.FeatureBodyLimit:   "TrafficPolicy buffer.maxRequestSize",
	ingress.FeatureLimits:      "TrafficPolicy rateLimit",
	ingress.FeatureTimeouts:    "TrafficPolicy timeouts",
	ingress.FeatureRetries:     "TrafficPolicy retry",
	ingress.FeatureAffinity:    "BackendConfigPolicy loadBalancer",
}
