package ingressnginx

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// chooseServer finds the server of the request's host, or sends the client to another name of it (N8, N21).
func (w *walk) chooseServer() bool {
	t, done := w.findTarget(w.request.Host)
	if done {
		return true
	}
	w.server = t.server
	if w.checkClassless() {
		return true
	}
	if t.redirectTo == "" {
		return w.isMisdirected()
	}
	if w.checkBlocked() {
		return true
	}
	scheme, port, uri := w.scheme, fmt.Sprint(w.port()), strings.TrimSuffix(w.request.Path+w.query, "/")
	forwarded, sent := w.readHeader("X-Forwarded-Port")
	if sent && w.control.config.readBoolean("use-forwarded-headers", false) {
		port = forwarded
	}
	w.answer.Ingress = t.server.toWWW.object.Ref
	return w.redirectTo(w.control.config.redirectCode(), scheme+"://"+t.redirectTo+":"+port+uri,
		t.server.toWWW.reader.formatName("from-to-www-redirect")+" sends clients to "+t.redirectTo)
}

// checkClassless gives up where an Ingress without a class, written for the controller, would say something of the
// host if it was read. Of others it says so.
func (w *walk) checkClassless() bool {
	o := w.control.findClassless(strings.TrimSuffix(strings.ToLower(w.request.Host), "."))
	if o == nil && w.server.host == defaultHost {
		o = w.control.findClassless(defaultHost)
	}
	if o == nil {
		return false
	}
	why := "Ingress " + o.Ref.FullName() + " has no class: the controller reads it only with " +
		"--watch-ingress-without-class, and its flags are not in the input"
	if w.control.isWrittenFor(o) {
		return w.giveUp(why)
	}
	w.addReasons(why)
	return false
}

// findTarget finds what has the name of a host: without one the server of the name by which a TLS connection was
// made, else that of hosts which nobody names.
func (w *walk) findTarget(host string) (t target, done bool) {
	t, found, unknown := w.names.findHost(host)
	if unknown != nil {
		return t, w.giveUp(fmt.Sprintf("server-alias of Ingress %s may be a name of the host: it cannot be told "+
			"whether %s matches", unknown.server.ownerName(), unknown.text))
	}
	if !found && w.request.Secure && w.request.SNI != "" && w.request.SNI != host {
		t, found, _ = w.names.findHost(w.request.SNI)
		t.redirectTo = ""
	}
	if !found {
		w.addReasons("no Ingress names the host " + host)
		return target{server: w.servers[defaultHost]}, false
	}
	return t, false
}

// ownerName is the name of the first Ingress of the host.
func (s *server) ownerName() string {
	for _, l := range s.locations {
		if l.owner != nil {
			return l.owner.object.Ref.FullName()
		}
	}
	return ""
}

// isMisdirected answers a request to a host that asks for certificates, over a connection that was made to
// another (N30).
func (w *walk) isMisdirected() bool {
	r := w.request
	if !r.Secure || r.SNI == "" || strings.EqualFold(r.SNI, r.Host) || !w.server.clientAuth.isAsked() {
		return false
	}
	return w.endRequest(request.Misdirected, 421,
		"the host asks for certificates of clients, and the connection was made to "+
			r.SNI, w.server.clientAuth.from)
}

// isAsked reports whether the proxy asks clients for a certificate.
func (a *clientAuth) isAsked() bool { return a.hasCA && a.verify != "off" }

// checkConnection looks at what a TLS connection comes with.
func (w *walk) checkConnection() bool {
	if !w.request.Secure {
		return false
	}
	if e := w.server.passthrough; e != nil {
		switch {
		case w.control.isFlag("enable-ssl-passthrough", false):
			return w.passThrough(e)
		case w.control.workload == nil:
			return w.giveUp(e.reader.formatName("ssl-passthrough") + " is in force only if the controller runs with " +
				"--enable-ssl-passthrough, and its flags are not in the input")
		}
	}
	a := &w.server.clientAuth
	if a.unknown != "" {
		return w.giveUp(a.unknown)
	}
	if !a.isAsked() {
		return false
	}
	cert := w.request.Certificate
	if a.verify == "on" {
		w.answer.NeedsAuth = append(w.answer.NeedsAuth, []ingress.Barrier{ingress.ClientCertificate})
	}
	if cert.Shown && (cert.Trusted || a.verify == "optional_no_ca") || !cert.Shown && a.verify != "on" {
		return false
	}
	why := a.from + " asks for a certificate that its authorities have signed"
	switch {
	case a.errorPage == "":
		return w.denyRequest(ingress.ClientCertificate, 400, why)
	case strings.HasPrefix(a.errorPage, "/"), strings.HasPrefix(a.errorPage, "@"):
		return w.giveUp("auth-tls-error-page of " + strings.TrimPrefix(a.from, "auth-tls-secret of ") +
			" is a path of the proxy: what it answers is not evaluated")
	}
	return w.redirectTo(302, a.errorPage, why)
}

