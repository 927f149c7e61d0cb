package kong

import (
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"kong.Login": ifRunning(buildLoginGate), "kong.Group": ifRunning(buildGroupGate),
		"kong.Address": ifRunning(buildAddressGate), "kong.RateLimit": ifRunning(buildRateLimitGate),
		"kong.Window": ifRunning(buildWindowGate), "kong.Origin": ifRunning(buildOriginGate),
		"kong.Refusal": ifRunning(buildRefusalGate), "kong.Plain": ifRunning(protect.AsDescribed),
		"kong.Unread": ifRunning(buildUnreadGate), "kong.Consumers": buildConsumerGates}
}

// authenticatorTypes returns the types of plugins that tell who a request is from.
func authenticatorTypes() []string {
	return []string{"basic-auth", "hmac-auth", "header-cert-auth", "jwt", "jwt-signer", "key-auth", "key-auth-enc",
		"ldap-auth", "ldap-auth-advanced", "mtls-auth", "oauth2",
		"oauth2-introspection", "openid-connect", "saml", "session", "vault-auth"}
}

// harmlessTypes returns the types of plugins that keep no requests out, whatever they are told.
func harmlessTypes() []string {
	return []string{"acme", "ai-prompt-decorator", "ai-prompt-template", "ai-proxy", "ai-proxy-advanced",
		"ai-request-transformer", "ai-response-transformer", "aws-lambda", "azure-functions",
		"canary", "confluent", "correlation-id", "datadog", "exit-transformer", "file-log", "forward-proxy",
		"grpc-gateway", "grpc-web", "gzip", "header-enrichment", "http-log", "kafka-log",
		"kafka-upstream", "loggly", "mocking", "opentelemetry", "prometheus", "proxy-cache", "proxy-cache-advanced",
		"redirect", "request-termination", "request-transformer",
		"request-transformer-advanced", "response-ratelimiting", "response-transformer",
		"response-transformer-advanced", "route-by-header", "route-transformer-advanced", "session",
		"statsd", "statsd-advanced", "syslog", "tcp-log", "tls-metadata-headers", "udp-log",
		"upstream-timeout", "zipkin"}
}

// describedTypes returns the types of plugins that kinds.yaml describes.
func describedTypes() []string {
	return []string{"acl", "basic-auth", "bot-detection", "cors", "hmac-auth", "ip-restriction", "jwt", "key-auth",
		"key-auth-enc", "ldap-auth", "ldap-auth-advanced", "mtls-auth", "oauth2",
		"oauth2-introspection", "opa", "openid-connect", "rate-limiting", "rate-limiting-advanced",
		"request-size-limiting", "standard-webhooks"}
}

// perConsumerTypes returns the types of plugins that a consumer may have of its own; to others Kong
// refuses one.
func perConsumerTypes() []string {
	return []string{"ip-restriction", "rate-limiting", "rate-limiting-advanced", "request-size-limiting",
		"request-termination"}
}

// pluginInput is what a gate of one type of plugin looks at.
type pluginInput struct {
	protect.Input
	name string // the type
}

// configText is a setting of the plugin as text.
func (p *pluginInput) configText(field string) string {
	return p.Text("plugins", p.name, "config", field)
}

// configTexts is a setting of the plugin that is a list of texts.
func (p *pluginInput) configTexts(field string) []string {
	return model.Texts(p.Value("plugins", p.name, "config", field))
}

// fieldName names a setting of the plugin.
func (p *pluginInput) fieldName(names ...string) string {
	return strings.Join(append([]string{"plugins", p.name}, names...), ".")
}

