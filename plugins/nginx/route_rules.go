package nginx

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// What the controller takes of the rules of routes (internal/controller/state/graph/httproute.go,
// grpcroute.go, common_filter.go and backend_refs.go, internal/controller/nginx/config/validation @
// e55bfe339). What the API server refuses anyway is not looked for.

// judgeRules judges the matches and the filters of a route's rules.
func (v *controllerView) judgeRules(r *routeView, n *topology.Node) {
	var unsupported, missing string
	rules := n.Object.Body.At("spec", "rules")
	for _, rule := range rules.Items {
		resolved := v.findMissingFilter(n.Ref, rule)
		missing = cmp.Or(missing, resolved)
		unsupported = cmp.Or(unsupported, unsupportedField(n.Ref.Kind, rule))
		r.usable = append(r.usable, judgeRule(n.Ref.Kind, rule) == "" && resolved == "")
	}
	if unsupported != "" {
		r.conditions = append(r.conditions, status.Condition{Type: "Accepted", Status: "True", Reason: "UnsupportedField",
			Message: unsupported + " is not supported"})
	}
	why := findInvalidRule(n.Ref.Kind, rules)
	switch {
	case why == "":
	case slices.Contains(r.usable, true):
		r.conditions = append(r.conditions, status.Condition{Type: "PartiallyInvalid", Status: "True",
			Reason: "UnsupportedValue", Message: why})
	default:
		r.fault = "no rule of it is valid: " + why
		r.conditions = append(r.conditions, refused("UnsupportedValue", r.fault))
	}
	if missing != "" {
		r.conditions = append(r.conditions, unresolved("InvalidFilter", missing))
	}
}

// findInvalidRule says what is wrong with the first rule that has something invalid.
func findInvalidRule(kind string, rules model.Body) string {
	for _, rule := range rules.Items {
		if why := judgeRule(kind, rule); why != "" {
			return why
		}
	}
	return ""
}

// judgeRule says what is invalid in a rule, by itself.
func judgeRule(kind string, rule model.Body) string {
	for _, m := range rule.Field("matches").Items {
		if why := judgeMatch(kind, m); why != "" {
			return why
		}
	}
	authenticated := false
	for _, f := range rule.Field("filters").Items {
		if why := judgeFilter(kind, f); why != "" {
			return why
		}
		if f.Text("type") == "ExtensionRef" && f.Text("extensionRef", "kind") == "AuthenticationFilter" {
			if authenticated {
				return "a rule may have one AuthenticationFilter"
			}
			authenticated = true
		}
	}
	return ""
}

// pathPattern is what the controller takes for a path.
var pathPattern = regexp.MustCompile(`^/[^\s{};]*$`)

// reservedPath is how the controller's own paths begin.
const reservedPath = "/_ngf-internal"

// methods are those that the controller can match.
var methods = []string{"GET", "HEAD", "POST", "PUT", "DELETE", "OPTIONS", "PATCH"}

// judgeMatch says what is invalid in a match.
func judgeMatch(kind string, m model.Body) string {
	for _, h := range m.Field("headers").Items {
		switch name := h.Text("name"); {
		case !headerNamePattern.MatchString(name):
			return strangeHeader(name)
		case strings.TrimSpace(h.Text("value")) == "":
			return fmt.Sprintf("header %s is matched by an empty value", name)
		}
	}
	if kind == "GRPCRoute" {
		return judgeCall(m.Field("method"))
	}
	if path := m.Field("path"); path.IsObject() {
		switch value := cmp.Or(path.Text("value"), "/"); {
		case strings.HasPrefix(value, reservedPath):
			return "path " + value + " is reserved"
		case !pathPattern.MatchString(value):
			return fmt.Sprintf("path %q has characters that nginx cannot take", value)
		case path.Text("type") == "RegularExpression":
			if _, err := regexp.Compile(value); err != nil {
				return fmt.Sprintf("path %q is no regular expression", value)
			}
		}
	}
	for _, q := range m.Field("queryParams").Items {
		if strings.TrimSpace(q.Text("value")) == "" || strings.TrimSpace(q.Text("name")) == "" {
			return "a query parameter is matched by an empty text"
		}
	}
	if method := m.Text("method"); method != "" && !slices.Contains(methods, method) {
		return "method " + method + " is not supported"
	}
	return ""
}

// judgeCall says what is invalid in a match of gRPC: it takes a service and a method.
func judgeCall(method model.Body) string {
	service, name := method.Text("service"), method.Text("method")
	switch {
	case !method.IsObject():
		return ""
	case cmp.Or(method.Text("type"), "Exact") != "Exact":
		return "methods of gRPC are only matched exactly"
	case service == "" || name == "":
		return "a method of gRPC is only matched by its service and its name"
	case strings.HasPrefix(service, reservedPath) || !pathPattern.MatchString("/"+service) ||
		!pathPattern.MatchString("/"+name):
		return fmt.Sprintf("method %s/%s has characters that nginx cannot take", service, name)
	}
	return ""
}

