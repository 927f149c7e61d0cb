package ingress

import (
	"net/netip"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// Proxy is the proxy of a controller of Ingress objects, as the objects of an input configure it. It
// changes nothing and may be asked by several goroutines.
type Proxy struct {
	Class     string      // by which people name it
	Hosts     []string    // names and wildcards, in their order; "": all that have no other
	Locations []Location  // by host, then in the order in which they are tried
	Unused    []model.Ref // Ingresses of which nothing is in force
	Problems  []model.Problem
	// Refused is set if the proxy refuses its configuration: nothing of the input is known to be in
	// force. It is said by a problem.
	Refused bool
	Answer  func(*request.Request, *Spent) *Answer
	Tests   func(host string) Tests // what tells apart the requests to one of the hosts
}

// Reader makes the proxies of one controller. nil: the input has no Ingress of it.
type Reader func(*model.Snapshot) *Proxy

// Location is a path of a host.
type Location struct {
	Host      string
	Path      string // as the Ingress has it; "/" of a host on which nobody has that path
	Match     Match
	Ingress   model.Ref
	Origin    model.Origin // of the path in the Ingress
	Implied   bool         // no Ingress has the path: the proxy adds it
	Backends  []Backend
	NeedsAuth [][]Barrier
	// AnyOf is true if a client gets in that passes the lists of addresses, or has what NeedsAuth asks for.
	AnyOf     bool
	Redirects bool      // all requests that are not refused before are redirected
	Barriers  []Barrier // all that may refuse requests, in their order
	Settings  []Setting
	Unknown   string // why it is not known what becomes of its requests; "": it is
}

// Match is how a location is compared with the path of a request.
type Match struct {
	Form  MatchForm
	Value string // of an expression the expression that is tried, in the syntax of Go
}

// MatchForm is a form of Match.
type MatchForm string

// The forms.
const (
	Exact      MatchForm = "Exact"
	Prefix     MatchForm = "Prefix" // by elements of the path
	Expression MatchForm = "Expression"
)

// Tests are what tells requests to a host apart besides the host: all requests that no test tells
// apart get the same, but for what is made of their path and query.
type Tests struct {
	Paths     []request.Test // on the path
	Fields    []request.Test // on headers and query parameters
	Addresses []netip.Prefix // of clients
	Methods   []string
	Bodies    []int64 // sizes beyond which a body is refused
	TLS       bool    // a certificate is configured for the host
	// Certificates is true if it matters whether a client shows a certificate.
	Certificates bool
}

// Spent counts the requests that limits have let through, by what counts together. nil: none.
type Spent struct{ counts map[string]int }

// Add counts requests and returns how many there were before.
func (s *Spent) Add(key string, requests int) int {
	if s == nil {
		return 0
	}
	if s.counts == nil {
		s.counts = map[string]int{}
	}
	before := s.counts[key]
	s.counts[key] = before + requests
	return before
}
