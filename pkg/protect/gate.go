package protect

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Gate is a setting on the way of a request that establishes a property, or would but for its
// reasons.
type Gate struct {
	Property gate.Property
	Method   string    // of authentication; "" where it has none
	Object   model.Ref // that sets it
	Field    string    // as `effective` names it, else its path in the spec; "": the object as a whole
	Group    string    // gates of one group are alternatives; "": it stands alone
	Reasons  []Reason  // why it does not hold, or may not; nil: it holds
	Refuses  Refusal   // what it does with this request
	Counters []Counter

	Answers []string // statuses that it may give, as numbers or "*"
	Missing []string // those for a request without the credential
	Reads   []string // where the credential is; see RequestReader.LacksCredential
	Order   int      // gates with a lower number are asked first

	mayRefuse   bool   // it may refuse the request, although it does not hold
	settingPath string // of the setting that makes it, where several have one field

	// Overridden is the policy of another kind that replaces the gate, which is not
	// in force then; zero: none does.
	Overridden model.Ref
}

// Refusal says what a gate does with one request.
type Refusal uint8

// What gates do.
const (
	MayRefuse Refusal = iota // it may refuse the request, whatever the credentials in it are worth
	// it refuses the request for certain: a constant, or a credential that the request does not
	// have
	AlwaysRefuses
	NeverRefuses // it lets the request pass
	NotAsked     // another one of its alternatives is asked in its place
)

// Reason is why a verdict is as it is.
type Reason struct {
	Code    gate.Code  `json:"code"`             // in one word
	Object  *model.Ref `json:"object,omitempty"` // that it is about
	Field   string     `json:"field,omitempty"`  // of the object
	Message string     `json:"message"`          // in words
}

// Counter is how a limit counts.
type Counter struct {
	Limit any    `json:"limit,omitempty"` // requests, or what else is counted
	Per   string `json:"per,omitempty"`   // the window, as the policy writes it
	// what shares a counter: rule, route, host, listener, gateway, backend, policy
	Scope string   `json:"scope,omitempty"`
	Key   []string `json:"key,omitempty"` // by what requests are told apart; each value has a counter
	// all: one counter for all proxies; each: every proxy counts for itself
	Replicas string `json:"replicas,omitempty"`
}

// formatKey returns a text that tells counters apart.
func (c *Counter) formatKey() string {
	return fmt.Sprintf("%v/%s %s %s %q", c.Limit, c.Per, c.Scope, c.Replicas, c.Key)
}

// AddReason adds a reason why the gate does not hold, or may not, for a setting of its object.
func (g *Gate) AddReason(code gate.Code, field string) {
	object := g.Object
	g.Reasons = append(g.Reasons, Reason{Code: code, Object: &object, Field: field, Message: formatReason(code,
		object, field)})
}

// SetMayRefuse notes that the gate may refuse the request, although it does not hold for all of its
// class.
func (g *Gate) SetMayRefuse() { g.Refuses, g.mayRefuse = MayRefuse, true }

// Verdict returns what the gate alone says.
func (g *Gate) Verdict() gate.Verdict { return verdictOf(g.Reasons) }

// verdictOf returns the worst of what reasons go with.
func verdictOf(reasons []Reason) gate.Verdict {
	out := gate.Holds
	for _, r := range reasons {
		switch r.Code.VerdictOf() {
		case gate.Fails:
			return gate.Fails
		case gate.Depends:
			out = gate.Depends
		}
	}
	return out
}

// HasReason reports whether a gate has a reason.
func (g *Gate) HasReason(code gate.Code) bool {
	for _, r := range g.Reasons {
		if r.Code == code {
			return true
		}
	}
	return false
}

// formatReason says a reason in words.
func formatReason(code gate.Code, object model.Ref, field string) string {
	what := formatSubject(object, field)
	switch code {
	case gate.Replaced:
		return what + " is overridden by a policy that does not set it"
	case gate.AnonymousAllowed:
		if field == "" {
			return what + " sets no authentication, which lets anonymous requests in"
		}
		return what + " lets anonymous requests in"
	case gate.MissingAllowed:
		return what + " lets requests without a credential in"
	case gate.NeverRefused:
		return what + " lets requests with a bad credential in"
	case gate.NotVerified:
		return what + " demands a credential and does not verify it"
	case gate.AllowsAll:
		return what + " allows every request"
	case gate.AnyAddress:
		return what + " allows every address"
	case gate.AnyOrigin:
		return what + " allows every origin"
	case gate.Unlimited:
		return what + " sets no limit"
	case gate.DryRun:
		return what + " only reports: it refuses nothing"
	case gate.Disabled:
		return what + " switches it off"
	case gate.Skipped:
		return what + " does not ask for it on some requests"
	case gate.OtherMethod:
		return what + " authenticates by another method"
	case gate.ExternalDecision:
		return what + " asks a service, whose decision is not in the input"
	case gate.FailOpen:
		return what + " lets requests in while the service does not answer"
	case gate.Condition:
		return what + " holds under a condition that is not evaluated"
	case gate.Expression:
		return what + " decides by an expression that is not evaluated"
	case gate.Consumer:
		return what + " counts anonymous requests as a consumer, whose plugins decide"
	case gate.ExternalObject:
		return what + " names an object outside of the cluster"
	case gate.MissingObject:
		return what + " depends on an object that is not in the input"
	case gate.NotRead:
		return what + " is not read"
	case gate.DeniesAll:
		return what + " lets nobody through"
	}
	return what + " demands it"
}

func formatSubject(object model.Ref, field string) string {
	name := object.String()
	switch {
	case object == (model.Ref{}):
		return "a setting"
	case field == "":
		return name
	}
	return field + " of " + name
}
