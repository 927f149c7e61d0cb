package gate

import "slices"

// Property is a statement about every request that gets through to a backend.
type Property string

// The properties. The vocabulary is closed.
const (
	// it showed a credential that was verified, and would not have got through without one
	Authentication Property = "authentication"
	Authorization  Property = "authorization" // it was put to a decision that can refuse
	// its connection showed a certificate that was demanded and verified
	ClientCertificate Property = "clientCertificate"
	RateLimit         Property = "rateLimit"     // it was counted against a finite limit
	IPList            Property = "ipList"        // it came from a listed address, or from none of a list
	CORS              Property = "cors"          // if it names a foreign origin, that is one of a finite list
	WAF               Property = "waf"           // it passed a rule engine that blocks
	TLSIn             Property = "tlsIn"         // it arrived over TLS
	HTTPSRedirect     Property = "httpsRedirect" // without TLS it is redirected to https
	TLSBackend        Property = "tlsBackend"    // it goes on over TLS with a verified name and CA
	RequestSize       Property = "requestSize"   // its headers or its body have an upper bound
	Timeout           Property = "timeout"       // its time has an upper bound
	Retry             Property = "retry"         // it is retried
)

// Properties lists the vocabulary, in the order in which answers show it.
func Properties() []Property {
	return []Property{Authentication, Authorization, ClientCertificate, RateLimit, IPList, CORS, WAF, TLSIn,
		HTTPSRedirect, TLSBackend, RequestSize, Timeout, Retry}
}

// IsProperty reports whether a word is one of the vocabulary.
func IsProperty(word string) bool { return slices.Contains(Properties(), Property(word)) }

// IsAccess reports whether a request that loses the property gets where it did not get before.
func (p Property) IsAccess() bool {
	switch p {
	case Authentication, Authorization, ClientCertificate, IPList:
		return true
	}
	return false
}

// Methods lists the words for how a request is authenticated.
func Methods() []string {
	return []string{"jwt", "oidc", "basic", "apiKey", "clientCertificate", "mtls", "iam", "hmac", "ldap",
		"introspection", "tokenReview"}
}

// Verdict is what is true of a property.
type Verdict string

// The verdicts.
const (
	Holds         Verdict = "holds"
	Fails         Verdict = "fails" // a request is known that gets through without
	Depends       Verdict = "depends"
	NotApplicable Verdict = "notApplicable"
)

// Code is the reason of a verdict in one word.
type Code string

// The reasons, by the verdict that they go with.
const (
	Required  Code = "Required"
	DeniesAll Code = "DeniesAll" // nobody gets through

	NoGate           Code = "NoGate"           // nothing sets it
	Replaced         Code = "Replaced"         // a policy that sets it lost to one that does not
	AnonymousAllowed Code = "AnonymousAllowed" // an alternative asks for nothing
	MissingAllowed   Code = "MissingAllowed"   // verified only if sent
	NeverRefused     Code = "NeverRefused"     // verified, and let through anyway
	NotVerified      Code = "NotVerified"      // demanded only
	AllowsAll        Code = "AllowsAll"
	AnyAddress       Code = "AnyAddress"
	AnyOrigin        Code = "AnyOrigin"
	Unlimited        Code = "Unlimited"
	DryRun           Code = "DryRun"
	Disabled         Code = "Disabled"
	Skipped          Code = "Skipped" // a path, method, header or backend is exempt
	OtherMethod      Code = "OtherMethod"

	ExternalDecision Code = "ExternalDecision"
	FailOpen         Code = "FailOpen"
	Condition        Code = "Condition"  // a predicate that classes of requests do not know
	Expression       Code = "Expression" // the decision itself is an expression
	Consumer         Code = "Consumer"
	ExternalObject   Code = "ExternalObject"
	MissingObject    Code = "MissingObject" // one that decides is not in the input
	NotRead          Code = "NotRead"
)

// VerdictOf is the verdict that a reason goes with; "" for a word that is none.
func (c Code) VerdictOf() Verdict {
	switch c {
	case Required, DeniesAll:
		return Holds
	case NoGate, Replaced, AnonymousAllowed, MissingAllowed, NeverRefused, NotVerified, AllowsAll, AnyAddress,
		AnyOrigin, Unlimited, DryRun, Disabled, Skipped, OtherMethod:
		return Fails
	case ExternalDecision, FailOpen, Condition, Expression, Consumer, ExternalObject, MissingObject, NotRead:
		return Depends
	}
	return ""
}