// ifRunning completes the gate of a plugin that runs: one that is disabled, or is not for the
// protocol or the consumer of the request, does not.
func ifRunning(complete func(*pluginInput, protect.Gate) []protect.Gate) protect.Func {
	return func(in protect.Input, g protect.Gate) []protect.Gate {
		p := &pluginInput{in, in.Path[1]}
		out := complete(p, g)
		for i := range out {
			one := &out[i]
			switch {
			case in.Text("plugins", p.name, "disabled") == "true":
				one.Reasons, one.Refuses = nil, protect.NeverRefuses
				one.AddReason(gate.Disabled, p.fieldName("disabled"))
			case !p.hasProtocol():
				one.Reasons, one.Refuses = nil, protect.NeverRefuses
				one.AddReason(gate.Skipped, p.fieldName("protocols"))
			case slices.Contains(perConsumerTypes(), p.name) && isNamedByConsumer(in, one.Object):
				one.Reasons, one.Refuses = nil, protect.NeverRefuses
				one.AddReason(gate.Skipped, one.Field)
			case in.Value("plugins", p.name, "configFrom") != nil ||
				in.Value("plugins", p.name, "configPatches") != nil:
				one.AddReason(gate.MissingObject, p.fieldName("configFrom"))
				one.Reasons[len(one.Reasons)-1].Message = "the config of " + one.Object.String() + " stands in a Secret"
			}
		}
		return out
	}
}

// hasProtocol reports whether the plugin runs for the protocol of the request.
func (p *pluginInput) hasProtocol() bool {
	all := p.List("plugins", p.name, "protocols")
	if len(all) == 0 || p.Route() == topology.None {
		return true
	}
	protocol := map[string]string{"HTTPRoute": "http", "GRPCRoute": "grpc"}[p.Resolution().Node(p.Route()).Ref.Kind]
	if p.Reader.Request.Secure && protocol != "" {
		protocol += "s"
	}
	return protocol == "" || slices.Contains(all, any(protocol))
}

// buildLoginGate is the gate of a plugin that authenticates. With an anonymous consumer it refuses
// nobody (kong kong/plugins/key-auth/handler.lua:236-272 @ 22246ef28c).
func buildLoginGate(p *pluginInput, g protect.Gate) []protect.Gate {
	g.Reads = p.credentialPlaces()
	if p.configText("run_on_preflight") == "false" && p.Reader.IsMethod("OPTIONS") {
		g.AddReason(gate.Skipped, p.fieldName("config", "run_on_preflight"))
	}
	if anonymous := p.configText("anonymous"); anonymous != "" {
		code := gate.AnonymousAllowed
		if p.hasPlugins(anonymous) || len(p.consumerGroups("allow", "whitelist")) > 0 {
			code = gate.Consumer
		}
		g.AddReason(code, p.fieldName("config", "anonymous"))
		g.Answers, g.Missing, g.Refuses = nil, nil, protect.NeverRefuses
	}
	if p.name == "openid-connect" {
		if methods := p.configTexts("auth_methods"); len(methods) > 0 &&
			!slices.Contains(methods, "authorization_code") && len(g.Answers) > 0 {
			g.Answers, g.Missing = []string{"401", "403"}, []string{"401"}
		}
	}
	return []protect.Gate{g}
}

// credentialPlaces are where a plugin looks for the credential; nil: where its method does.
func (p *pluginInput) credentialPlaces() []string {
	var out []string
	names := func(field, where string, otherwise ...string) {
		all := p.configTexts(field)
		if p.Value("plugins", p.name, "config", field) == nil {
			all = otherwise
		}
		for _, name := range all {
			out = append(out, where+" "+name)
		}
	}
	switch p.name {
	case "key-auth", "key-auth-enc":
		if p.configText("key_in_header") != "false" {
			names("key_names", "header", "apikey")
		}
		if p.configText("key_in_query") != "false" {
			names("key_names", "query", "apikey")
		}
		if p.configText("key_in_body") == "true" { // of which a request here says nothing
			out = append(out, "connection")
		}
	case "jwt":
		names("header_names", "header", "authorization")
		names("uri_param_names", "query", "jwt")
		names("cookie_names", "cookie")
	case "basic-auth", "hmac-auth", "ldap-auth", "ldap-auth-advanced":
		out = []string{"header authorization", "header proxy-authorization"}
	case "oauth2", "oauth2-introspection":
		out = []string{"header authorization", "query access_token", "connection"}
	case "openid-connect":
		out = []string{"header authorization", "cookie", "query access_token"}
	}
	return out
}

