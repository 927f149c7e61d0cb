package agentgateway

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// checkEndpoint repeats buildPolicyBackendEndpoint: a setting names a backend, or a URL, whose path
// it returns. What is said begins with before.
func (c *inspection) checkEndpoint(v setting, before string) (path string) {
	at := v.field("url")
	switch {
	case !v.field("backendRef").IsNull():
		c.checkBackendRef(v, before)
		return ""
	case at.IsNull():
		c.addFault(v.at, "%sbackendRef or url is required", before)
		return ""
	case at.Text() == model.Redacted:
		return ""
	}
	parsed, flaw := parseURL(at.Text())
	if flaw != "" {
		c.addFault(at.at, "%s%s", before, flaw)
		return ""
	}
	return parsed.EscapedPath()
}

// parseURL repeats ParseHTTPURL of remotehttp/resolver.go.
func parseURL(text string) (parsed *url.URL, flaw string) {
	parsed, err := url.Parse(text)
	switch {
	case err != nil:
		return nil, err.Error()
	case parsed.Scheme != "http" && parsed.Scheme != "https":
		return nil, fmt.Sprintf("unsupported URL scheme %q", parsed.Scheme)
	case parsed.Hostname() == "":
		return nil, "url must include a host"
	case parsed.User != nil:
		return nil, "url must not include userinfo"
	case parsed.ForceQuery || parsed.RawQuery != "":
		return nil, "url must not include a query"
	case parsed.Fragment != "":
		return nil, "url must not include a fragment"
	case parsed.Port() != "":
		if n, err := strconv.ParseUint(parsed.Port(), 10, 16); err != nil || n == 0 {
			return nil, fmt.Sprintf("invalid URL port %q", parsed.Port())
		}
	}
	return parsed, ""
}

// checkBackendRef checks the backend that a setting names: PolicyBackend of reference_indexes.go.
func (c *inspection) checkBackendRef(v setting, before string) {
	ref, at := readBackendRef(v.field("backendRef").Body, c.policy.Ref.Namespace), v.field("backendRef").at
	if c.refuseWithoutGrant(ref, v, before) {
		return
	}
	switch ref.GroupKind() {
	case model.GroupKind{Kind: "Service"}:
		if strings.Contains(ref.Name, ".") {
			c.addFault(at, "%sservice name invalid; the name of the Service, not the hostname", before)
			return
		}
	case backendKind:
	default:
		c.addFault(at, "%sunsupported backend %s", before, ref.GroupKind())
		return
	}
	o, known := c.findBackend(ref, at)
	what := map[bool]string{true: "Service", false: "Backend"}[ref.Group == ""]
	switch {
	case o == nil && known:
		c.addFault(at, "%sunable to find the %s %s", before, what, ref.FullName())
	case ref.Group == "" && v.field("backendRef", "port").IsNull():
		c.addFault(at, "%sport is required for Service targets", before)
	}
}

// findBackend finds a backend; if there is none, it says whether that is known. A backend that is
// not shown is taken to be missing only where nothing else can have made it.
func (c *inspection) findBackend(ref model.Ref, at []string) (o *model.Object, known bool) {
	if o = c.in.Get(ref); o != nil {
		return o, true
	}
	e := c.in.FindExistence(ref)
	if e.Presence == model.NotKnown {
		c.unread = c.unread || c.in.Cluster.IsUnreadRef(ref)
		c.addAssumption(at, "%s: it is taken to exist", e.Why)
	}
	return nil, e.IsAbsent()
}

// refuseWithoutGrant is a fault if a reference to another namespace needs a grant that is not there.
func (c *inspection) refuseWithoutGrant(ref model.Ref, v setting, before string) bool {
	home := c.policy.Ref
	if c.grants != "route-and-policy" || ref.Namespace == home.Namespace ||
		c.graph.IsGranted(home.GroupKind(), home.Namespace, ref) {
		return false
	}
	c.addFault(v.field("backendRef").at,
		"%sbackendRef %s/%s not accessible to an %s in namespace %q (missing a ReferenceGrant?)", before,
		ref.Namespace, ref.Name, home.Kind, home.Namespace)
	return true
}

// checkRemoteKeys repeats how the controller finds a set of keys (jwks/resolver.go,
// remotehttp/connection_resolver.go): a Service is a hostname that is not looked up, an
// AgentgatewayBackend has to exist and to have one address. What it fetches is not known.
func (c *inspection) checkRemoteKeys(v setting) {
	if v.IsNull() {
		return
	}
	if at := v.field("url"); !at.IsNull() {
		if _, flaw := parseURL(at.Text()); flaw != "" && at.Text() != model.Redacted {
			c.addFault(at.at, "%s", flaw)
		}
		return
	}
	at := v.field("backendRef").at
	if v.field("backendRef").IsNull() {
		c.addFault(v.at, "backendRef or url is required")
		return
	}
	ref := readBackendRef(v.field("backendRef").Body, c.policy.Ref.Namespace)
	if c.refuseWithoutGrant(ref, v, "") {
		return
	}
	switch gk := ref.GroupKind(); gk {
	case model.GroupKind{Kind: "Service"}:
	case backendKind:
		o, known := c.findBackend(ref, at)
		switch {
		case o == nil && known:
			c.addFault(at, "backend %s not found, policy %s", ref.FullName(), c.policy.Ref.FullName())
		case o != nil && o.Body.At("spec", "static").IsNull():
			c.addFault(at, "only static backends are supported; backend: %s, policy: %s", ref.FullName(),
				c.policy.Ref.FullName())
		}
	default:
		c.addFault(at, "unsupported backend kind %s.%s for policy %s", gk.Group, gk.Kind, c.policy.Ref.FullName())
	}
}
