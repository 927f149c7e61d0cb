package ingressnginx

import (
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
)

// chooseLocation finds the location of the path, and does what depends on nothing else of it.
func (w *walk) chooseLocation() bool {
	f := w.server.findLocation(w.path)
	if f.location == nil {
		return w.checkBody(defaultBodyLimit, "nginx itself takes no more") || w.answerSystem(f.system)
	}
	l := f.location
	w.location = l
	w.setLocation(l)
	if f.unknown != "" {
		return w.giveUp(fmt.Sprintf("path %s of Ingress %s: %s", l.path, l.ownerName(), f.unknown))
	}
	if why := l.unknownReason(); why != "" {
		return w.giveUp(why)
	}
	if w.checkBody(l.bodyLimit(), w.describeLimit()) {
		return true
	}
	if f.addSlash {
		to := w.path + "/" + w.query
		if !w.isRelative() {
			to = w.ownURL() + escapePath(w.path) + "/" + w.query
		}
		return w.redirectTo(301, to, "the path is "+l.path+": without its slash clients are sent there")
	}
	return false
}

// defaultBodyLimit is that of nginx itself, which no setting of the controller changes.
const defaultBodyLimit = 1 << 20

// bodyLimit is the size of the largest body that the location takes; 0: of any size. What is denied has that of
// nginx itself.
func (l *location) bodyLimit() int64 {
	if l.denialReason() != "" {
		return defaultBodyLimit
	}
	return l.settings.bodyLimit
}

// checkBody refuses a body that is larger than a limit; 0: there is none.
func (w *walk) checkBody(limit int64, why string) bool {
	if limit == 0 || w.request.BodyBytes <= limit {
		return false
	}
	return w.denyRequest(ingress.BodySize, 413, fmt.Sprintf("the body is larger than %d bytes", limit), why)
}

// ownURL is the beginning of the URLs that nginx itself makes.
func (w *walk) ownURL() string {
	scheme, _ := w.readVariable("scheme")
	host, _ := w.readVariable("host")
	return scheme + "://" + host
}

func (w *walk) isRelative() bool {
	l := w.location
	return l.settings.redirect.relative && l.denialReason() == "" ||
		w.control.config.readBoolean("relative-redirects", false)
}

// describeLimit says who sets the limit of bodies.
func (w *walk) describeLimit() string {
	if w.location.denialReason() != "" {
		return "its paths are denied: nginx itself takes no more"
	}
	for _, s := range w.location.settings.proxy {
		if s.Name == "bodyLimit" && s.Source.Kind != "" {
			return "proxy-body-size of " + s.Source.String() + " is " + s.Value
		}
	}
	return "proxy-body-size is 1m by default"
}

// answerSystem answers the paths of the controller itself (N11), and those that nothing matches.
func (w *walk) answerSystem(path string) bool {
	switch path {
	case "":
		return w.endRequest(request.NoMatch, 404, "no path of the host matches")
	case "/healthz":
		return w.endRequest(request.Answered, 200, "the proxy answers health checks")
	}
	allowed := []netip.Prefix{netip.MustParsePrefix("127.0.0.1/32")}
	if _, there := w.control.config.data["nginx-status-ipv4-whitelist"]; there {
		allowed = w.control.config.readRanges("nginx-status-ipv4-whitelist")
	}
	if containsAddress(allowed, w.address) {
		return w.endRequest(request.Answered, 200, "the proxy answers with its status")
	}
	return w.denyRequest(ingress.AllowList, 403, "the status of the proxy is for itself")
}

// setLocation notes which location has the request.
func (w *walk) setLocation(l *location) {
	if l.owner != nil {
		w.answer.Ingress = l.owner.object.Ref
		w.answer.Path = l.ingressPath()
		w.addReasons(l.owner.reader.notes...)
	}
	switch {
	case l.owner == nil:
		w.addReasons("no Ingress has the path: the default backend answers")
	case !l.claimed:
		w.addReasons("no path takes it: location / of the host has the annotations of its first Ingress, " + l.ownerName())
	default:
		w.addReasons(fmt.Sprintf("path %s of Ingress %s takes it", l.ingressPath(), l.ownerName()))
		if w.server.regex && w.server.regexBy != nil {
			w.addReasons("paths of the host are expressions, because of Ingress " + w.server.regexBy.ownerName())
		}
	}
	w.answer.Settings = l.inForce
	if w.request.Secure {
		w.addHSTS()
	}
	for _, h := range l.settings.headers {
		w.setHeader(h.Name, h.Values...)
	}
}

func (l *location) ownerName() string {
	if l.owner == nil {
		return "none"
	}
	return l.owner.object.Ref.FullName()
}

// ingressPath is the path as the Ingress has it.
func (l *location) ingressPath() string {
	if l.written == "" {
		return "/"
	}
	return l.written
}

// unknownReason is why it is not known what becomes of the requests of a location; "": it is.
func (l *location) unknownReason() string {
	switch {
	case l.owner == nil:
		return ""
	case l.settings.configSnippet:
		return l.owner.reader.formatName("configuration-snippet") + " may do anything"
	case l.settings.modsecurity:
		return l.owner.reader.formatName("enable-modsecurity") + ", or that of the ConfigMap, is on: it may refuse anything"
	}
	return l.owner.reader.unknown
}

