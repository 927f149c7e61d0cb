package ingress

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Barrier is what may refuse a request at a proxy.
type Barrier string

// The barriers. Configuration: the object that would say who gets in is wrong or missing, so that
// nobody does.
const (
	Basic             Barrier = "basic"    // a password, digests included
	External          Barrier = "external" // a service is asked
	ClientCertificate Barrier = "clientCertificate"
	AllowList         Barrier = "allowlist"
	DenyList          Barrier = "denylist"
	Blocked           Barrier = "blocked" // an address, a user agent or a referer that the whole proxy blocks
	BodySize          Barrier = "bodySize"
	Configuration     Barrier = "configuration"
	JWT               Barrier = "jwt"
	OIDC              Barrier = "oidc"
	APIKey            Barrier = "apiKey"
	Authorization     Barrier = "authorization"
)

// IsCredential reports whether a client passes the barrier by what it shows of itself.
func (b Barrier) IsCredential() bool {
	switch b {
	case Basic, External, JWT, OIDC, APIKey:
		return true
	}
	return false
}

// Answer is what becomes of a request at a proxy.
type Answer struct {
	Outcome  request.Outcome
	Status   int    // of the answer, where the proxy gives it; 0: a backend does
	Location string // of a redirect
	DeniedBy Barrier
	// NeedsAuth are the credentials that have to be passed: one of each list. It does not depend on
	// whether this request passes.
	NeedsAuth [][]Barrier
	Backends  []Backend // that may get it, those of weight 0 included
	// ResponseHeaders are what the proxy sets in the answer, and what it removes.
	ResponseHeaders []Header
	Statuses        []StatusCount // of a request that is repeated
	Affinity        string        // the name of the cookie that ties clients to an endpoint; "": none
	Why             []string      // what decided, the most telling first; of NotEvaluated what is not known
	Ingress         model.Ref     // the Ingress whose path takes it; zero: none
	Path            string        // of that Ingress, as it is written
	Settings        []Setting     // in force for it
	Problems        []model.Problem
}

// Backend is a Service that may get a request.
type Backend struct {
	Ref     model.Ref // its section is the name of the port, if it has one
	Port    int32     // the Service's
	Weight  int
	Path    string // path and query as it gets them
	TLS     bool   // the proxy speaks TLS to it
	Headers []Header
}

// Header is a header that a proxy sets or removes. A value that is not known is "...".
type Header struct {
	Name    string
	Values  []string
	Removed bool
}

// StatusCount says how many of the requests that are sent at once get a status: at least and at most.
type StatusCount struct {
	Status int `json:"status"` // of the answer
	Least  int `json:"least"`  // that get it, whatever the timing
	Most   int `json:"most"`   // that may get it
}

// Setting is a setting in force on a path. Names: bodyLimit, timeouts.*, retries.*, buffering.*,
// backendProtocol, and those of limits, affinity and headers. Locations also have, where an object
// sets it, what answers tell by other means: authentication.*, addresses.*, redirect.*, rewrite.target,
// cors.origins, upstreamHost and canary.*.
type Setting struct {
	Name, Value string
	Source      model.Ref // the object that sets it; zero: it is a default of the proxy
	Field       string    // of the source, as it is written there
}
