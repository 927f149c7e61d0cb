package ingresstest

import (
	"fmt"
	"net/http"
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// visit is one request on its way through the proxy.
type visit struct {
	p      *proxy
	r      *request.Request
	server *server
	at     *location
	path   string // normalised
}

// answer says what becomes of a request, in the order of section 7.
func (p *proxy) answer(r *request.Request) *ingress.Answer {
	if p.isRefused() {
		return &ingress.Answer{Outcome: request.NotEvaluated}
	}
	v := &visit{p: p, r: r, path: normalizePath(r.Path)}
	for _, w := range p.redirects {
		if w.from == v.host() {
			return takeFirst(v.block, func() *ingress.Answer { return v.redirectToName(w.to) })
		}
	}
	v.server = p.findServer(v.host())
	if a := takeFirst(v.checkCertificate, v.block, v.checkSubject, v.redirectToRoot, v.tellHealth); a != nil {
		return a
	}
	var slash bool
	v.at, slash = v.server.findLocation(v.path)
	if a := v.checkBody(); a != nil {
		return a
	}
	if slash {
		return v.redirectToSlash()
	}
	if a := takeFirst(v.denyLocation, v.answerPreflight, v.redirectFixed, v.redirectToHTTPS, v.missBackend,
		v.countRequests); a != nil {
		return a
	}
	out := v.checkAccess()
	if out == nil {
		out = v.pass()
	}
	out.NeedsAuth = v.listCredentials()
	return out
}

// takeFirst returns what the first step that answers says; nil: none does.
func takeFirst(steps ...func() *ingress.Answer) *ingress.Answer {
	for _, step := range steps {
		if a := step(); a != nil {
			return a
		}
	}
	return nil
}

// host is the name of the request as the proxy compares it (N8).
func (v *visit) host() string { return strings.TrimSuffix(v.r.Host, ".") }

// hostText is the header as it was sent.
func (v *visit) hostText() string {
	if v.r.HostPort != "" {
		return v.r.HostText + ":" + v.r.HostPort
	}
	return v.r.HostText
}

func (v *visit) scheme() string {
	if v.r.Secure {
		return "https"
	}
	return "http"
}

// sentPath is the path with its query as they were sent.
func (v *visit) sentPath() string { return v.r.Path + v.query() }

func (v *visit) query() string {
	if v.r.RawQuery == "" {
		return ""
	}
	return "?" + v.r.RawQuery
}

func denyRequest(status int, by ingress.Barrier) *ingress.Answer {
	return &ingress.Answer{Outcome: request.Denied, Status: status, DeniedBy: by}
}

func redirectTo(status int, location string) *ingress.Answer {
	return &ingress.Answer{Outcome: request.Redirect, Status: status, Location: location}
}

// block follows N33.
func (v *visit) block() *ingress.Answer {
	for key, name := range map[string]string{"block-user-agents": "User-Agent", "block-referers": "Referer"} {
		sent, _ := findHeader(v.r, name)
		for one := range strings.SplitSeq(v.p.c.value(key, ""), ",") {
			form, expression := strings.CutPrefix(one, "~*")
			if expression && regexp.MustCompile("(?i)"+form).MatchString(sent) || one != "" && strings.EqualFold(one, sent) {
				return denyRequest(http.StatusForbidden, ingress.Blocked)
			}
		}
	}
	return nil
}

// redirectToName follows N21.
func (v *visit) redirectToName(to string) *ingress.Answer {
	port := map[bool]int{false: 80, true: 443}[v.r.Secure]
	return redirectTo(v.redirectCode(), fmt.Sprintf("%s://%s:%d%s", v.forwardedScheme(), to, port,
		strings.TrimSuffix(v.sentPath(), "/")))
}

func (v *visit) redirectCode() int {
	code := http.StatusPermanentRedirect
	fmt.Sscan(v.p.c.value("http-redirect-code", ""), &code)
	return code
}

// checkCertificate follows N30 and the end of N4.
func (v *visit) checkCertificate() *ingress.Answer {
	asked, shown := v.server.certificates, v.r.Certificate
	if v.r.Secure && asked != nil && !v.server.certificatesMissing {
		missing, bad := !shown.Shown && asked.verify == "on", shown.Shown && !shown.Trusted
		if asked.verify != "off" && (missing || bad && asked.verify != "optional_no_ca") {
			if asked.errorPage != "" {
				return redirectTo(http.StatusFound, asked.errorPage)
			}
			return denyRequest(http.StatusBadRequest, ingress.ClientCertificate)
		}
	}
	return nil
}

// checkSubject is the rest of N30. The subject comes first, as it stands first.
func (v *visit) checkSubject() *ingress.Answer {
	if asked := v.server.certificates; asked != nil && asked.matchCN != "" {
		subject := ""
		if v.r.Secure && v.r.Certificate.Shown && asked.verify != "off" && !v.server.certificatesMissing {
			subject = v.r.Certificate.Subject
		}
		if !regexp.MustCompile(asked.matchCN).MatchString(subject) {
			return denyRequest(http.StatusForbidden, ingress.ClientCertificate)
		}
	}
	if v.server.certificatesMissing {
		return denyRequest(http.StatusForbidden, ingress.Configuration)
	}
	return nil
}

// redirectToRoot follows N19.
func (v *visit) redirectToRoot() *ingress.Answer {
	for _, l := range v.server.locations {
		if l.appRoot != "" && v.path == "/" {
			return redirectTo(http.StatusFound, v.scheme()+"://"+v.hostText()+l.appRoot)
		}
	}
	return nil
}

// tellHealth is the end of N11. Expressions come before such a path.
func (v *visit) tellHealth() *ingress.Answer {
	if v.server.host != anyHost || v.server.regex || !strings.HasPrefix(v.path, "/healthz") {
		return nil
	}
	if v.r.BodyBytes > defaultBodyLimit {
		return denyRequest(http.StatusRequestEntityTooLarge, ingress.BodySize)
	}
	return &ingress.Answer{Outcome: request.Answered, Status: http.StatusOK}
}

// defaultBodyLimit is that of the proxy itself, which no setting changes.
const defaultBodyLimit = 1 << 20

// checkBody follows N38. A denied location has the limit of the proxy itself.
func (v *visit) checkBody() *ingress.Answer {
	limit := v.at.bodyLimit
	if v.at.denied {
		limit = defaultBodyLimit
	}
	if limit > 0 && v.r.BodyBytes > limit {
		return denyRequest(http.StatusRequestEntityTooLarge, ingress.BodySize)
	}
	return nil
}

// redirectToSlash follows N15. A denied location has no redirects of its own.
func (v *visit) redirectToSlash() *ingress.Answer {
	to := escapePath(v.at.path) + v.query()
	if !v.at.relative || v.at.denied {
		to = v.scheme() + "://" + v.host() + to
	}
	return redirectTo(http.StatusMovedPermanently, to)
}

// denyLocation follows N4.
func (v *visit) denyLocation() *ingress.Answer {
	if v.at.denied {
		return denyRequest(http.StatusServiceUnavailable, ingress.Configuration)
	}
	return nil
}

// answerPreflight follows N35 and N36.
func (v *visit) answerPreflight() *ingress.Answer {
	if v.at.cors && v.r.Method == http.MethodOptions && v.isAllowedOrigin() {
		return &ingress.Answer{Outcome: request.Answered, Status: http.StatusNoContent}
	}
	return nil
}

func (v *visit) isAllowedOrigin() bool {
	sent, _ := findHeader(v.r, "Origin")
	for _, origin := range v.at.origins {
		form := strings.Replace(regexp.QuoteMeta(origin), `\*`, `[A-Za-z0-9\-]+`, 1)
		if origin == "*" || regexp.MustCompile("(?i)"+form+"$").MatchString(sent) {
			return true
		}
	}
	return false
}

// redirectFixed follows N20. A path alone is completed by the proxy.
func (v *visit) redirectFixed() *ingress.Answer {
	to := v.at.redirect
	if to == "" {
		return nil
	}
	if strings.HasPrefix(to, "/") && !v.at.relative {
		to = v.scheme() + "://" + v.host() + to
	}
	return redirectTo(v.at.redirectCode, to)
}

// redirectToHTTPS follows N22 and N23.
func (v *visit) redirectToHTTPS() *ingress.Answer {
	wanted := v.at.forceSSL || v.at.sslRedirect && v.p.hasCertificateFor(v.host())
	if v.forwardedScheme() != "http" || !wanted || v.at.isBelow(v.p.c.value("no-tls-redirect-locations", acme)) {
		return nil
	}
	uri, host := v.sentPath(), v.hostText()
	if !v.at.keepsSlash {
		uri = strings.TrimSuffix(uri, "/")
	}
	if forwarded, has := findHeader(v.r, "X-Forwarded-Host"); has && v.trustsHeaders() {
		host, _, _ = strings.Cut(forwarded, ",")
	}
	host, _, _ = strings.Cut(host, ":")
	return redirectTo(v.redirectCode(), "https://"+host+uri)
}

const acme = "/.well-known/acme-challenge"

// isBelow reports whether the path of a location begins with one of a list (N23).
func (l *location) isBelow(list string) bool {
	for one := range strings.SplitSeq(list, ",") {
		if one = strings.TrimSpace(one); one != "" && strings.HasPrefix(l.path, one) {
			return true
		}
	}
	return false
}

func (v *visit) trustsHeaders() bool { return v.p.c.value("use-forwarded-headers", "false") == "true" }

func (v *visit) forwardedScheme() string {
	if sent, has := findHeader(v.r, "X-Forwarded-Proto"); has && v.trustsHeaders() {
		return sent
	}
	return v.scheme()
}

// missBackend is the step before limits: there is nobody to pass the request to (N37).
func (v *visit) missBackend() *ingress.Answer {
	if v.at.upstream.isReady {
		return nil
	}
	return &ingress.Answer{Outcome: request.BackendError, Status: http.StatusServiceUnavailable}
}

// countRequests follows N34, of requests that are sent at once: some of them get through. What is left of a
// second is not counted.
func (v *visit) countRequests() *ingress.Answer {
	for _, limit := range v.at.limits {
		if limit > 0 && v.r.Repeat > 1+limit*v.at.burst {
			return &ingress.Answer{Outcome: request.Limited}
		}
	}
	return nil
}

// pass hands the request to a backend; the default backend answers 404 (N11).
func (v *visit) pass() *ingress.Answer {
	if v.at.upstream == v.p.nothing {
		return &ingress.Answer{Outcome: request.NoMatch, Status: http.StatusNotFound}
	}
	out := &ingress.Answer{Outcome: request.Matched, Backends: v.p.findBackends(v.at.upstream, v.r)}
	for i := range out.Backends {
		out.Backends[i].Path = v.backendPath()
	}
	return out
}
