package nginx

import "github.com/dopolicy/kubectl-dopolicy/pkg/ingress"

// equivalents are what does the same as features of other proxies.
var equivalents = ingress.Equivalents{
	ingress.FeatureBasic:     "AuthenticationFilter basic",
	ingress.FeatureBodyLimit: "ClientSettingsPolicy body.maxSize",
	ingress.FeatureLimits:    "RateLimitPolicy rateLimit",
	ingress.FeatureTimeouts:  "ProxySettingsPolicy timeout",
	ingress.FeatureAffinity:  "UpstreamSettingsPolicy",
}
