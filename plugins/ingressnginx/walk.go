package ingressnginx

import (
	"net/netip"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// walk is the way of one request through the proxy.
type walk struct {
	*proxy
	request  *request.Request
	spent    *ingress.Spent
	answer   *ingress.Answer
	server   *server
	location *location
	path     string // normalised
	query    string // with its question mark
	sent     string // path and query as the backend gets them
	scheme   string // by which the client is taken to have come
	host     string // that the client is taken to have written, with its port
	address  netip.Addr
	upstream *upstream       // that gets the request if no canary does
	code     int             // of the error that upstream answers
	shares   []share         // of the backends
	granted  []grant         // of limits
	changed  []request.Field // headers that an authentication service sets; without a value: that it takes away
}

// share is a part of the requests.
type share struct {
	upstream *upstream
	weight   int
}

// answerRequest says what becomes of a request (the order of section 7).
func (p *proxy) answerRequest(r *request.Request, spent *ingress.Spent) *ingress.Answer {
	w := &walk{proxy: p, request: r, spent: spent, answer: &ingress.Answer{}}
	w.address = w.findAddress()
	for _, step := range []func(*walk) bool{
		(*walk).checkProxy, (*walk).chooseServer, (*walk).checkConnection, (*walk).checkServer, (*walk).chooseLocation,
		(*walk).checkLocation, (*walk).redirectRequest, (*walk).chooseBackend, (*walk).checkLimits, (*walk).checkAccess,
		(*walk).passOn,
	} {
		if step(w) {
			break
		}
	}
	w.countStatuses()
	w.addOrderNotes()
	return w.answer
}

// endRequest ends the way with an answer of the proxy.
func (w *walk) endRequest(outcome request.Outcome, status int, why ...string) bool {
	w.answer.Outcome, w.answer.Status = outcome, status
	w.answer.Why = append(why, w.answer.Why...)
	return true
}

// denyRequest ends the way with a refusal.
func (w *walk) denyRequest(by ingress.Barrier, status int, why ...string) bool {
	w.answer.DeniedBy = by
	return w.endRequest(request.Denied, status, why...)
}

// giveUp ends the way because it is not known how it goes on.
func (w *walk) giveUp(why string) bool {
	return w.endRequest(request.NotEvaluated, 0, why)
}

// redirectTo ends the way with a redirect.
func (w *walk) redirectTo(status int, location string, why ...string) bool {
	w.answer.Location = location
	return w.endRequest(request.Redirect, status, why...)
}

func (w *walk) addReasons(why ...string) { w.answer.Why = append(w.answer.Why, why...) }

// checkProxy answers where nothing of the input is known to be in force, and reads the request.
func (w *walk) checkProxy() bool {
	r := w.request
	if w.refused != "" {
		w.addReasons("nginx refuses the configuration: " + w.refused)
		return w.endRequest(request.NotEvaluated, 0)
	}
	if key := w.control.config.findSnippet(); key != "" {
		return w.giveUp(key + " of ConfigMap " + w.control.config.ref.FullName() + " may do anything")
	}
	if r.Protocol != request.HTTP && r.Protocol != request.GRPC {
		return w.giveUp("only HTTP requests are evaluated at the proxy of Ingresses")
	}
	if w.query = r.RawQuery; w.query == "" {
		parts := make([]string, len(r.Query))
		for i, q := range r.Query {
			parts[i] = q.Name + "=" + q.Value
		}
		w.query = strings.Join(parts, "&")
	}
	if w.query != "" {
		w.query = "?" + w.query
	}
	w.sent = r.Path + w.query
	w.scheme, w.host = "http", w.writtenHost()
	if r.Secure {
		w.scheme = "https"
	}
	w.readForwarded()
	var ok bool
	if w.path, ok = normalizePath(r.Path); !ok {
		return w.endRequest(request.Answered, 400, "nginx takes the path for broken")
	}
	return false
}

// readForwarded takes over what the proxy in front says, if the ConfigMap trusts it.
func (w *walk) readForwarded() {
	if !w.control.config.readBoolean("use-forwarded-headers", false) {
		return
	}
	if proto, sent := w.readHeader("X-Forwarded-Proto"); sent {
		w.scheme = proto
	}
	if host, sent := w.readHeader("X-Forwarded-Host"); sent {
		w.host, _, _ = strings.Cut(host, ",")
	}
}

// writtenHost is the Host header as the client writes it.
func (w *walk) writtenHost() string {
	r := w.request
	host := r.Host
	if strings.EqualFold(r.HostText, r.Host) {
		host = r.HostText
	}
	if r.HostPort != "" {
		return host + ":" + r.HostPort
	}
	return host
}

// readHeader returns the value of the first readHeader of a name.
func (w *walk) readHeader(name string) (string, bool) {
	for _, h := range w.request.Headers {
		if strings.EqualFold(h.Name, name) && w.isPassed(h.Name) {
			return h.Value, true
		}
	}
	return "", false
}

// readCookie returns the value of a readCookie.
func (w *walk) readCookie(name string) (string, bool) {
	text, _ := w.readHeader("Cookie")
	for part := range strings.SplitSeq(text, ";") {
		key, value, _ := strings.Cut(strings.TrimSpace(part), "=")
		if strings.EqualFold(key, name) {
			return value, true
		}
	}
	return "", false
}

// isPassed reports whether the proxy takes notice of a header of that name (N42).
func (w *walk) isPassed(name string) bool {
	for i := range len(name) {
		c := name[i]
		switch {
		case c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-':
		case c == '_':
			if !w.control.config.readBoolean("enable-underscores-in-headers", false) {
				return false
			}
		case w.control.config.readBoolean("ignore-invalid-headers", true):
			return false
		}
	}
	return true
}

// findAddress returns the client's address: the peer's, or what trusted peers say (N31).
func (w *walk) findAddress() netip.Addr {
	c, at := w.control.config, w.request.ClientAddress.Unmap()
	if !c.trustsAddress() {
		return at
	}
	text, sent := w.readHeader(c.readText("forwarded-for-header", "X-Forwarded-For"))
	if !sent {
		return at
	}
	trusted, hops := c.trustedProxies(), strings.Split(text, ",")
	for i := len(hops) - 1; i >= 0 && containsAddress(trusted, at); i-- {
		next, err := netip.ParseAddr(strings.TrimSpace(hops[i]))
		if err != nil {
			break
		}
		at = next.Unmap()
	}
	return at
}

// containsAddress reports whether a network has an address. One that is not known is only in those that have
// all.
func containsAddress(ranges []netip.Prefix, a netip.Addr) bool {
	for _, r := range ranges {
		if a.IsValid() && r.Contains(a) || !a.IsValid() && r.Bits() == 0 {
			return true
		}
	}
	return false
}

// port is the port that the proxy listens on.
func (w *walk) port() int {
	flag, otherwise := "http-port", 80
	if w.request.Secure {
		flag, otherwise = "https-port", 443
	}
	n, err := strconv.Atoi(w.control.readFlag(flag, ""))
	if err != nil {
		return otherwise
	}
	return n
}

// readVariable returns the value of a readVariable of nginx.
func (w *walk) readVariable(name string) (string, bool) {
	switch name {
	case "host":
		return strings.TrimSuffix(w.request.Host, "."), true
	case "http_host":
		return w.writtenHost(), true
	case "best_http_host":
		return w.host, true
	case "scheme":
		if w.request.Secure {
			return "https", true
		}
		return "http", true
	case "pass_access_scheme":
		return w.scheme, true
	case "request_uri":
		return w.request.Path + w.query, true
	case "escaped_request_uri":
		return escapeComponent(w.request.Path + w.query), true
	case "request_method":
		return w.request.Method, true
	case "remote_addr":
		return w.address.String(), w.address.IsValid()
	case "server_port":
		return strconv.Itoa(w.port()), true
	}
	return w.ingressVariable(name)
}

// ingressVariable returns the value of a variable about the Ingress of the location.
func (w *walk) ingressVariable(name string) (string, bool) {
	l := w.location
	if l == nil || l.owner == nil {
		return "", false
	}
	switch name {
	case "namespace":
		return l.owner.object.Ref.Namespace, true
	case "ingress_name":
		return l.owner.object.Ref.Name, true
	case "service_name":
		return l.service().name, true
	case "service_port":
		return l.service().port, true
	case "location_path":
		return l.ingressPath(), true
	}
	return "", false
}
