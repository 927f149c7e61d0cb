package request

import "net/netip"

// Circumstances are what a request comes with besides what it says, and what is assumed of who
// judges it.
type Circumstances struct {
	Given         bool       // any of them was given
	ClientAddress netip.Addr // the peer's; not valid: one that no list names
	Certificate   Certificate
	BodyBytes     int64
	Repeat        int // how often it is sent at once; 0 and 1: once
	Assumed       Assumptions
}

// Certificate is the certificate that a client shows.
type Certificate struct {
	Shown   bool
	Trusted bool   // the authority in force has signed it
	Subject string // as it is written, such as CN=client
}

// Assumptions are what manifests do not tell.
type Assumptions struct {
	BasicAccepted bool // the user and password of the request are in the list
	// External is the status with which a service answers that is asked whether a request may
	// pass; 0: 401.
	External        int
	ExternalHeaders []Field // of that answer
	// Credentials of every kind are accepted, as far as they are asked for.
	Credentials bool
	Backend     int // the status with which a backend answers; 0: nothing is said of it
}
