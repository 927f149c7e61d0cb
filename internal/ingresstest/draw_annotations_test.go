package ingresstest

import networking "k8s.io/api/networking/v1"

const verifyURL = "http://verify.store.svc.cluster.local:80/check"

// choice is an annotation that is drawn once in so many Ingresses, with its values.
type choice struct {
	once   int
	name   string
	values []string
}

// choices are the annotations that are in order.
var choices = []choice{
	{8, "rewrite-target", []string{"/", "/new", "/new/$1", "/$1", "/$2", "/cart", "/api"}},
	{8, "use-regex", []string{"true", "false"}},
	{8, "ssl-redirect", []string{"false", "true"}},
	{12, "force-ssl-redirect", []string{"true", "false"}},
	{16, "preserve-trailing-slash", []string{"true"}},
	{16, "app-root", []string{"/cart", "/home"}},
	{24, "permanent-redirect", []string{"https://new.example.org/home", "/moved", "ftp://files.example.org"}},
	{24, "temporal-redirect", []string{"https://now.example.org/x", "ftp://files.example.org"}},
	{24, "permanent-redirect-code", []string{"308", "302", "404", "200"}},
	{24, "temporal-redirect-code", []string{"307", "308", "303"}},
	{12, "relative-redirects", []string{"true"}},
	{12, "from-to-www-redirect", []string{"true"}},
	{12, "server-alias", []string{"alias.example.org", "b.example.org,alias.example.org", "*.alias.example.org",
		`~^v[0-9]+\.example\.org$`, "www.shop.example.com"}},
	{8, "auth-url", []string{verifyURL, verifyURL, "http://nobody.store.svc.cluster.local/"}},
	{16, "auth-signin", []string{"https://id.example.org/start", "https://id.example.org/start?app=1",
		"http://$host/auth?rd=home"}},
	{16, "satisfy", []string{"any", "all", "some"}},
	{10, "whitelist-source-range", []string{"10.0.0.0/8", "10.0.0.5, 192.0.2.0/24"}},
	{24, "allowlist-source-range", []string{"198.51.100.0/24"}},
	{10, "denylist-source-range", []string{"198.51.100.0/24", "10.0.0.5"}},
	{16, "limit-rps", []string{"1", "5"}},
	{24, "limit-rpm", []string{"1"}},
	{24, "limit-burst-multiplier", []string{"1", "3"}},
	{16, "enable-cors", []string{"true"}},
	{16, "cors-allow-origin", []string{"*", "https://ui.example.org", "https://*.example.org,http://ui.example.net",
		"ui.example.org"}},
	{12, "proxy-body-size", []string{"1", "8k", "0", "2m", "much"}},
	{16, "default-backend", []string{"errors", "idle"}},
	{16, "enable-global-auth", []string{"false"}},
	{30, "no-such-annotation", []string{"1"}},
	{24, "canary-by-header", []string{"X-Next"}},
}

// mistakes are values that drop an Ingress (N3), close it (N4), open it or are ignored (N5).
var mistakes = []choice{
	{0, "auth-type", []string{"bearer"}},
	{0, "limit-rps", []string{"ten"}},
	{0, "limit-connections", []string{"many"}},
	{0, "from-to-www-redirect", []string{"yes"}},
	{0, "relative-redirects", []string{"si"}},
	{0, "permanent-redirect", []string{"https://new.example.org/$request_uri"}},
	{0, "permanent-redirect-code", []string{"found"}},
	{0, "temporal-redirect", []string{"https://new.example.org/{x}"}},
	{0, "server-alias", []string{"a;b"}},
	{0, "custom-http-errors", []string{"5xx"}},
	{0, "default-backend", []string{"not_a_name"}},
	{0, "configuration-snippet", []string{"return 418;"}},
	{0, "auth-url", []string{"http://verify/{x}", "/check"}},
	{0, "auth-method", []string{"FETCH"}},
	{0, "auth-response-headers", []string{"X-A;", "X A"}},
	{0, "auth-cache-duration", []string{"200 {5m}", "forever"}},
	{0, "auth-request-redirect", []string{"http://x/{y}"}},
	{0, "auth-always-set-cookie", []string{"perhaps"}},
	{0, "whitelist-source-range", []string{"300.0.0.0/8"}},
	{0, "denylist-source-range", []string{"here"}},
	{0, "ssl-redirect", []string{"maybe"}},
	{0, "use-regex", []string{"ja"}},
	{0, "canary", []string{"perhaps"}},
	{0, "rewrite-target", []string{"/x?y=1"}},
	{0, "enable-cors", []string{"si"}},
}

// drawAnnotations draws those of an Ingress that is no canary.
func (d *drawing) drawAnnotations(ing *networking.Ingress) map[string]string {
	out := map[string]string{}
	for name, v := range ing.Annotations {
		out[name] = v
	}
	plenty := 1 + d.IntN(3)
	for _, one := range choices {
		if d.chance(one.once * plenty) {
			out[prefix+one.name] = d.pick(one.values...)
		}
	}
	if d.chance(6) {
		d.drawPassword(out)
	}
	if d.chance(24) {
		d.drawCertificates(ing, out)
	}
	if d.chance(8) {
		one := mistakes[d.IntN(len(mistakes))]
		out[prefix+one.name] = d.pick(one.values...)
		if _, set := out[prefix+"auth-url"]; !set && d.chance(2) {
			out[prefix+"auth-url"] = verifyURL
		}
	}
	return out
}

func (d *drawing) drawPassword(out map[string]string) {
	out[prefix+"auth-type"] = d.pick("basic", "digest")
	if !d.chance(8) {
		out[prefix+"auth-secret"] = d.pick("users", "users", "users", "store/users", "missing", "keyless")
	}
	if d.chance(6) {
		out[prefix+"auth-secret-type"] = d.pick("auth-file", "auth-map", "auth-other")
	}
	if d.chance(6) {
		out[prefix+"auth-realm"] = d.pick("members", "a;b")
	}
}

func (d *drawing) drawCertificates(ing *networking.Ingress, out map[string]string) {
	out[prefix+"auth-tls-secret"] = d.pick(ing.Namespace+"/ca", ing.Namespace+"/ca", "store/ca", "store/missing", "ca")
	if d.chance(2) {
		out[prefix+"auth-tls-verify-client"] = d.pick("on", "optional", "optional_no_ca", "off", "perhaps")
	}
	if d.chance(4) {
		out[prefix+"auth-tls-error-page"] = "http://help.example.org/error"
	}
	if d.chance(4) {
		out[prefix+"auth-tls-match-cn"] = d.pick("CN=client", "CN=other", "client")
	}
}