// consumerGroups are the names that the plugin for groups of consumers lists.
func (p *pluginInput) consumerGroups(fields ...string) []any {
	if p.Value("plugins", "acl") == nil || p.Text("plugins", "acl", "disabled") == "true" {
		return nil
	}
	for _, field := range fields {
		if list := p.List("plugins", "acl", "config", field); len(list) > 0 {
			return list
		}
	}
	return nil
}

// hasPlugins reports whether a consumer is in the input and names plugins: they decide what it may
// do.
func (p *pluginInput) hasPlugins(consumer string) bool {
	for _, o := range p.Snapshot().OfKind(consumerKind) {
		if (o.Text("username") == consumer || o.Text("custom_id") == consumer) && o.Annotations[pluginsOf] != "" {
			return true
		}
	}
	return false
}

// buildGroupGate is the gate of the groups of consumers. Without anything that tells who requests
// are from it refuses them all (kong kong/plugins/acl/handler.lua:62-72 @ 22246ef28c).
func buildGroupGate(p *pluginInput, g protect.Gate) []protect.Gate {
	types, _ := p.Value("plugins").(map[string]any)
	for name := range types {
		runs := p.Text("plugins", name, "disabled") != "true"
		if runs && (slices.Contains(authenticatorTypes(), name) || !isKnown(name)) {
			return []protect.Gate{g}
		}
	}
	g.AddReason(gate.DeniesAll, g.Field)
	g.Answers, g.Missing, g.Refuses = []string{"401"}, []string{"401"}, protect.AlwaysRefuses
	return []protect.Gate{g}
}

// buildAddressGate is the gate of lists of addresses.
func buildAddressGate(p *pluginInput, g protect.Gate) []protect.Gate {
	allow, deny := p.configTexts("allow"), p.configTexts("deny")
	switch {
	case len(allow) == 0:
		allow = p.configTexts("whitelist")
	case slices.ContainsFunc(allow, func(cidr string) bool { return protect.CoversAll(cidr) }):
		allow = nil
		if len(deny) == 0 {
			g.AddReason(gate.AnyAddress, p.fieldName("config", "allow"))
		}
	}
	if len(deny) == 0 {
		deny = p.configTexts("blacklist")
	}
	if len(allow)+len(deny) == 0 && len(g.Reasons) == 0 {
		g.AddReason(gate.AnyAddress, g.Field)
	}
	return []protect.Gate{g}
}

// buildRateLimitGate is the gate of windows, each with a limit. Without a store all proxies count
// for themselves.
func buildRateLimitGate(p *pluginInput, g protect.Gate) []protect.Gate {
	for _, window := range []string{"second", "minute", "hour", "day", "month", "year"} {
		if limit := p.Value("plugins", p.name, "config", window); limit != nil {
			g.Counters = append(g.Counters, protect.Counter{Limit: limit, Per: window, Scope: p.counterScope(),
				Key: p.counterKey("limit_by"), Replicas: p.counterReplicas("policy")})
		}
	}
	if len(g.Counters) == 0 {
		g.AddReason(gate.Unlimited, g.Field)
	}
	return []protect.Gate{g}
}

// buildWindowGate is the gate of a list of limits and one of their windows, in seconds.
func buildWindowGate(p *pluginInput, g protect.Gate) []protect.Gate {
	sizes := p.List("plugins", p.name, "config", "window_size")
	for i, limit := range p.List("plugins", p.name, "config", "limit") {
		c := protect.Counter{Limit: limit, Scope: p.counterScope(), Key: p.counterKey("identifier"),
			Replicas: p.counterReplicas("strategy")}
		if i < len(sizes) {
			c.Per = p.Text("plugins", p.name, "config", "window_size", strconv.Itoa(i)) + "s"
		}
		g.Counters = append(g.Counters, c)
	}
	if len(g.Counters) == 0 {
		g.AddReason(gate.Unlimited, g.Field)
	}
	return []protect.Gate{g}
}

func (p *pluginInput) counterKey(field string) []string {
	by := p.configText(field)
	switch by {
	case "":
		by = "consumer"
	case "header":
		by += " " + p.configText("header_name")
	}
	return []string{by}
}