// addHSTS adds the header that keeps clients at https (N24).
func (w *walk) addHSTS() {
	c := w.control.config
	if !c.readBoolean("hsts", true) {
		return
	}
	value := "max-age=" + c.readText("hsts-max-age", "31536000")
	if c.readBoolean("hsts-include-subdomains", true) {
		value += "; includeSubDomains"
	}
	if c.readBoolean("hsts-preload", false) {
		value += "; preload"
	}
	w.setHeader("Strict-Transport-Security", value)
}

func (w *walk) setHeader(name string, values ...string) {
	w.answer.ResponseHeaders = append(w.answer.ResponseHeaders, ingress.Header{Name: name, Values: values})
}

// checkLocation does what the rewrite phase of a location begins with.
func (w *walk) checkLocation() bool {
	l := w.location
	if why := l.denialReason(); why != "" {
		w.answer.ResponseHeaders = w.keepOwnHeaders()
		return w.denyRequest(ingress.Configuration, 503, why+": its paths are denied")
	}
	origin, sent := w.readHeader("Origin")
	told, ok := l.settings.cors.allowOrigin(origin, sent)
	if !ok {
		return false
	}
	w.setHeader("Access-Control-Allow-Origin", told)
	w.answer.ResponseHeaders = append(w.answer.ResponseHeaders, l.settings.cors.headers...)
	if w.request.Method != "OPTIONS" {
		return false
	}
	return w.endRequest(request.Answered, 204, l.owner.reader.formatName("enable-cors")+" answers OPTIONS")
}

// keepOwnHeaders are the headers that also denied locations set.
func (w *walk) keepOwnHeaders() []ingress.Header {
	var out []ingress.Header
	for _, h := range w.answer.ResponseHeaders {
		if h.Name == "Strict-Transport-Security" {
			out = append(out, h)
		}
	}
	return out
}

// redirectRequest does the redirects of a location, and its rewrite.
func (w *walk) redirectRequest() bool {
	l := w.location
	if to := l.settings.redirect; to.url != "" {
		why := l.owner.reader.formatName(to.by) + " redirects all requests"
		if !hasLocation(to.code) {
			return w.endRequest(request.Answered, to.code, why+", with a status that leads nowhere")
		}
		if strings.HasPrefix(to.url, "/") && !w.isRelative() {
			return w.redirectTo(to.code, w.ownURL()+to.url, why)
		}
		return w.redirectTo(to.code, to.url, why)
	}
	if w.rewritePath() {
		return true
	}
	return w.redirectToHTTPS()
}

// rewritePath replaces the path (N18).
func (w *walk) rewritePath() bool {
	l := w.location
	if !l.needsRewrite() {
		return false
	}
	target := l.settings.rewrite.target
	e := compileExpression("(?i)" + l.path)
	if e.regex == nil {
		return w.giveUp(l.owner.reader.formatName("rewrite-target") + ": " + e.unknown)
	}
	groups := e.regex.FindStringSubmatch(w.path)
	if groups == nil {
		return false
	}
	path, known := expandVariables(target, func(name string) (string, bool) {
		if len(name) == 1 && name[0] >= '0' && name[0] <= '9' {
			if n := int(name[0] - '0'); n < len(groups) {
				return groups[n], true
			}
			return "", true
		}
		return w.readVariable(name)
	})
	if !known {
		return w.giveUp(l.owner.reader.formatName("rewrite-target") + " has a variable of nginx that is not known: " + target)
	}
	if isURLTarget(target) {
		return w.redirectTo(302, escapePath(path)+w.query, l.owner.reader.formatName("rewrite-target")+" is a URL")
	}
	if !strings.HasPrefix(path, "/") {
		return w.giveUp(l.owner.reader.formatName("rewrite-target") + " makes the path " + strconv.Quote(path) +
			", which does not begin with a slash: what the backend makes of it is not known")
	}
	w.sent = escapePath(path) + w.query
	return false
}

// isURLTarget reports whether nginx sends clients to a target instead of rewriting to it.
func isURLTarget(target string) bool {
	return strings.HasPrefix(target, "http://") || strings.HasPrefix(target, "https://") ||
		strings.HasPrefix(target, "$scheme")
}

// redirectToHTTPS sends requests without TLS to https (N22, N23).
func (w *walk) redirectToHTTPS() bool {
	l, c := w.location, w.control.config
	if w.scheme != "http" || c.isExcepted("no-tls-redirect-locations", l.path) {
		return false
	}
	rules := l.settings.rewrite
	why := "force-ssl-redirect"
	if !rules.alwaysToHTTPS {
		if !rules.toHTTPS {
			return false
		}
		has, known, from := w.hasCertificate(w.request.Host)
		if !known {
			return w.giveUp("ssl-redirect of Ingress " + l.ownerName() + " is in force if the certificate of Ingress " +
				from.object.Ref.FullName() + " covers this name of the host, which is not known")
		}
		if !has {
			return false
		}
		why = "ssl-redirect: the host has a certificate"
		if from != nil {
			why += ", of Ingress " + from.object.Ref.FullName()
		}
	}
	uri := w.request.Path + w.query
	if !rules.keepsSlash {
		uri = strings.TrimSuffix(uri, "/")
	}
	host, _, _ := strings.Cut(w.host, ":")
	if l.settings.portInRedirect {
		host += ":" + w.control.readFlag("https-port", "443")
	}
	return w.redirectTo(c.redirectCode(), "https://"+host+uri, why)
}
