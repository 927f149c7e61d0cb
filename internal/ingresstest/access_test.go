package ingresstest

import (
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// verdict is what one gate says.
type verdict string

const (
	declines verdict = "declines" // it says nothing
	opens    verdict = "opens"
	closes   verdict = "closes"
)

// gate is one of what stands before a backend: what it says, and what it answers.
type gate struct {
	says   verdict
	status int
	by     ingress.Barrier
}

// listGates lists the gates in the order in which nginx asks them.
func (v *visit) listGates() []gate {
	out := []gate{v.askLists()}
	if v.isExempt() {
		return out
	}
	if v.at.basic {
		says := closes
		if v.r.Assumed.BasicAccepted {
			says = opens
		}
		out = append(out, gate{says, http.StatusUnauthorized, ingress.Basic})
	}
	if v.at.isAsked(v.p) {
		out = append(out, v.askService())
	}
	return out
}

// isExempt follows N23.
func (v *visit) isExempt() bool { return v.at.isBelow(v.p.c.value("no-auth-locations", acme)) }

// checkAccess asks the gates: all have to open, or with `satisfy: any` one (N32). If none does, a service
// that fails decides, then what asks for credentials.
func (v *visit) checkAccess() *ingress.Answer {
	gates := v.listGates()
	opened := slices.ContainsFunc(gates, func(g gate) bool { return g.says == opens })
	if v.at.satisfyAny && opened {
		return nil
	}
	var refusal *gate
	for _, g := range gates {
		if g.says != closes {
			continue
		}
		if !v.at.satisfyAny || g.status == http.StatusInternalServerError {
			return v.refuse(g)
		}
		if refusal == nil || refusal.status != http.StatusUnauthorized {
			refusal = &g
		}
	}
	if refusal != nil {
		return v.refuse(*refusal)
	}
	return nil
}

// refuse answers for a gate; where one signs in, all 401 lead there (N28).
func (v *visit) refuse(g gate) *ingress.Answer {
	if g.status == http.StatusInternalServerError {
		return &ingress.Answer{Outcome: request.BackendError, Status: g.status}
	}
	if g.status == http.StatusUnauthorized && v.at.signIn != "" {
		return redirectTo(http.StatusFound, v.signInURL())
	}
	return denyRequest(g.status, g.by)
}

// askLists follows N31.
func (v *visit) askLists() gate {
	address := v.address()
	switch at := v.at; {
	case len(at.refused)+len(at.allowed) == 0:
		if containsAddress(readNetworks(v.p.c.value("block-cidrs", "")), address) {
			return gate{closes, http.StatusForbidden, ingress.Blocked}
		}
	case containsAddress(at.refused, address):
		return gate{closes, http.StatusForbidden, ingress.DenyList}
	case containsAddress(at.allowed, address):
		return gate{says: opens}
	case len(at.allowed) > 0:
		return gate{closes, http.StatusForbidden, ingress.AllowList}
	}
	return gate{says: declines}
}

// address is the peer's, or what the peer says if anybody is trusted (N31).
func (v *visit) address() netip.Addr {
	if sent, has := findHeader(v.r, "X-Forwarded-For"); has && v.trustsHeaders() {
		first, _, _ := strings.Cut(sent, ",")
		if a, err := netip.ParseAddr(strings.TrimSpace(first)); err == nil {
			return a
		}
	}
	return v.r.ClientAddress
}

// askService follows N28 and N29.
func (v *visit) askService() gate {
	address := v.at.authURL
	if address == "" {
		address = v.p.c.value("global-auth-url", "")
	}
	status := v.r.Assumed.External
	if status == 0 {
		status = http.StatusUnauthorized
	}
	switch {
	case !v.p.isReachable(address):
		status = http.StatusInternalServerError
	case status >= 200 && status < 300:
		return gate{says: opens, by: ingress.External}
	case status != http.StatusUnauthorized && status != http.StatusForbidden:
		status = http.StatusInternalServerError
	}
	return gate{closes, status, ingress.External}
}

// isReachable reports whether the Service that a URL names is there.
func (p *proxy) isReachable(address string) bool {
	u, err := url.Parse(address)
	if err != nil {
		return false
	}
	parts := strings.Split(u.Hostname(), ".")
	return len(parts) < 3 || parts[2] != "svc" || p.c.findService(parts[1], parts[0]) != nil
}

// signInURL is where one signs in, with where the request was meant to go.
func (v *visit) signInURL() string {
	to := strings.ReplaceAll(v.at.signIn, "$host", v.host())
	u, err := url.Parse(to)
	if err != nil {
		return to
	}
	joint := "?"
	if len(u.Query()) > 0 {
		joint = "&"
	}
	if u.Query().Get(v.at.signInParam) != "" {
		return to
	}
	return to + joint + v.at.signInParam + "=" + v.forwardedScheme() + "://" + v.hostText() + escapeText(v.sentPath())
}

// listCredentials lists what has to be passed at the location, whether or not the request does:
// nothing, if any suffices and its address does. It is never nil: that is said of requests that do not get as far.
func (v *visit) listCredentials() [][]ingress.Barrier {
	out := [][]ingress.Barrier{}
	if c := v.server.certificates; c != nil && v.r.Secure && c.verify == "on" {
		out = append(out, []ingress.Barrier{ingress.ClientCertificate})
	}
	var words []ingress.Barrier
	for _, g := range v.listGates() {
		if g.by.IsCredential() {
			words = append(words, g.by)
		}
	}
	switch {
	case v.at.satisfyAny && v.askLists().says == opens:
		return out
	case v.at.satisfyAny && len(words) > 0:
		return append(out, words)
	}
	for _, word := range words {
		out = append(out, []ingress.Barrier{word})
	}
	return out
}