func (p *pluginInput) counterReplicas(field string) string {
	if by := p.configText(field); by == "" || by == "local" {
		return "each"
	}
	return "all"
}

// counterScope is what shares the counters of a plugin: where it stands.
func (p *pluginInput) counterScope() string {
	object := p.Source("plugins", p.name)
	for i := range p.Verdict.Layers {
		l := &p.Verdict.Layers[i]
		if l.Policy.Object.Ref != object || l.Rejected {
			continue
		}
		switch l.Level {
		case topology.Backend:
			return "backend"
		case topology.GatewayClass:
			return "gateway"
		}
	}
	return "rule"
}

// buildOriginGate is the gate of the origins that browsers may read answers for: all, if none is
// listed.
func buildOriginGate(p *pluginInput, g protect.Gate) []protect.Gate {
	origins := p.configTexts("origins")
	if len(origins) == 0 || slices.Contains(origins, "*") {
		g.AddReason(gate.AnyOrigin, g.Field)
	}
	g.Refuses = protect.NeverRefuses
	return []protect.Gate{g}
}

// buildRefusalGate is the gate of a plugin that answers every request itself.
func buildRefusalGate(p *pluginInput, g protect.Gate) []protect.Gate {
	if p.configText("trigger") != "" { // only requests with a header or a parameter
		return nil
	}
	g.AddReason(gate.DeniesAll, g.Field)
	g.Refuses = protect.AlwaysRefuses
	return []protect.Gate{g}
}

func isKnown(name string) bool {
	return slices.Contains(describedTypes(), name) || slices.Contains(harmlessTypes(), name)
}

// buildUnreadGate is the gate of a plugin of which nothing is known: it may do anything.
func buildUnreadGate(p *pluginInput, g protect.Gate) []protect.Gate {
	if isKnown(p.name) {
		return nil
	}
	return []protect.Gate{g}
}

// isNamedByConsumer reports whether a consumer names a plugin as well: it runs for requests of that
// consumer alone then.
func isNamedByConsumer(in protect.Input, plugin model.Ref) bool {
	for _, kind := range []string{"KongConsumer", "KongConsumerGroup"} {
		for _, o := range in.Snapshot().OfKind(model.GroupKind{Group: group, Kind: kind}) {
			for name := range strings.SplitSeq(o.Annotations[pluginsOf], ",") {
				if strings.TrimSpace(name) == plugin.Name && (plugin.Namespace == "" ||
					plugin.Namespace == o.Ref.Namespace) {
					return true
				}
			}
		}
	}
	return false
}

// buildConsumerGates are those of plugins that consumers name: they run for requests of these
// consumers alone, on all routes. Where nobody is asked who a request is from they never run. And
// those of plugins that are named and not in the input.
func buildConsumerGates(in protect.Input, _ protect.Gate) []protect.Gate {
	if !isOwnGateway(in) {
		return nil
	}
	out := buildMissingGates(in)
	asked := slices.ContainsFunc(in.InForce, func(s *protect.Settings) bool {
		types, _ := s.Value("plugins").(map[string]any)
		for name := range types {
			if slices.Contains(authenticatorTypes(), name) && s.Text("plugins", name, "disabled") != "true" {
				return true
			}
		}
		return false
	})
	counted := countConsumers(in)
	for _, of := range []struct {
		name     string
		property gate.Property
	}{{"rate-limiting", gate.RateLimit}, {"rate-limiting-advanced", gate.RateLimit}, {"ip-restriction",
		gate.IPList}, {"request-size-limiting", gate.RequestSize}} {
		plugin, found := counted.first[of.name]
		if !found {
			continue
		}
		g := protect.Gate{Property: of.property, Object: plugin, Field: "plugins." + of.name,
			Refuses: protect.NeverRefuses}
		if asked && counted.having[of.name] == counted.all && in.Snapshot().HasAll(consumerKind, plugin.Namespace) {
			g.AddReason(gate.Consumer, g.Field)
			g.Reasons[0].Message = g.Field + " of " + plugin.String() +
				" is for the consumers that name it"
		} else {
			g.AddReason(gate.Skipped, g.Field)
			g.Reasons[0].Message = g.Field + " of " + plugin.String() +
				" is for the consumers that name it, and for no other requests"
		}
		out = append(out, g)
	}
	return out
}

