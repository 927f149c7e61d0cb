package ingresstest

import (
	"net/netip"
	"net/url"
	"strings"
)

// readBasic follows N27 and N4. Without a type nothing else is looked at.
func (r *reading) readBasic() {
	if r.demanded("auth-type", typeText) == "" {
		return
	}
	kind := r.text("auth-secret-type")
	if kind != "" && kind != "auth-file" && kind != "auth-map" {
		r.out.dropped = true
		return
	}
	namespace, name, found := strings.Cut(r.text("auth-secret"), "/")
	if !found {
		namespace, name = r.ing.Namespace, namespace
	}
	secret := r.c.findSecret(namespace, name)
	if secret == nil || namespace != r.ing.Namespace {
		r.out.denied = true
		return
	}
	r.demanded("auth-realm", spacedText)
	_, inText := secret.StringData["auth"]
	if _, inBytes := secret.Data["auth"]; kind != "auth-map" && !inText && !inBytes {
		r.out.denied = true
		return
	}
	r.out.basic = true
}

// readExternal follows N28, N4 and N5: the first mistake decides.
func (r *reading) readExternal() {
	r.out.globalAuth = r.flag("enable-global-auth", true)
	address := r.demanded("auth-url", variableText)
	if address == "" || r.out.dropped {
		return
	}
	u, err := url.Parse(address)
	switch {
	case err != nil || u.Scheme == "" || u.Host == "",
		!methodText.MatchString(r.text("auth-method")):
		r.out.denied = true
		return
	case !extendedText.MatchString(r.text("auth-cache-duration")): // N5
		return
	case !areDurations(r.text("auth-cache-duration")), !areHeaders(r.text("auth-response-headers")):
		r.out.denied = true
		return
	case !urlText.MatchString(r.text("auth-request-redirect")): // N5
		return
	case r.text("auth-always-set-cookie") != "" && !r.flag("auth-always-set-cookie", false) &&
		r.flag("auth-always-set-cookie", true): // N5
		return
	}
	r.out.authURL = address
	r.out.signIn = r.valid("auth-signin", variableText)
	r.out.signInParam = r.text("auth-signin-redirect-param")
	if r.out.signInParam == "" {
		r.out.signInParam = "rd"
	}
}

func areDurations(text string) bool {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); one != "" && !durationText.MatchString(one) {
			return false
		}
	}
	return true
}

func areHeaders(text string) bool {
	for one := range strings.SplitSeq(text, ",") {
		if one = strings.TrimSpace(one); !headersText.MatchString(one) || strings.Contains(one, " ") {
			return false
		}
	}
	return true
}

// readCertificates follows N30 and the last sentence of N4.
func (r *reading) readCertificates() {
	name := r.demanded("auth-tls-secret", basicText)
	if name == "" {
		return
	}
	namespace, name, _ := strings.Cut(name, "/")
	secret := r.c.findSecret(namespace, name)
	if namespace != r.ing.Namespace || secret == nil {
		r.out.certificatesMissing, r.out.denied = true, true
		return
	}
	verify := r.text("auth-tls-verify-client")
	if verify != "optional" && verify != "optional_no_ca" && verify != "off" {
		verify = "on"
	}
	r.out.certificates = &clientCertificates{verify: verify, errorPage: r.demanded("auth-tls-error-page", variableText),
		matchCN: r.demanded("auth-tls-match-cn", commonName)}
}

// readLists follows N31: what the annotation says replaces what the controller's settings say.
func (r *reading) readLists() {
	r.out.allowed = r.readList("whitelist-source-range", "allowlist-source-range", "whitelist-source-range")
	r.out.refused = r.readList("denylist-source-range", "denylist-source-range")
}

func (r *reading) readList(key string, names ...string) []netip.Prefix {
	for _, name := range names {
		if text := r.text(name); text != "" {
			out := readNetworks(text)
			r.out.denied = r.out.denied || out == nil
			return out
		}
	}
	return readNetworks(r.c.value(key, ""))
}

// readNetworks reads addresses and networks; nil: there are none, or one is wrong.
func readNetworks(text string) []netip.Prefix {
	var out []netip.Prefix
	for one := range strings.SplitSeq(text, ",") {
		one = strings.TrimSpace(one)
		if a, err := netip.ParseAddr(one); err == nil {
			out = append(out, netip.PrefixFrom(a, a.BitLen()))
			continue
		}
		network, err := netip.ParsePrefix(one)
		if err != nil {
			return nil
		}
		out = append(out, network)
	}
	return out
}

func containsAddress(networks []netip.Prefix, a netip.Addr) bool {
	for _, network := range networks {
		if network.Contains(a) {
			return true
		}
	}
	return false
}