// filterTypes are the types of filters that the controller knows.
var filterTypes = map[string][]string{
	"HTTPRoute": {"ResponseHeaderModifier", "RequestHeaderModifier", "ExtensionRef", "RequestRedirect", "URLRewrite",
		"RequestMirror", "CORS", "ExternalAuth"},
	"GRPCRoute": {"ResponseHeaderModifier", "RequestHeaderModifier", "ExtensionRef", "RequestMirror"},
}

var (
	requestHeaders  = []string{"host", "connection", "upgrade"}
	responseHeaders = []string{"server", "date", "x-pad", "content-type", "content-length", "connection"}
	headerValue     = regexp.MustCompile(`^([^"$\\]|\\[^$])*$`)
	variableName    = regexp.MustCompile(`^\$[a-z_]+$`)
)

// judgeFilter says what is invalid in a filter, by itself.
func judgeFilter(kind string, f model.Body) string {
	switch which := f.Text("type"); {
	case !slices.Contains(filterTypes[kind], which):
		return "a filter of type " + which + " is not supported"
	case which == "RequestHeaderModifier":
		return judgeHeaders(f.Field("requestHeaderModifier"), nil)
	case which == "ResponseHeaderModifier":
		return judgeHeaders(f.Field("responseHeaderModifier"), responseHeaders)
	case which == "RequestRedirect":
		return judgePathChange(f.At("requestRedirect", "path"))
	case which == "URLRewrite":
		return judgePathChange(f.At("urlRewrite", "path"))
	case which == "ExtensionRef":
		ref := f.Field("extensionRef")
		if ref.Text("group") != group || ref.Text("kind") != "SnippetsFilter" && ref.Text("kind") != "AuthenticationFilter" {
			return "a filter of kind " + ref.Text("kind") + " is not supported"
		}
	case which == "ExternalAuth" && f.Text("externalAuth", "protocol") != "HTTP":
		return "external authorization by " + f.Text("externalAuth", "protocol") + " is not supported"
	}
	return ""
}

// judgeHeaders says what is invalid in a change of headers; some names are reserved.
func judgeHeaders(change model.Body, reserved []string) string {
	judge := func(name string) string {
		lower := strings.ToLower(name)
		switch {
		case !headerNamePattern.MatchString(name):
			return strangeHeader(name)
		case slices.Contains(requestHeaders, lower) || slices.Contains(reserved, lower) ||
			reserved != nil && strings.HasPrefix(lower, "x-accel"):
			return "header " + name + " cannot be changed"
		}
		return ""
	}
	for _, what := range []string{"add", "set"} {
		for _, h := range change.Field(what).Items {
			if why := judge(h.Text("name")); why != "" {
				return why
			}
			if value := h.Text("value"); !headerValue.MatchString(value) && !variableName.MatchString(value) {
				return fmt.Sprintf("value %q of header %s has characters that nginx cannot take", value, h.Text("name"))
			}
		}
	}
	for _, h := range change.Field("remove").Items {
		if why := judge(h.Text()); why != "" {
			return why
		}
	}
	return ""
}

func judgePathChange(path model.Body) string {
	value := cmp.Or(path.Text("replaceFullPath"), path.Text("replacePrefixMatch"))
	if value != "" && (!pathPattern.MatchString(value) || strings.Contains(value, "$")) {
		return fmt.Sprintf("path %q has characters that nginx cannot take", value)
	}
	return ""
}

func strangeHeader(name string) string {
	return fmt.Sprintf("the header name %q has other characters than letters, digits and hyphens", name)
}

// findMissingFilter says which filter of a rule refers to something that is not there, or not valid.
func (v *controllerView) findMissingFilter(route model.Ref, rule model.Body) string {
	for _, f := range rule.Field("filters").Items {
		if f.Text("type") != "ExtensionRef" || judgeFilter(route.Kind, f) != "" {
			continue
		}
		to := model.Ref{Group: group, Kind: f.Text("extensionRef", "kind"), Namespace: route.Namespace,
			Name: f.Text("extensionRef", "name")}
		o := v.in.Get(to)
		switch {
		case o == nil && v.in.FindExistence(to).Presence == model.Missing:
			return to.String() + " does not exist"
		case o != nil && to.Kind == "SnippetsFilter" && o.Body.At("spec", "snippets").Len() == 0:
			return to.String() + " is not valid"
		}
	}
	return ""
}

