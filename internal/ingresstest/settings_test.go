package ingresstest

import (
	"net/netip"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"

	networking "k8s.io/api/networking/v1"
)

// settings are what the annotations of an Ingress ask for, and what is in force without them.
type settings struct {
	dropped bool // N3
	denied  bool // N4

	aliases                           []string
	target                            string
	useRegex                          bool
	sslRedirect, forceSSL, keepsSlash bool
	appRoot                           string
	redirect                          string
	redirectCode                      int
	fromToWWW, relative               bool
	isCanary                          bool
	canary                            split
	basic                             bool
	authURL, signIn, signInParam      string
	globalAuth                        bool
	certificates                      *clientCertificates
	certificatesMissing               bool
	allowed, refused                  []netip.Prefix
	satisfyAny                        bool
	cors                              bool
	origins                           []string
	bodyLimit                         int64
	defaultBackend                    string
	limits                            []int // requests per second and per minute
	burst                             int
}

// split says which requests a canary gets (N26).
type split struct {
	header, value, pattern, cookie string
	weight, total                  int
}

// clientCertificates are what a host asks of clients (N30).
type clientCertificates struct{ verify, errorPage, matchCN string }

// reading reads the annotations of one Ingress.
type reading struct {
	c   *cluster
	ing *networking.Ingress
	out *settings
}

// readSettings reads the annotations of an Ingress.
func (c *cluster) readSettings(ing *networking.Ingress) *settings {
	r := &reading{c, ing, &settings{}}
	r.refuseText()
	r.readRewrite()
	r.readRedirect()
	r.readAliases()
	r.readCanary()
	r.readBasic()
	r.readExternal()
	r.readCertificates()
	r.readLists()
	r.readRest()
	return r.out
}

func (r *reading) text(name string) string { return r.ing.Annotations[prefix+name] }

// valid is an annotation whose invalid values count as absent (N5).
func (r *reading) valid(name string, form *regexp.Regexp) string {
	if v := r.text(name); form.MatchString(v) {
		return v
	}
	return ""
}

// demanded is an annotation whose invalid values drop the Ingress (N3b).
func (r *reading) demanded(name string, form *regexp.Regexp) string {
	v := r.text(name)
	r.out.dropped = r.out.dropped || !form.MatchString(v)
	return v
}

func (r *reading) flag(name string, without bool) bool {
	if v, err := strconv.ParseBool(r.text(name)); err == nil {
		return v
	}
	return without
}

func (r *reading) demandedFlag(name string) bool {
	v, err := strconv.ParseBool(r.text(name))
	r.out.dropped = r.out.dropped || r.text(name) != "" && err != nil
	return v
}

func (r *reading) number(name string, without int) int {
	if v, err := strconv.Atoi(r.text(name)); err == nil {
		return v
	}
	return without
}

var (
	basicText    = regexp.MustCompile(`^[-._~a-zA-Z0-9/:]*$`)
	targetText   = regexp.MustCompile(`^[-._~a-zA-Z0-9/:$]*$`)
	urlText      = regexp.MustCompile(`^[-._~a-zA-Z0-9/:,?&=]*$`)
	variableText = regexp.MustCompile(`^[-._~a-zA-Z0-9/:,?&= $]*$`)
	nameText     = regexp.MustCompile(`^[-._~a-zA-Z0-9/:^$\[\](){}*+?|&=\\, ]*$`)
	spacedText   = regexp.MustCompile(`^[-._~a-zA-Z0-9/: ]*$`)
	numberText   = regexp.MustCompile(`^([-+]?[0-9]+)?$`)
	numbersText  = regexp.MustCompile(`^[0-9, ]*$`)
	sizeText     = regexp.MustCompile(`^(?i)[0-9]+[bkmg]?$`)
	headersText  = regexp.MustCompile(`^[-_A-Za-z0-9, ]*$`)
	labelText    = regexp.MustCompile(`^([a-z]([-a-z0-9]*[a-z0-9])?)?$`)
	typeText     = regexp.MustCompile(`^$|basic|digest`)
	commonName   = regexp.MustCompile(`^$|^CN=`)
	methodText   = regexp.MustCompile(`^(|GET|HEAD|POST|PUT|PATCH|DELETE|CONNECT|OPTIONS|TRACE)$`)
	originText   = regexp.MustCompile(`^[a-z]+://[-*.a-zA-Z0-9]+(:[0-9]+)?$`)
	durationText = regexp.MustCompile(`(^| )[0-9]+(ms|s|m|h|d|w|M|y)( |$)`)
	extendedText = regexp.MustCompile(`^[-._~a-zA-Z0-9/:, ]*$`)
)

