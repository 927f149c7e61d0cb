package ingressnginx

import (
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// config is the ConfigMap of the controller.
type config struct {
	ref    model.Ref     // that the controller reads
	object *model.Object // nil: it is not in the input, and the defaults hold
	data   map[string]string
}

// readConfig finds the ConfigMap that the flags name, or the one by the usual name.
func (c *controller) readConfig() *config {
	name := c.readFlag("configmap", "ingress-nginx/ingress-nginx-controller")
	namespace, name, _ := strings.Cut(name, "/")
	out := &config{ref: model.Ref{Kind: "ConfigMap", Namespace: namespace, Name: name}, data: map[string]string{}}
	out.object = c.in.Get(out.ref)
	if out.object == nil {
		severity := model.Info
		if c.in.Cluster != nil && c.in.FindExistence(out.ref).Presence != model.Missing {
			severity = model.Warning // it is most likely there, and was not read
		}
		c.problems = append(c.problems, model.Problem{Severity: severity, Code: model.NotEvaluated,
			Message: fmt.Sprintf("the ConfigMap %s of the controller is not in the input: its defaults are taken",
				out.ref.FullName()), Hint: "add it, and the Deployment of the controller, to the input"})
		return out
	}
	for key, value := range out.object.Body.At("data").Fields {
		out.data[key] = value.Text()
	}
	return out
}

func (c *config) readText(key, otherwise string) string {
	if value, there := c.data[key]; there {
		return value
	}
	return otherwise
}

func (c *config) readBoolean(key string, otherwise bool) bool {
	value, there := c.data[key]
	if !there {
		return otherwise
	}
	if value == "" {
		return false
	}
	b, err := strconv.ParseBool(value)
	if err != nil {
		return otherwise
	}
	return b
}

func (c *config) readInteger(key string, otherwise int) int {
	n, err := strconv.Atoi(c.data[key])
	if err != nil {
		return otherwise
	}
	return n
}

// readList reads a readList of words.
func (c *config) readList(key string) []string {
	var out []string
	for word := range strings.SplitSeq(c.data[key], ",") {
		if word = strings.TrimSpace(word); word != "" {
			out = append(out, word)
		}
	}
	return out
}

// readRanges reads a list of addresses and networks. Entries that are neither are left out.
func (c *config) readRanges(key string) []netip.Prefix {
	var out []netip.Prefix
	for _, word := range c.readList(key) {
		if r, ok := parseRanges(word); ok {
			out = append(out, r...)
		}
	}
	return out
}

// redirectCode is the status of redirects to https and to the other name of a host.
func (c *config) redirectCode() int {
	switch n := c.readInteger("http-redirect-code", 308); n {
	case 301, 302, 307, 308:
		return n
	}
	return 308
}

// trustedProxies are the peers of which the header with the client's address counts.
func (c *config) trustedProxies() []netip.Prefix {
	if _, there := c.data["proxy-real-ip-cidr"]; !there {
		return []netip.Prefix{netip.PrefixFrom(netip.IPv4Unspecified(), 0)}
	}
	return c.readRanges("proxy-real-ip-cidr")
}

// trustsAddress reports whether the client's address is taken from a header.
func (c *config) trustsAddress() bool {
	return c.readBoolean("use-forwarded-headers", false) || c.readBoolean("enable-real-ip", false)
}

// isExcepted reports whether a list of prefixes of paths has one of a location.
func (c *config) isExcepted(key, path string) bool {
	for _, prefix := range strings.Split(c.readText(key, "/.well-known/acme-challenge"), ",") {
		if prefix = strings.Trim(prefix, " "); prefix != "" && strings.HasPrefix(path, prefix) {
			return true
		}
	}
	return false
}

// globalAuth is the external authentication of all locations that have no other; nil: none.
func (c *controller) globalAuth() *externalAuth {
	own := c.config
	u := parseURL(own.data["global-auth-url"])
	if u == nil {
		return nil
	}
	a := &externalAuth{url: own.data["global-auth-url"], from: "global-auth-url of ConfigMap " + own.ref.FullName(),
		unreachable: c.isUnreachable(u.Hostname())}
	if parseURL(own.data["global-auth-signin"]) != nil {
		a.signin = own.data["global-auth-signin"]
		a.signinParameter = strings.TrimSpace(own.data["global-auth-signin-redirect-param"])
	}
	for _, h := range own.readList("global-auth-response-headers") {
		if headerPattern.MatchString(h) {
			a.responseHeaders = append(a.responseHeaders, h)
		}
	}
	if own.data["global-auth-snippet"] != "" {
		a.unknown = "global-auth-snippet of ConfigMap " + own.ref.FullName() + " may change what the service answers"
	}
	a.cached = own.data["global-auth-cache-key"] != ""
	return a
}

// parseURL reads a URL with scheme and host; nil: it is none.
func parseURL(text string) *url.URL {
	u, err := url.Parse(text)
	if err != nil || u.Scheme == "" || u.Host == "" || strings.Contains(u.Host, "..") {
		return nil
	}
	return u
}

// findSnippet is the first key of the ConfigMap whose text is put into the configuration as it is; "": none.
func (c *config) findSnippet() string {
	for _, key := range []string{"http-snippet", "server-snippet", "location-snippet"} {
		if strings.TrimSpace(c.data[key]) != "" {
			return key
		}
	}
	return ""
}
