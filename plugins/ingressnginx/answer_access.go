package ingressnginx

import (
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// isAuthExcepted reports whether a location asks nobody for credentials (N23).
func (p *proxy) isAuthExcepted(l *location) bool {
	return p.control.config.isExcepted("no-auth-locations", l.path)
}

// listCredentials are what a location asks clients for, in this order: one of each list.
func (p *proxy) listCredentials(l *location) [][]ingress.Barrier {
	if p.isAuthExcepted(l) {
		return nil
	}
	var out []ingress.Barrier
	if l.settings.basic {
		out = append(out, ingress.Basic)
	}
	if l.external != nil {
		out = append(out, ingress.External)
	}
	if len(out) == 0 {
		return nil
	}
	if l.settings.satisfyAny {
		return [][]ingress.Barrier{out}
	}
	lists := make([][]ingress.Barrier, len(out))
	for i, b := range out {
		lists[i] = []ingress.Barrier{b}
	}
	return lists
}

// addressList is the list of addresses of a location (N31).
func (p *proxy) addressList(l *location) *ingress.AddressList {
	s := l.settings
	list := &ingress.AddressList{Allow: len(s.allow) == 0}
	if len(s.deny) > 0 {
		list.Rules = append(list.Rules, ingress.AddressRule{Ranges: s.deny})
	}
	if len(s.allow) > 0 {
		list.Rules = append(list.Rules, ingress.AddressRule{Allow: true, Ranges: s.allow})
	}
	return list
}

// checkList finds whether the client's address passes, and what refuses it. named: a list allows it by name.
func (w *walk) checkList() (passes, named bool, by ingress.Barrier) {
	l := w.location
	list := w.addressList(l)
	if len(list.Rules) == 0 {
		if blocked := w.control.config.readRanges("block-cidrs"); containsAddress(blocked, w.address) {
			return false, false, ingress.Blocked
		}
		return true, false, ""
	}
	for _, rule := range list.Rules {
		if containsAddress(rule.Ranges, w.address) {
			return rule.Allow, rule.Allow, ingress.DenyList
		}
	}
	return list.Allow, false, ingress.AllowList
}

// checkAccess asks whether the client may get in (N27, N28, N31, N32).
func (w *walk) checkAccess() bool {
	l := w.location
	needs := w.listCredentials(l)
	passes, named, by := w.checkList()
	if l.settings.satisfyAny && named {
		return false
	}
	w.answer.NeedsAuth = append(w.answer.NeedsAuth, needs...)
	listWhy := "the address of the client is not allowed at Ingress " + l.ownerName()
	if !passes && (!l.settings.satisfyAny || len(needs) == 0) {
		return w.denyRequest(by, 403, listWhy)
	}
	if len(needs) == 0 {
		return false
	}
	if l.settings.satisfyAny {
		return w.checkAny(needs[0])
	}
	for _, need := range needs {
		if w.checkCredential(need[0]) {
			return true
		}
	}
	return false
}

// checkAny asks for one of several credentials.
func (w *walk) checkAny(needs []ingress.Barrier) bool {
	for _, b := range needs {
		if b == ingress.External && w.location.external.unknown != "" {
			return w.giveUp(w.location.external.unknown)
		}
		if b == ingress.Basic && w.request.Assumed.BasicAccepted || b == ingress.External && w.externalStatus()/100 == 2 {
			w.takeCredential(b)
			return false
		}
	}
	why := "one of what Ingress " + w.location.ownerName() + " asks for has to be accepted"
	status := 401
	if slices.Contains(needs, ingress.External) {
		external := w.externalStatus()
		if external != 401 && external != 403 {
			return w.checkCredential(ingress.External)
		}
		if len(needs) == 1 {
			status = external
		}
	}
	return w.refuseCredential(needs[0], status, why)
}

// checkCredential asks for one credential.
func (w *walk) checkCredential(b ingress.Barrier) bool {
	l := w.location
	if b == ingress.Basic {
		if !w.request.Assumed.BasicAccepted {
			return w.refuseCredential(b, 401, l.owner.reader.formatName("auth-type")+" asks for a user and a password")
		}
		w.takeCredential(b)
		return false
	}
	if l.external.unknown != "" {
		return w.giveUp(l.external.unknown)
	}
	switch status := w.externalStatus(); {
	case status/100 == 2:
		w.takeCredential(b)
		return false
	case status == 401, status == 403:
		return w.refuseCredential(b, status, l.external.from+": the service does not let the request pass")
	default:
		return w.endRequest(request.BackendError, 500,
			l.external.from+": the service cannot be asked, or answers with an error")
	}
}

// refuseCredential refuses a request, or sends the client where it can sign in.
func (w *walk) refuseCredential(b ingress.Barrier, status int, why string) bool {
	a := w.location.external
	if status != 401 || a == nil || a.signin == "" {
		return w.denyRequest(b, status, why)
	}
	to, _ := expandVariables(a.signinURL(), w.readVariable)
	return w.redirectTo(302, to, why+", and sends clients to sign in")
}

// signinURL is where clients sign in, with the URL that they come back to.
func (a *externalAuth) signinURL() string {
	const back = "$pass_access_scheme://$http_host$escaped_request_uri"
	parameter := a.signinParameter
	if parameter == "" {
		parameter = "rd"
	}
	u, err := url.Parse(a.signin)
	if err != nil {
		return a.signin
	}
	switch q := u.Query(); {
	case len(q) == 0:
		return a.signin + "?" + parameter + "=" + back
	case q.Get(parameter) != "":
		return a.signin
	}
	return a.signin + "&" + parameter + "=" + back
}

// externalStatus is what the service answers: as is assumed, unless it is known not to be there.
func (w *walk) externalStatus() int {
	if w.location.external.unreachable {
		return 502
	}
	if w.request.Assumed.External == 0 {
		return 401
	}
	return w.request.Assumed.External
}

// takeCredential notes what an accepted credential does to the request.
func (w *walk) takeCredential(b ingress.Barrier) {
	if b != ingress.External {
		return
	}
	a := w.location.external
	if a.cached {
		w.addReasons(a.from + ": answers of the service may be kept for other requests")
	}
	for _, name := range a.responseHeaders {
		value := ""
		for _, h := range w.request.Assumed.ExternalHeaders {
			if strings.EqualFold(h.Name, name) {
				value = h.Value
			}
		}
		w.changed = append(w.changed, request.Field{Name: name, Value: value})
	}
}

// grant is how many requests a limit lets through.
type grant struct {
	allowed int
	unsure  bool // fewer may get through
}

// checkLimits counts the requests against the limits of the Ingress (N34).
func (w *walk) checkLimits() bool {
	l := w.location.settings.limits
	if !l.any() || containsAddress(l.free, w.address) {
		return false
	}
	n := max(w.request.Repeat, 1)
	allowed := n
	var keys []string
	for _, limit := range []struct {
		name  string
		count int
	}{{"limit-rps", l.perSecond}, {"limit-rpm", l.perMinute}} {
		if limit.count > 0 {
			key := limit.name + " " + w.location.ownerName() + " " + w.address.String()
			keys = append(keys, key)
			allowed = min(allowed, max(0, 1+limit.count*l.burst-w.spent.Add(key, 0)))
		}
	}
	for _, key := range keys {
		w.spent.Add(key, allowed)
	}
	w.granted = append(w.granted, grant{allowed: allowed})
	if l.connections > 0 && n > l.connections {
		w.granted = append(w.granted, grant{allowed: l.connections, unsure: true})
		w.addReasons(w.location.owner.reader.formatName("limit-connections") + " lets " + strconv.Itoa(l.connections) +
			" requests of a client be answered at once: how many of these are at once is not known")
	}
	if allowed > 0 {
		return false
	}
	return w.endRequest(request.Limited, w.control.config.readInteger("limit-req-status-code", 503),
		"the limits of Ingress "+w.location.ownerName()+" are used up")
}

// countStatuses says how many of the requests that are sent at once get which status.
func (w *walk) countStatuses() {
	n, a := max(w.request.Repeat, 1), w.answer
	if n == 1 || a.Outcome == request.NotEvaluated {
		return
	}
	c, status := w.control.config, a.Status
	if status == 0 {
		status = 200
	}
	if a.Outcome == request.Limited {
		a.Statuses = []ingress.StatusCount{{Status: status, Least: n, Most: n}}
		return
	}
	most, least, refusedMost := n, n, 0
	limitStatus := c.readInteger("limit-req-status-code", 503)
	for _, g := range w.granted {
		if g.unsure {
			least, limitStatus, refusedMost = min(least, g.allowed), c.readInteger("limit-conn-status-code", 503), n-g.allowed
			continue
		}
		most, least = min(most, g.allowed), min(least, g.allowed)
	}
	a.Statuses = []ingress.StatusCount{{Status: status, Least: least, Most: most}}
	if refused := n - most; refused > 0 || refusedMost > 0 {
		a.Statuses = append(a.Statuses, ingress.StatusCount{Status: limitStatus, Least: n - most, Most: n - least})
	}
	if most < n {
		a.Outcome, a.Status, a.Location, a.DeniedBy = request.Limited, 0, "", ""
		a.Why = append([]string{"the limits of Ingress " + w.location.ownerName() + " let " + strconv.Itoa(most) +
			" of the requests through"}, a.Why...)
	}
}