// refuseText follows N3a and N3c.
func (r *reading) refuseText() {
	for name, v := range r.ing.Annotations {
		short, ours := strings.CutPrefix(name, prefix)
		if !ours {
			continue
		}
		if strings.HasSuffix(short, "-snippet") && r.c.value("annotations-risk-level", "High") != "Critical" {
			r.out.dropped = true
		}
		for word := range strings.SplitSeq(r.c.value("annotation-value-word-blocklist", ""), ",") {
			r.out.dropped = r.out.dropped || word != "" && strings.Contains(v, word)
		}
	}
}

// readRewrite follows N18, N19 and N22.
func (r *reading) readRewrite() {
	r.out.target = r.valid("rewrite-target", targetText)
	r.out.useRegex = r.flag("use-regex", false)
	r.out.sslRedirect = r.flag("ssl-redirect", r.c.value("ssl-redirect", "true") == "true")
	r.out.forceSSL = r.flag("force-ssl-redirect", r.c.value("force-ssl-redirect", "false") == "true")
	r.out.keepsSlash = r.flag("preserve-trailing-slash", false)
	if root := r.valid("app-root", basicText); strings.HasPrefix(root, "/") {
		r.out.appRoot = root
	}
}

// readRedirect follows N20. What is not asked for is not looked at either: with a temporal redirect
// the permanent one, without it its code.
func (r *reading) readRedirect() {
	r.out.fromToWWW, r.out.relative = r.demandedFlag("from-to-www-redirect"), r.demandedFlag("relative-redirects")
	temporal := r.demanded("temporal-redirect", urlText)
	if temporal != "" {
		r.demanded("temporal-redirect-code", numberText)
		r.out.redirect, r.out.redirectCode = temporal, r.code("temporal-redirect-code", 307, 302)
		if u, err := url.Parse(temporal); err != nil || !strings.HasPrefix(u.Scheme, "http") {
			r.out.redirect, r.out.fromToWWW, r.out.relative = "", false, false
		}
		return
	}
	r.out.redirect = r.demanded("permanent-redirect", urlText)
	r.demanded("permanent-redirect-code", numberText)
	r.out.redirectCode = r.code("permanent-redirect-code", 308, 301)
}

func (r *reading) code(name string, most, without int) int {
	if v := r.number(name, 0); v >= 300 && v <= most {
		return v
	}
	return without
}

func (r *reading) readAliases() {
	for alias := range strings.SplitSeq(r.demanded("server-alias", nameText), ",") {
		if alias = strings.TrimSpace(alias); alias != "" {
			r.out.aliases = append(r.out.aliases, strings.ToLower(alias))
		}
	}
	slices.Sort(r.out.aliases)
}

func (r *reading) readCanary() {
	r.out.isCanary = r.flag("canary", false)
	r.out.canary = split{header: r.text("canary-by-header"), value: r.text("canary-by-header-value"),
		pattern: r.text("canary-by-header-pattern"), cookie: r.text("canary-by-cookie"),
		weight: r.number("canary-weight", 0), total: r.number("canary-weight-total", 100)}
}

// readRest reads what is read by itself.
func (r *reading) readRest() {
	r.out.satisfyAny = strings.TrimSpace(r.text("satisfy")) == "any"
	r.demanded("limit-connections", numberText)
	for _, name := range []string{"limit-rps", "limit-rpm"} {
		r.demanded(name, numberText)
		r.out.limits = append(r.out.limits, r.number(name, 0))
	}
	r.out.burst = r.number("limit-burst-multiplier", 5)
	r.demanded("custom-http-errors", numbersText)
	r.out.defaultBackend = r.demanded("default-backend", labelText)
	r.out.bodyLimit = readSize(r.c.value("proxy-body-size", "1m"))
	if v := r.text("proxy-body-size"); sizeText.MatchString(v) {
		r.out.bodyLimit = readSize(v)
	}
	r.readOrigins()
}

// readOrigins follows N35.
func (r *reading) readOrigins() {
	r.out.cors = r.flag("enable-cors", false)
	all := r.text("cors-allow-origin")
	if strings.TrimSpace(all) == "" {
		all = "*"
	}
	for origin := range strings.SplitSeq(all, ",") {
		origin = strings.TrimSpace(origin)
		if origin == "*" {
			r.out.origins = []string{"*"}
			return
		}
		if originText.MatchString(origin) {
			r.out.origins = append(r.out.origins, origin)
		}
	}
}

// readSize reads a size as the proxy does.
func readSize(text string) int64 {
	units := map[byte]int64{'k': 1 << 10, 'm': 1 << 20, 'g': 1 << 30, 'b': 1}
	last := strings.ToLower(text)[len(text)-1]
	if unit, found := units[last]; found {
		n, _ := strconv.ParseInt(text[:len(text)-1], 10, 64)
		return n * unit
	}
	n, _ := strconv.ParseInt(text, 10, 64)
	return n
}
