package ingressnginx

import (
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

var (
	headerPattern      = regexp.MustCompile(`^[a-zA-Z\d\-_]+$`)
	headerValuePattern = regexp.MustCompile("^[a-zA-Z\\d_ :;.,\\\\/\"'?!(){}\\[\\]@<>=\\-+*#$&\\x60|~^%]+$")
	statusPattern      = regexp.MustCompile(`^\d{3}$`)
	durationPattern    = regexp.MustCompile(`^\d+(ms|s|m|h|d|w|M|y)$`)
)

// secretKeys are the keys of a Secret.
type secretKeys struct{ data model.Body }

func (s *secretKeys) has(key string) bool { return s.data.Has(key) }

// isPEM reports whether the value of a key looks like a certificate or a key.
func (s *secretKeys) isPEM(key string) bool {
	pem, _ := s.data.Get(key, "pem").(bool)
	return pem
}

// readBasicAuth reports whether passwords are asked for (N27).
func (v *annotationReader) readBasicAuth() bool {
	if _, state := v.readText("auth-type"); state != present {
		if state == invalid {
			v.dropIngress("auth-type")
		}
		return false
	}
	form, state := v.readText("auth-secret-type")
	switch state {
	case invalid:
		v.dropIngress("auth-secret-type")
		return false
	case present:
	default:
		form = "auth-file"
	}
	name, state := v.readText("auth-secret")
	if state != present {
		v.denyPaths("auth-secret", "names no Secret")
		return false
	}
	secret, _ := v.findSecretOf("auth-secret", name)
	if secret == nil {
		return false
	}
	if _, state := v.readText("auth-realm"); state == invalid {
		v.dropIngress("auth-realm")
		return false
	}
	switch {
	case form != "auth-file" && form != "auth-map":
		v.denyPaths("auth-secret-type", "is neither auth-file nor auth-map")
		return false
	case form == "auth-file" && !secret.has("auth"):
		v.denyPaths("auth-secret", "names a Secret without the key auth")
		return false
	}
	return true
}

// externalAuth is a service that is asked whether a request may pass (N28).
type externalAuth struct {
	url                     string
	signin, signinParameter string
	responseHeaders         []string // of its answer, that the backend gets
	cached                  bool
	from                    string // who asks for it
	unknown                 string // why it is not known what it answers
	unreachable             bool   // it does not exist, or nothing of it is ready
}

// readExternalAuth reads who is asked; nil: nobody, or the values leave it out (N5).
func (v *annotationReader) readExternalAuth() *externalAuth {
	where, state := v.readText("auth-url")
	if state == invalid {
		v.dropIngress("auth-url")
	}
	if state != present {
		return nil
	}
	u := parseURL(where)
	if u == nil {
		v.denyPaths("auth-url", "is no URL")
		return nil
	}
	if _, state := v.readText("auth-method"); state == invalid {
		v.denyPaths("auth-method", "is no method")
		return nil
	}
	a := &externalAuth{url: where, from: v.formatName("auth-url"), unreachable: v.control.isUnreachable(u.Hostname())}
	a.signin, _ = v.readText("auth-signin")
	a.signinParameter, _ = v.readText("auth-signin-redirect-param")
	_, state = v.readText("auth-cache-key")
	a.cached = state == present
	if !v.readCacheDuration() || !v.readResponseHeaders(a) || !v.readSentHeaders() {
		return nil
	}
	for _, name := range []string{"auth-request-redirect", "auth-always-set-cookie"} {
		if _, _, state := v.findValue(name); state == invalid {
			v.openedBy = name
			return nil
		}
	}
	if _, state := v.readText("auth-snippet"); state == present && v.control.config.readBoolean(snippetsAllowed, false) {
		a.unknown = v.formatName("auth-snippet") + " may change what the service answers"
	}
	return a
}

// readCacheDuration reads how long answers are kept; false if that takes the authentication away.
func (v *annotationReader) readCacheDuration() bool {
	const annotation = "auth-cache-duration"
	text, state := v.readText(annotation)
	if state == invalid {
		v.openedBy = annotation
		return false
	}
	for part := range strings.SplitSeq(text, ",") {
		if part = strings.TrimSpace(part); part != "" && !isCacheDuration(part) {
			v.denyPaths(annotation, "has no duration in %q", part)
			return false
		}
	}
	return true
}

// isCacheDuration reports whether a text is statuses and then durations.
func isCacheDuration(text string) bool {
	seen := false
	for word := range strings.FieldsSeq(text) {
		switch {
		case statusPattern.MatchString(word):
			if seen {
				return false
			}
		case durationPattern.MatchString(word):
			seen = true
		}
	}
	return seen
}

// readResponseHeaders reads which headers of the answer the backend gets; false if the locations are denied.
func (v *annotationReader) readResponseHeaders(a *externalAuth) bool {
	const annotation = "auth-response-headers"
	text, state := v.readText(annotation)
	if state == invalid {
		v.denyPaths(annotation, "is no list of headers")
		return false
	}
	for h := range strings.SplitSeq(text, ",") {
		if h = strings.TrimSpace(h); h == "" {
			continue
		}
		if !headerPattern.MatchString(h) {
			v.denyPaths(annotation, "has %q, which is no header", h)
			return false
		}
		a.responseHeaders = append(a.responseHeaders, h)
	}
	return true
}

// readSentHeaders reads the ConfigMap with headers for the service; false if the locations are denied.
func (v *annotationReader) readSentHeaders() bool {
	const annotation = "auth-proxy-set-headers"
	name, state := v.readText(annotation)
	if state != present {
		return true
	}
	namespace, key, ok := splitName(name, v.ingress.Ref.Namespace)
	if !ok {
		v.denyPaths(annotation, "names no ConfigMap")
		return false
	}
	if !v.mayUse(annotation, "ConfigMap", namespace) {
		return false
	}
	o, known := v.findReferenced(annotation, "ConfigMap", namespace, key)
	if o == nil && known {
		v.denyPaths(annotation, "names a ConfigMap that is not there")
	}
	return o != nil || !known
}

// clientAuth is what certificates of clients are asked for (N30).
type clientAuth struct {
	hasCA     bool // the Secret has authorities
	verify    string
	errorPage string
	passesOn  bool
	matchCN   string
	err       string // why the host answers 403
	unknown   string // why it is not known what it asks for
	from      string
	secret    string
	ingress   model.Ref
}

// readClientAuth reads what certificates are asked for.
func (v *annotationReader) readClientAuth() clientAuth {
	const annotation = "auth-tls-secret"
	name, state := v.readText(annotation)
	if state == invalid {
		v.dropIngress(annotation)
	}
	if state != present {
		return clientAuth{}
	}
	from := v.formatName(annotation)
	if strings.Count(name, "/") != 1 {
		v.denyPaths(annotation, "names no Secret as namespace/name")
		return clientAuth{err: v.denied, from: from}
	}
	secret, known := v.findSecretOf(annotation, name)
	switch {
	case !known:
		return clientAuth{unknown: v.unknown, from: from}
	case secret == nil:
		return clientAuth{err: v.denied, from: from}
	case !secret.has("ca.crt") && !(secret.has("tls.crt") && secret.has("tls.key")):
		v.denyPaths(annotation, "names a Secret without certificates")
		return clientAuth{err: v.denied, from: from}
	}
	a := clientAuth{hasCA: secret.has("ca.crt"), from: from, secret: name, ingress: v.ingress.Ref}
	if a.verify, state = v.readText("auth-tls-verify-client"); state != present || !verifyPattern.MatchString(a.verify) {
		a.verify = "on"
	}
	a.errorPage, a.matchCN = v.textOrDrop("auth-tls-error-page"), v.textOrDrop("auth-tls-match-cn")
	a.passesOn, state = v.readBoolean("auth-tls-pass-certificate-to-upstream")
	if state == invalid {
		v.dropIngress("auth-tls-pass-certificate-to-upstream")
	}
	return a
}

// textOrDrop is text; a value that is not valid drops the Ingress.
func (v *annotationReader) textOrDrop(annotation string) string {
	text, state := v.readText(annotation)
	if state == invalid {
		v.dropIngress(annotation)
	}
	return text
}
