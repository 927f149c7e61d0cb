package ingress

// Feature is something that a proxy does for requests and another one may do as well.
type Feature string

// The features.
const (
	FeatureBasic             Feature = "basic"
	FeatureExternal          Feature = "external"
	FeatureClientCertificate Feature = "clientCertificate"
	FeatureAddressList       Feature = "addressList"
	FeatureRewrite           Feature = "rewrite" // of a path by an expression
	FeatureBodyLimit         Feature = "bodyLimit"
	FeatureLimits            Feature = "limits"
	FeatureTimeouts          Feature = "timeouts"
	FeatureRetries           Feature = "retries"
	FeatureAffinity          Feature = "affinity"
)

// FeatureOf returns the feature that a barrier is of; "": of none.
func FeatureOf(b Barrier) Feature {
	switch b {
	case Basic, External, ClientCertificate:
		return Feature(b)
	case AllowList, DenyList:
		return FeatureAddressList
	}
	return ""
}

// Equivalents are what an implementation of Gateways has for features, as KIND FIELD.
type Equivalents map[Feature]string