// consumerCount says how many consumers have a plugin of a type.
type consumerCount struct {
	all    int
	having map[string]int
	first  map[string]model.Ref
}

// countConsumers counts the consumers that name plugins, by type.
func countConsumers(in protect.Input) consumerCount {
	out := consumerCount{having: map[string]int{}, first: map[string]model.Ref{}}
	for _, c := range in.Snapshot().OfKind(consumerKind) {
		out.all++
		names := c.Annotations[pluginsOf]
		if names == "" {
			continue
		}
		for name := range strings.SplitSeq(names, ",") {
			o := findPlugin(in, c.Ref.Namespace, strings.TrimSpace(name))
			if o == nil || o.Text("disabled") == "true" {
				continue
			}
			kind := o.Text("plugin")
			out.having[kind]++
			if _, known := out.first[kind]; !known {
				out.first[kind] = o.Ref
			}
		}
	}
	return out
}

// findPlugin is the plugin that a name means to an object of a namespace; nil if it is not in the
// input.
func findPlugin(in protect.Input, namespace, name string) *model.Object {
	if o := in.Snapshot().Get(model.Ref{Group: group, Kind: pluginKind.Kind, Namespace: namespace,
		Name: name}); o != nil {
		return o
	}
	return in.Snapshot().Get(model.Ref{Group: group, Kind: clusterPluginKind.Kind, Name: name})
}

// buildMissingGates are those of plugins that annotations name and that are not in the input. One
// that is known not to exist is passed over (kubernetes-ingress-controller
// internal/dataplane/kongstate/kongstate.go:534-546).
func buildMissingGates(in protect.Input) []protect.Gate {
	var objects []*model.Object
	res := in.Resolution()
	if in.Route() != topology.None {
		objects = append(objects, res.Node(in.Route()).Object)
	}
	if in.RouteRule() != topology.None {
		for _, b := range res.Graph.BackendRefs(in.RouteRule()) {
			objects = append(objects, in.Snapshot().Get(b.Ref.WithoutSection()))
		}
	}
	var out []protect.Gate
	for _, o := range objects {
		if o == nil {
			continue
		}
		for name := range strings.SplitSeq(o.Annotations[pluginsOf], ",") {
			if name = strings.TrimSpace(name); name == "" || !canExist(in, o.Ref.Namespace, name) {
				continue
			}
			seen := map[gate.Property]bool{}
			for _, rule := range in.Kind.Protects.Rules {
				if seen[rule.Property] {
					continue
				}
				seen[rule.Property] = true
				g := protect.Gate{Property: rule.Property, Object: o.Ref, Field: "metadata.annotations"}
				g.AddReason(gate.MissingObject, g.Field)
				g.Reasons[0].Message += ": KongPlugin " + name
				out = append(out, g)
			}
		}
	}
	return out
}

// canExist reports whether a plugin of a name is not in the input, which need not have it.
func canExist(in protect.Input, namespace, name string) bool {
	if before, after, found := strings.Cut(name, ":"); found {
		namespace, name = before, after
	}
	known := in.Snapshot().HasAll(pluginKind, namespace) && in.Snapshot().HasAll(clusterPluginKind, "")
	return findPlugin(in, namespace, name) == nil && !known
}

// isOwnGateway reports whether a path leads through a Gateway of a Kong controller, or may do.
func isOwnGateway(in protect.Input) bool {
	if in.Gateway() == topology.None {
		return false
	}
	g := in.Resolution().Graph
	return !slices.ContainsFunc(g.Parents(topology.Traffic, in.Gateway()), func(class topology.NodeID) bool {
		o := g.Node(class).Object
		return o != nil && !slices.Contains(controllers, o.Text("spec", "controllerName"))
	})
}
