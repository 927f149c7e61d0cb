package ingressnginx

import (
	"net/netip"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// settings are what the annotations of an Ingress set, with the defaults of the ConfigMap.
type settings struct {
	aliases        []string
	basic          bool
	external       *externalAuth
	globalAuth     bool // the external authentication of the ConfigMap holds for it
	clientAuth     clientAuth
	satisfyAny     bool
	allow, deny    []netip.Prefix
	canary         canary
	cors           cors
	limits         limits
	redirect       redirect
	rewrite        rewrite
	affinity       affinity
	proxy          []ingress.Setting
	bodyLimit      int64 // 0: none
	protocol       string
	vhost          string
	prefixHeader   string // x-forwarded-prefix
	fallback       *serviceRef
	errorCodes     []int
	keepsErrors    bool // disable-proxy-intercept-errors
	headers        []ingress.Header
	passthrough    bool
	serviceAddress bool // service-upstream
	portInRedirect bool
	modsecurity    bool

	configSnippet, serverSnippet bool
}

// readSettings reads all annotations.
func (v *annotationReader) readSettings() settings {
	c := v.control.config
	s := settings{
		clientAuth: v.readClientAuth(), // first, so that what it denies is its own
		aliases:    v.readAliases(), basic: v.readBasicAuth(), external: v.readExternalAuth(),
		globalAuth: v.booleanOr("enable-global-auth", true),
		allow:      v.readRanges("allowlist-source-range", "whitelist-source-range"),
		deny:       v.readRanges("denylist-source-range", "denylist-source-range"),
		canary:     v.readCanary(), cors: v.readCORS(), limits: v.readLimits(), redirect: v.readRedirect(),
		rewrite: v.readRewrite(), affinity: v.readAffinity(), headers: v.readCustomHeaders(),
		passthrough:    v.booleanOr("ssl-passthrough", false),
		serviceAddress: v.booleanOr("service-upstream", c.readBoolean("service-upstream", false)),
		portInRedirect: v.booleanOr("use-port-in-redirects", c.readBoolean("use-port-in-redirects", false)),
		keepsErrors:    v.booleanOr("disable-proxy-intercept-errors", false),
		modsecurity:    v.booleanOr("enable-modsecurity", c.readBoolean("enable-modsecurity", false)),
	}
	satisfy, _ := v.readText("satisfy")
	s.satisfyAny = satisfy == "any"
	s.vhost, _ = v.readText("upstream-vhost")
	s.prefixHeader, _ = v.readText("x-forwarded-prefix")
	s.proxy, s.bodyLimit = v.readProxySettings()
	s.protocol = v.readProtocol()
	s.proxy = append(s.proxy, v.protocolSetting(s.protocol))
	v.readErrorPages(&s)
	v.readBackendCertificate()
	v.readFastCGI()
	v.readSnippets(&s)
	return s
}

// bareSettings are those of the location of which no Ingress is the owner.
func (c *controller) bareSettings() settings {
	none := &annotationReader{ingress: &model.Object{}, control: c}
	s := settings{}
	s.proxy, s.bodyLimit = none.readProxySettings()
	s.proxy = append(s.proxy, none.protocolSetting("HTTP"))
	return s
}

func (v *annotationReader) readAliases() []string {
	text, _ := v.readText("server-alias")
	var out []string
	for name := range strings.SplitSeq(text, ",") {
		if name = strings.TrimSpace(name); name != "" {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// readRanges reads a list of addresses; without the annotation that of the ConfigMap holds.
func (v *annotationReader) readRanges(annotation, key string) []netip.Prefix {
	text, state := v.readText(annotation)
	if state == absent {
		return v.control.config.readRanges(key)
	}
	ranges, ok := parseRanges(text)
	if state != present || !ok {
		_, by, _ := v.findValue(annotation)
		v.denyPaths(by, "is no list of addresses and networks")
	}
	return ranges
}

// readErrorPages reads which errors another backend answers.
func (v *annotationReader) readErrorPages(s *settings) {
	if name, state := v.readText("default-backend"); state == present {
		s.fallback = &serviceRef{namespace: v.ingress.Ref.Namespace, name: name}
	}
	text, _ := v.readText("custom-http-errors")
	for code := range strings.SplitSeq(text, ",") {
		if n, err := strconv.Atoi(strings.TrimSpace(code)); err == nil {
			s.errorCodes = append(s.errorCodes, n)
		}
	}
}

// readCustomHeaders reads the ConfigMap with headers of answers.
func (v *annotationReader) readCustomHeaders() []ingress.Header {
	const annotation = "custom-headers"
	name, state := v.readText(annotation)
	if state != present {
		return nil
	}
	namespace, key, ok := splitName(name, "")
	if !ok || namespace == "" {
		v.denyPaths(annotation, "names no ConfigMap as namespace/name")
		return nil
	}
	o, known := v.findReferenced(annotation, "ConfigMap", namespace, key)
	if o == nil {
		if known {
			v.denyPaths(annotation, "names a ConfigMap that is not there")
		}
		return nil
	}
	allowed := v.control.config.readList("global-allowed-response-headers")
	var out []ingress.Header
	for header, value := range o.Body.At("data").Fields {
		text := value.Text()
		if !headerPattern.MatchString(header) || !headerValuePattern.MatchString(text) || !slices.Contains(allowed, header) {
			v.denyPaths(annotation, "sets the header %q, which global-allowed-response-headers does not allow", header)
			return nil
		}
		out = append(out, ingress.Header{Name: header, Values: []string{text}})
	}
	return out
}

// readBackendCertificate reads what the proxy shows to backends.
func (v *annotationReader) readBackendCertificate() {
	const annotation = "proxy-ssl-secret"
	name, state := v.readText(annotation)
	switch state {
	case invalid:
		v.dropIngress(annotation)
	case present:
		if strings.Count(name, "/") != 1 {
			v.denyPaths(annotation, "names no Secret as namespace/name")
			return
		}
		v.findSecretOf(annotation, name)
	}
}

// findSecretOf finds the Secret that an annotation names; nil: it may not be used, or is not there. known is false
// if the input does not tell.
func (v *annotationReader) findSecretOf(annotation, name string) (secret *secretKeys, known bool) {
	namespace, key, ok := splitName(name, v.ingress.Ref.Namespace)
	if !ok {
		v.denyPaths(annotation, "names no Secret")
		return nil, true
	}
	if !v.mayUse(annotation, "Secret", namespace) {
		return nil, true
	}
	o, known := v.findReferenced(annotation, "Secret", namespace, key)
	if o == nil {
		if known {
			v.denyPaths(annotation, "names the Secret %s/%s, which is not there", namespace, key)
		}
		return nil, known
	}
	return &secretKeys{o.Body.At("data")}, true
}

// mayUse reports whether an annotation may name an object of a namespace: the ConfigMap of the controller says
// whether it may be another than that of the Ingress.
func (v *annotationReader) mayUse(annotation, kind, namespace string) bool {
	const key = "allow-cross-namespace-resources"
	c := v.control.config
	if namespace == v.ingress.Ref.Namespace || c.readBoolean(key, false) {
		return true
	}
	state := "is not true"
	if c.object == nil {
		state = "is taken to be false, as it is not in the input"
	}
	v.denyPaths(annotation, "names a %s of another namespace, and %s of the ConfigMap %s %s", kind, key, c.ref.FullName(),
		state)
	return false
}

// readFastCGI reads the parameters of FastCGI backends.
func (v *annotationReader) readFastCGI() {
	const annotation = "fastcgi-params-configmap"
	name, state := v.readText(annotation)
	if state == invalid {
		v.dropIngress(annotation)
	}
	if state != present {
		return
	}
	_, key, ok := splitName(name, v.ingress.Ref.Namespace)
	if !ok {
		v.denyPaths(annotation, "names no ConfigMap")
		return
	}
	if o, known := v.findReferenced(annotation, "ConfigMap", v.ingress.Ref.Namespace, key); o == nil && known {
		v.denyPaths(annotation, "names a ConfigMap that is not there")
	}
}

// readSnippets reads which snippets are in force.
func (v *annotationReader) readSnippets(s *settings) {
	if !v.control.config.readBoolean(snippetsAllowed, false) {
		return
	}
	_, state := v.readText("configuration-snippet")
	s.configSnippet = state == present
	_, state = v.readText("server-snippet")
	s.serverSnippet = state == present
	if _, state = v.readText("modsecurity-snippet"); state == present {
		s.modsecurity = true
	}
}
