package traefik

import "github.com/dopolicy/kubectl-dopolicy/pkg/ingress"

// equivalents are what does the same as features of other proxies.
var equivalents = ingress.Equivalents{
	ingress.FeatureBasic:             "Middleware basicAuth",
	ingress.FeatureExternal:          "Middleware forwardAuth",
	ingress.FeatureClientCertificate: "TLSOption clientAuth",
	ingress.FeatureAddressList:       "Middleware ipAllowList",
	ingress.FeatureRewrite:           "Middleware replacePathRegex",
	ingress.FeatureBodyLimit:         "Middleware buffering.maxRequestBodyBytes",
	ingress.FeatureLimits:            "Middleware rateLimit",
	ingress.FeatureTimeouts:          "ServersTransport",
	ingress.FeatureRetries:           "Middleware retry",
	ingress.FeatureAffinity:          "sticky of the Service",
}