// unsupportedField is a field of a rule that the controller reads and ignores.
func unsupportedField(kind string, rule model.Body) string {
	fields := []string{"name", "timeouts", "retry", "sessionPersistence"}
	if kind == "GRPCRoute" {
		fields = []string{"name", "sessionPersistence"}
	}
	for _, f := range fields {
		if rule.Has(f) && !rule.Field(f).IsNull() {
			return f
		}
	}
	for _, f := range rule.Field("filters").Items {
		if f.Text("type") == "ExternalAuth" {
			return "a filter of type ExternalAuth"
		}
	}
	return ""
}

// eachBackend calls see for every reference to a backend in the usable rules of a route, and in
// their mirrors, with what it refers to.
func (v *controllerView) eachBackend(r *routeView, n *topology.Node, see func(ref model.Body, to model.Ref)) {
	if r.fault != "" {
		return
	}
	for i, rule := range n.Object.Body.At("spec", "rules").Items {
		if i >= len(r.usable) || !r.usable[i] {
			continue
		}
		one := func(ref model.Body) {
			kind := cmp.Or(ref.Text("kind"), "Service")
			to := model.Ref{Group: ref.Text("group"), Kind: kind, Namespace: cmp.Or(ref.Text("namespace"), n.Ref.Namespace),
				Name: ref.Text("name")}
			if kind == "Service" && to.Group == "core" {
				to.Group = ""
			}
			see(ref, to)
		}
		for _, ref := range rule.Field("backendRefs").Items {
			one(ref)
		}
		for _, f := range rule.Field("filters").Items {
			if f.Text("type") == "RequestMirror" {
				one(f.At("requestMirror", "backendRef"))
			}
		}
	}
}

// judgeBackends says what the backends of a route come to: of several faults the last one stands.
func (v *controllerView) judgeBackends(r *routeView, n *topology.Node) {
	v.eachBackend(r, n, func(ref model.Body, to model.Ref) {
		if reason, why := v.judgeBackend(n.Ref, ref, to); reason != "" {
			r.conditions = append(r.conditions, unresolved(reason, why))
		}
	})
}

const inferenceGroup = "inference.networking.k8s.io"

// judgeBackend says why nothing can be sent to a backend.
func (v *controllerView) judgeBackend(route model.Ref, ref model.Body, to model.Ref) (reason, why string) {
	pool := to.Group == inferenceGroup && to.Kind == "InferencePool" && route.Kind == "HTTPRoute"
	switch {
	case ref.Field("filters").Len() > 0:
		return "UnsupportedValue", "filters of " + to.String() + " are not supported"
	case !pool && (to.Kind != "Service" || to.Group != ""):
		return "InvalidKind", to.String() + " is no Service"
	case to.Namespace != route.Namespace && !v.in.IsUnread(grantKind, to.Namespace) &&
		!v.g.IsGranted(route.GroupKind(), route.Namespace, to):
		return "RefNotPermitted", "no ReferenceGrant permits the reference to " + to.String()
	case pool:
		return "", ""
	}
	port, ok := ref.Get("port").(int64)
	if !ok {
		return "UnsupportedValue", "the reference to " + to.String() + " has no port"
	}
	o := v.in.Get(to)
	if o == nil {
		if v.in.FindExistence(to).Presence == model.Missing {
			return "BackendNotFound", to.String() + " does not exist"
		}
		return "", ""
	}
	for _, p := range o.Body.At("spec", "ports").Items {
		if p.Get("port") == port {
			return judgeProtocol(route.Kind, p.Text("appProtocol"), to, v.hasBackendTLS(to, p.Text("name")))
		}
	}
	return "BackendNotFound", fmt.Sprintf("%s has no port %d", to, port)
}

// judgeProtocol says why routes of a kind cannot send to a port.
func judgeProtocol(kind, protocol string, to model.Ref, secured bool) (reason, why string) {
	if protocol == "kubernetes.io/ws" && kind == "GRPCRoute" ||
		protocol == "kubernetes.io/wss" && (kind == "GRPCRoute" || !secured) {
		return "UnsupportedProtocol", fmt.Sprintf("a %s cannot send to %s by %s", kind, to, protocol)
	}
	return "", ""
}

// hasBackendTLS reports whether a BackendTLSPolicy is for a port of a Service.
func (v *controllerView) hasBackendTLS(service model.Ref, port string) bool {
	for _, o := range v.in.OfKind(model.GroupKind{Group: gatewayGroup, Kind: "BackendTLSPolicy"}) {
		for _, ref := range o.Body.At("spec", "targetRefs").Items {
			section := ref.Text("sectionName")
			if o.Ref.Namespace == service.Namespace && ref.Text("name") == service.Name && ref.Text("kind") == "Service" &&
				(section == "" || section == port) {
				return true
			}
		}
	}
	return false
}
