package ingressnginx

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// service is the backend of the location as its Ingress names it.
func (l *location) service() serviceRef {
	if l.owner == nil {
		return serviceRef{}
	}
	for _, rule := range l.owner.rules {
		for _, path := range rule.paths {
			if path.service != nil && path.path == l.ingressPath() {
				return *path.service
			}
		}
	}
	if l.owner.fallback != nil {
		return *l.owner.fallback
	}
	return serviceRef{}
}

// chooseBackend finds what gets the request, canaries included, and answers if nothing is there (N25, N37).
func (w *walk) chooseBackend() bool {
	w.upstream = w.location.upstream
	if g := w.upstream.endpoints; g.assume != "" {
		w.addReasons(g.assume)
	}
	if !w.upstream.isServed() {
		if w.location.sorry == nil {
			return w.endWithError(503, w.upstream.endpoints.why)
		}
		w.upstream, w.code = w.location.sorry, 503
	}
	return w.chooseShares()
}

// endWithError ends the way with an error of the proxy, or with what answers errors in its place (N39).
func (w *walk) endWithError(status int, why string) bool {
	if w.answerError(status) {
		w.addReasons(why)
		return true
	}
	return w.endRequest(request.BackendError, status, why)
}

// chooseShares finds which part of the requests each backend gets. Only the first canary counts (N26).
func (w *walk) chooseShares() bool {
	main := w.upstream
	w.shares = []share{{main, 1}}
	if main.mixed {
		return w.giveUp(fmt.Sprintf("the default-backend of Ingress %s stands in for several Services of which not all have "+
			"the same canary, or the same affinity: which of them counts is not known", w.location.ownerName()))
	}
	if len(main.alternatives) == 0 || !main.alternatives[0].isServed() {
		return false
	}
	other := main.alternatives[0]
	name := other.from.object.Ref.FullName()
	if len(main.alternatives) > 1 {
		n := orderNote{first: other.from, second: main.alternatives[1].from,
			what: "the canary of " + main.endpoints.ref.String()}
		if n.isUndecided() {
			w.addReasons(n.formatMessage())
		}
	}
	if main.affinity.cookie {
		if _, sent := w.readCookie(main.affinity.name); sent {
			return w.giveUp(fmt.Sprintf("affinity of the backend of Ingress %s ties the client to an endpoint by the "+
				"cookie %s: whether to one of canary %s is not known", w.location.ownerName(), main.affinity.name, name))
		}
	}
	choice, known := w.askCanary(&other.canary)
	switch {
	case !known:
		return w.giveUp(other.from.reader.formatName("canary-by-header-pattern") + " uses what only PCRE knows")
	case choice == toCanary:
		w.shares = []share{{main, 0}, {other, 1}}
		w.addReasons("canary Ingress " + name + " takes the request")
	case choice == byWeight:
		w.shares = main.splitShares()
		if weight := w.shares[1].weight; weight > 0 {
			w.addReasons(fmt.Sprintf("canary Ingress %s gets %d of %d requests", name, weight, other.canary.total))
		}
	}
	return false
}

// canaryChoice is what a canary says of a request.
type canaryChoice int

const (
	toMain canaryChoice = iota
	toCanary
	byWeight
)

// askCanary compares a request with what a canary asks for; known is false if that cannot be told (N26).
func (w *walk) askCanary(c *canary) (choice canaryChoice, known bool) {
	header, sent := w.readHeader(c.header)
	switch {
	case c.header == "" || !sent:
	case c.value != "":
		if header == c.value {
			return toCanary, true
		}
	case c.pattern != "":
		e := compileExpression(c.pattern)
		switch {
		case e.unknown != "":
			return toMain, false
		case e.regex == nil:
			return toMain, true
		case e.regex.MatchString(header):
			return toCanary, true
		}
	case header == "always":
		return toCanary, true
	case header == "never":
		return toMain, true
	}
	if c.cookie != "" {
		switch value, _ := w.readCookie(c.cookie); value {
		case "always":
			return toCanary, true
		case "never":
			return toMain, true
		}
	}
	return byWeight, true
}

// passOn hands the request to its backend.
func (w *walk) passOn() bool {
	if w.upstream.builtin {
		if w.answerError(404) {
			return true
		}
		if w.control.workload == nil {
			w.addReasons("the default backend answers 404 unless the controller, whose flags are not in the input, has another")
		}
		return w.endRequest(request.NoMatch, 404)
	}
	if status := w.request.Assumed.Backend; status == 0 || w.keepsErrors() || !w.answerError(status) {
		w.passTo()
	}
	return true
}

// keepsErrors reports whether errors of backends are answered as they are.
func (w *walk) keepsErrors() bool {
	if len(w.location.settings.errorCodes) > 0 {
		return w.location.settings.keepsErrors
	}
	return w.control.config.readBoolean("disable-proxy-intercept-errors", false)
}

// answerError lets another backend answer an error of a status, if one does. The built-in backend changes nothing
// but the status.
func (w *walk) answerError(status int) bool {
	codes := w.location.settings.errorCodes
	to := w.location.sorry
	if len(codes) == 0 {
		to = nil
		for _, text := range w.control.config.readList("custom-http-errors") {
			if n, err := strconv.Atoi(text); err == nil {
				codes = append(codes, n)
			}
		}
	}
	if to == nil {
		to = w.fallback
	}
	if !slices.Contains(codes, status) || to.builtin {
		return false
	}
	w.upstream, w.code, w.sent = to, status, "/"
	w.addReasons("errors of status " + strconv.Itoa(status) + " are answered by " + to.endpoints.ref.String())
	if !w.chooseShares() {
		w.passTo()
	}
	return true
}

// passTo makes the answer of a request that a backend gets.
func (w *walk) passTo() {
	for _, s := range w.shares {
		g := s.upstream.endpoints
		w.answer.Backends = append(w.answer.Backends, ingress.Backend{Ref: g.ref, Port: g.port, Weight: s.weight,
			Path: w.sent, TLS: w.speaksTLS(), Headers: w.backendHeaders()})
	}
	w.addAffinity()
	status := w.request.Assumed.Backend
	if w.code != 0 {
		status = 0
	}
	w.endRequest(request.Matched, status)
}

// speaksTLS reports whether the backend is spoken to with TLS.
func (w *walk) speaksTLS() bool {
	if w.upstream == w.fallback {
		return false
	}
	switch w.location.settings.protocol {
	case "HTTPS", "GRPCS":
		return true
	case "AUTO_HTTP":
		return w.request.Secure
	}
	return false
}

// addAffinity says how the client is tied to an endpoint (N40).
func (w *walk) addAffinity() {
	a := w.upstream.affinity
	if !a.cookie {
		return
	}
	w.answer.Affinity = a.name
	host := w.request.Host
	if w.server.host == defaultHost {
		host = defaultHost
	}
	paths, there := w.upstream.cookiePaths[host]
	if !there {
		_, rest, _ := strings.Cut(host, ".")
		paths = w.upstream.cookiePaths["*."+rest]
	}
	if _, sent := w.readCookie(a.name); !sent && slices.Contains(paths, w.location.ingressPath()) {
		w.setHeader("Set-Cookie", a.formatCookie(w.location.ingressPath(), w.request.Secure))
	}
}