// passThrough hands a TLS connection on as it is (N41).
func (w *walk) passThrough(e *entry) bool {
	for _, l := range w.server.locations {
		if l.path != "/" || l.exact || l.upstream == w.fallback {
			continue
		}
		w.location = l
		w.setLocation(l)
		w.addReasons(e.reader.formatName("ssl-passthrough") +
			" hands TLS connections on: nothing else of the host holds for them")
		if !l.upstream.isServed() {
			return w.endRequest(request.BackendError, 0, l.upstream.endpoints.why)
		}
		w.answer.Backends = []ingress.Backend{{Ref: l.upstream.endpoints.ref, Port: l.upstream.endpoints.port, Weight: 1,
			Path: w.sent, TLS: true}}
		return w.endRequest(request.Matched, w.request.Assumed.Backend)
	}
	return false
}

// checkServer does what holds for all requests to a host.
func (w *walk) checkServer() bool {
	if w.checkBlocked() {
		return true
	}
	s, a := w.server, &w.server.clientAuth
	if a.matchCN != "" && !regexp.MustCompile(a.matchCN).MatchString(w.subject()) {
		return w.denyRequest(ingress.ClientCertificate, 403, "auth-tls-match-cn of "+
			strings.TrimPrefix(a.from, "auth-tls-secret of ")+" does not match the subject of the certificate")
	}
	if s.isDenied() {
		return w.denyRequest(ingress.Configuration, 403, s.authError.err+": the whole host is denied")
	}
	if s.authUnknown != "" {
		return w.giveUp(s.authUnknown + ": the whole host may be denied")
	}
	if s.snippet != nil {
		return w.giveUp(s.snippet.reader.formatName("server-snippet") + " may do anything on the host")
	}
	if w.path != "/" {
		return false
	}
	for _, l := range s.locations {
		if root := l.settings.rewrite.appRoot; root != "" {
			w.answer.Ingress = l.owner.object.Ref
			scheme, _ := w.readVariable("scheme")
			to, _ := expandVariables(root, w.readVariable)
			return w.redirectTo(302, scheme+"://"+w.writtenHost()+to, l.owner.reader.formatName("app-root")+" sends / there")
		}
	}
	return false
}

// subject is the subject of the certificate that the client shows.
func (w *walk) subject() string {
	if !w.request.Secure || !w.request.Certificate.Shown || !w.server.clientAuth.isAsked() {
		return ""
	}
	return w.request.Certificate.Subject
}

// checkBlocked refuses the user agents and referers that the ConfigMap blocks (N33).
func (w *walk) checkBlocked() bool {
	for _, b := range []struct{ key, header string }{{"block-user-agents", "User-Agent"}, {"block-referers", "Referer"}} {
		value, _ := w.readHeader(b.header)
		for _, text := range w.control.config.readList(b.key) {
			isMatch, known := matchesBlocked(text, value)
			if !known {
				return w.giveUp(b.key + " of the ConfigMap has the expression " + text + ", which cannot be evaluated")
			}
			if isMatch {
				return w.denyRequest(ingress.Blocked, 403, b.key+" of the ConfigMap has "+text)
			}
		}
	}
	return false
}

// matchesBlocked compares a header with an entry of a list: a text without case, or an expression.
func matchesBlocked(text, value string) (isMatch, known bool) {
	flags := ""
	pattern, isRegex := strings.CutPrefix(text, "~")
	if !isRegex {
		return strings.EqualFold(text, value), true
	}
	if rest, noCase := strings.CutPrefix(pattern, "*"); noCase {
		pattern, flags = rest, "(?i)"
	}
	e := compileExpression(flags + pattern)
	if e.regex == nil {
		return false, false
	}
	return e.regex.MatchString(value), true
}

// addOrderNotes says where names alone decided which Ingress counts (N2).
func (w *walk) addOrderNotes() {
	if w.server == nil || w.refused != "" {
		return
	}
	for _, n := range w.server.sensitive {
		if w.location != nil && n.isInForce() && w.location.origin == n.at.origin {
			w.addReasons(n.formatMessage())
		}
	}
}

// formatMessage says that names decide.
func (n *orderNote) formatMessage() string {
	return fmt.Sprintf("Ingress %s comes before %s for %s only because its name sorts later: their creation times are "+
		"equal or not known", n.first.object.Ref.FullName(), n.second.object.Ref.FullName(), n.what)
}
