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

// gates complete what kinds.yaml says of how settings keep requests out.
func gates() protect.Functions {
	return protect.Functions{"kong.Login": inForce(loginGate), "kong.Group": inForce(groupGate), "kong.Address": inForce(addressGate), "kong.RateLimit": inForce(rateLimitGate),
		"kong.Window": inForce(windowGate), "kong.Origin": inForce(originGate), "kong.Refusal": inForce(refusalGate), "kong.Plain": inForce(protect.AsDescribed),
		"kong.Unread": inForce(unreadGate), "kong.Consumers": consumerGates}
}

// authenticators are the types of plugins that tell who a request is from.
func authenticators() []string {
	return []string{"basic-auth", "hmac-auth", "header-cert-auth", "jwt", "jwt-signer", "key-auth", "key-auth-enc", "ldap-auth", "ldap-auth-advanced", "mtls-auth", "oauth2",
		"oauth2-introspection", "openid-connect", "saml", "session", "vault-auth"}
}

// harmless are the types of plugins that keep no requests out, whatever they are told.
func harmless() []string {
	return []string{"acme", "ai-prompt-decorator", "ai-prompt-template", "ai-proxy", "ai-proxy-advanced", "ai-request-transformer", "ai-response-transformer", "aws-lambda", "azure-functions",
		"canary", "confluent", "correlation-id", "datadog", "exit-transformer", "file-log", "forward-proxy", "grpc-gateway", "grpc-web", "gzip", "header-enrichment", "http-log", "kafka-log",
		"kafka-upstream", "loggly", "mocking", "opentelemetry", "prometheus", "proxy-cache", "proxy-cache-advanced", "redirect", "request-termination", "request-transformer",
		"request-transformer-advanced", "response-ratelimiting", "response-transformer", "response-transformer-advanced", "route-by-header", "route-transformer-advanced", "session",
		"statsd", "statsd-advanced", "syslog", "tcp-log", "tls-metadata-headers", "udp-log", "upstream-timeout", "zipkin"}
}

// described are the types of plugins that kinds.yaml describes.
func described() []string {
	return []string{"acl", "basic-auth", "bot-detection", "cors", "hmac-auth", "ip-restriction", "jwt", "key-auth", "key-auth-enc", "ldap-auth", "ldap-auth-advanced", "mtls-auth", "oauth2",
		"oauth2-introspection", "opa", "openid-connect", "rate-limiting", "rate-limiting-advanced", "request-size-limiting", "standard-webhooks"}
}

// perConsumer are the types of plugins that a consumer may have of its own; to others Kong refuses one.
func perConsumer() []string {
	return []string{"ip-restriction", "rate-limiting", "rate-limiting-advanced", "request-size-limiting", "request-termination"}
}

// pluginInput is what a gate of one type of plugin looks at.
type pluginInput struct {
	protect.Input
	name string // the type
}

// config is a setting of the plugin as text.
func (p *pluginInput) config(field string) string {
	return p.Text("plugins", p.name, "config", field)
}

// list is a setting of the plugin that is a list of texts.
func (p *pluginInput) list(field string) []string {
	return model.Texts(p.Value("plugins", p.name, "config", field))
}

// field names a setting of the plugin.
func (p *pluginInput) field(names ...string) string {
	return strings.Join(append([]string{"plugins", p.name}, names...), ".")
}

// inForce completes the gate of a plugin that runs: one that is disabled, or is not for the protocol or the consumer of the request, does not.
func inForce(complete func(*pluginInput, protect.Gate) []protect.Gate) protect.Func {
	return func(in protect.Input, g protect.Gate) []protect.Gate {
		p := &pluginInput{in, in.Path[1]}
		out := complete(p, g)
		for i := range out {
			one := &out[i]
			switch {
			case in.Text("plugins", p.name, "disabled") == "true":
				one.Reasons, one.Refuses = nil, protect.Never
				one.Weaken(gate.Disabled, p.field("disabled"))
			case !p.hasProtocol():
				one.Reasons, one.Refuses = nil, protect.Never
				one.Weaken(gate.Skipped, p.field("protocols"))
			case slices.Contains(perConsumer(), p.name) && isNamed(in, one.Object):
				one.Reasons, one.Refuses = nil, protect.Never
				one.Weaken(gate.Skipped, one.Field)
			case in.Value("plugins", p.name, "configFrom") != nil || in.Value("plugins", p.name, "configPatches") != nil:
				one.Weaken(gate.MissingObject, p.field("configFrom"))
				one.Reasons[len(one.Reasons)-1].Message = "the config of " + one.Object.Kind + " " + one.Object.FullName() + " stands in a Secret"
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
	if p.Look.Request.Secure && protocol != "" {
		protocol += "s"
	}
	return protocol == "" || slices.Contains(all, any(protocol))
}

// loginGate is that of a plugin that authenticates. With an anonymous consumer it refuses nobody
// (kong kong/plugins/key-auth/handler.lua:236-272 @ 22246ef28c).
func loginGate(p *pluginInput, g protect.Gate) []protect.Gate {
	g.Reads = p.places()
	if p.config("run_on_preflight") == "false" && p.Look.IsMethod("OPTIONS") {
		g.Weaken(gate.Skipped, p.field("config", "run_on_preflight"))
	}
	if anonymous := p.config("anonymous"); anonymous != "" {
		code := gate.AnonymousAllowed
		if p.hasPlugins(anonymous) || len(p.groups("allow", "whitelist")) > 0 {
			code = gate.Consumer
		}
		g.Weaken(code, p.field("config", "anonymous"))
		g.Answers, g.Missing, g.Refuses = nil, nil, protect.Never
	}
	if p.name == "openid-connect" {
		if methods := p.list("auth_methods"); len(methods) > 0 && !slices.Contains(methods, "authorization_code") && len(g.Answers) > 0 {
			g.Answers, g.Missing = []string{"401", "403"}, []string{"401"}
		}
	}
	return []protect.Gate{g}
}

// places are where a plugin looks for the credential; nil: where its method does.
func (p *pluginInput) places() []string {
	var out []string
	names := func(field, where string, otherwise ...string) {
		all := p.list(field)
		if p.Value("plugins", p.name, "config", field) == nil {
			all = otherwise
		}
		for _, name := range all {
			out = append(out, where+" "+name)
		}
	}
	switch p.name {
	case "key-auth", "key-auth-enc":
		if p.config("key_in_header") != "false" {
			names("key_names", "header", "apikey")
		}
		if p.config("key_in_query") != "false" {
			names("key_names", "query", "apikey")
		}
		if p.config("key_in_body") == "true" { // of which a request here says nothing
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

// groups are the names that the plugin for groups of consumers lists.
func (p *pluginInput) groups(fields ...string) []any {
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

// hasPlugins reports whether a consumer is in the input and names plugins: they decide what it may do.
func (p *pluginInput) hasPlugins(consumer string) bool {
	for _, o := range p.Snapshot().Of(consumerKind) {
		if (o.Text("username") == consumer || o.Text("custom_id") == consumer) && o.Annotations[pluginsOf] != "" {
			return true
		}
	}
	return false
}

// groupGate is that of the groups of consumers. Without anything that tells who requests are from it refuses them all
// (kong kong/plugins/acl/handler.lua:62-72 @ 22246ef28c).
func groupGate(p *pluginInput, g protect.Gate) []protect.Gate {
	types, _ := p.Value("plugins").(map[string]any)
	for name := range types {
		runs := p.Text("plugins", name, "disabled") != "true"
		if runs && (slices.Contains(authenticators(), name) || !isKnown(name)) {
			return []protect.Gate{g}
		}
	}
	g.Weaken(gate.DeniesAll, g.Field)
	g.Answers, g.Missing, g.Refuses = []string{"401"}, []string{"401"}, protect.Always
	return []protect.Gate{g}
}

// addressGate is that of lists of addresses.
func addressGate(p *pluginInput, g protect.Gate) []protect.Gate {
	allow, deny := p.list("allow"), p.list("deny")
	switch {
	case len(allow) == 0:
		allow = p.list("whitelist")
	case slices.ContainsFunc(allow, func(cidr string) bool { return protect.CoversAll(cidr) }):
		allow = nil
		if len(deny) == 0 {
			g.Weaken(gate.AnyAddress, p.field("config", "allow"))
		}
	}
	if len(deny) == 0 {
		deny = p.list("blacklist")
	}
	if len(allow)+len(deny) == 0 && len(g.Reasons) == 0 {
		g.Weaken(gate.AnyAddress, g.Field)
	}
	return []protect.Gate{g}
}

// rateLimitGate is that of windows, each with a limit. Without a store all proxies count for themselves.
func rateLimitGate(p *pluginInput, g protect.Gate) []protect.Gate {
	for _, window := range []string{"second", "minute", "hour", "day", "month", "year"} {
		if limit := p.Value("plugins", p.name, "config", window); limit != nil {
			g.Counters = append(g.Counters, protect.Counter{Limit: limit, Per: window, Scope: p.scope(), Key: p.key("limit_by"), Replicas: p.replicas("policy")})
		}
	}
	if len(g.Counters) == 0 {
		g.Weaken(gate.Unlimited, g.Field)
	}
	return []protect.Gate{g}
}

// windowGate is that of a list of limits and one of their windows, in seconds.
func windowGate(p *pluginInput, g protect.Gate) []protect.Gate {
	sizes := p.List("plugins", p.name, "config", "window_size")
	for i, limit := range p.List("plugins", p.name, "config", "limit") {
		c := protect.Counter{Limit: limit, Scope: p.scope(), Key: p.key("identifier"), Replicas: p.replicas("strategy")}
		if i < len(sizes) {
			c.Per = p.Text("plugins", p.name, "config", "window_size", strconv.Itoa(i)) + "s"
		}
		g.Counters = append(g.Counters, c)
	}
	if len(g.Counters) == 0 {
		g.Weaken(gate.Unlimited, g.Field)
	}
	return []protect.Gate{g}
}

func (p *pluginInput) key(field string) []string {
	by := p.config(field)
	switch by {
	case "":
		by = "consumer"
	case "header":
		by += " " + p.config("header_name")
	}
	return []string{by}
}

func (p *pluginInput) replicas(field string) string {
	if by := p.config(field); by == "" || by == "local" {
		return "each"
	}
	return "all"
}

// scope is what shares the counters of a plugin: where it stands.
func (p *pluginInput) scope() string {
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

// originGate is that of the origins that browsers may read answers for: all, if none is listed.
func originGate(p *pluginInput, g protect.Gate) []protect.Gate {
	origins := p.list("origins")
	if len(origins) == 0 || slices.Contains(origins, "*") {
		g.Weaken(gate.AnyOrigin, g.Field)
	}
	g.Refuses = protect.Never
	return []protect.Gate{g}
}

// refusalGate is that of a plugin that answers every request itself.
func refusalGate(p *pluginInput, g protect.Gate) []protect.Gate {
	if p.config("trigger") != "" { // only requests with a header or a parameter
		return nil
	}
	g.Weaken(gate.DeniesAll, g.Field)
	g.Refuses = protect.Always
	return []protect.Gate{g}
}

func isKnown(name string) bool {
	return slices.Contains(described(), name) || slices.Contains(harmless(), name)
}

// unreadGate is that of a plugin of which nothing is known: it may do anything.
func unreadGate(p *pluginInput, g protect.Gate) []protect.Gate {
	if isKnown(p.name) {
		return nil
	}
	return []protect.Gate{g}
}

// isNamed reports whether a consumer names a plugin as well: it runs for requests of that consumer alone then.
func isNamed(in protect.Input, plugin model.Ref) bool {
	for _, kind := range []string{"KongConsumer", "KongConsumerGroup"} {
		for _, o := range in.Snapshot().Of(model.GroupKind{Group: group, Kind: kind}) {
			for name := range strings.SplitSeq(o.Annotations[pluginsOf], ",") {
				if strings.TrimSpace(name) == plugin.Name && (plugin.Namespace == "" || plugin.Namespace == o.Ref.Namespace) {
					return true
				}
			}
		}
	}
	return false
}

// consumerGates are those of plugins that consumers name: they run for requests of these consumers alone, on all routes. Where nobody is asked
// who a request is from they never run. And those of plugins that are named and not in the input.
func consumerGates(in protect.Input, _ protect.Gate) []protect.Gate {
	if !isOwn(in) {
		return nil
	}
	out := missingGates(in)
	asked := slices.ContainsFunc(in.Way, func(s *protect.Settings) bool {
		types, _ := s.Value("plugins").(map[string]any)
		for name := range types {
			if slices.Contains(authenticators(), name) && s.Text("plugins", name, "disabled") != "true" {
				return true
			}
		}
		return false
	})
	counted := countConsumers(in)
	for _, of := range []struct {
		name     string
		property gate.Property
	}{{"rate-limiting", gate.RateLimit}, {"rate-limiting-advanced", gate.RateLimit}, {"ip-restriction", gate.IPList}, {"request-size-limiting", gate.RequestSize}} {
		plugin, found := counted.first[of.name]
		if !found {
			continue
		}
		g := protect.Gate{Property: of.property, Object: plugin, Field: "plugins." + of.name, Refuses: protect.Never}
		if asked && counted.having[of.name] == counted.all && in.Snapshot().HasAll(consumerKind, plugin.Namespace) {
			g.Weaken(gate.Consumer, g.Field)
			g.Reasons[0].Message = g.Field + " of " + plugin.Kind + " " + plugin.FullName() + " is for the consumers that name it"
		} else {
			g.Weaken(gate.Skipped, g.Field)
			g.Reasons[0].Message = g.Field + " of " + plugin.Kind + " " + plugin.FullName() + " is for the consumers that name it, and for no other requests"
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
	for _, c := range in.Snapshot().Of(consumerKind) {
		out.all++
		names := c.Annotations[pluginsOf]
		if names == "" {
			continue
		}
		for name := range strings.SplitSeq(names, ",") {
			o := pluginNamed(in, c.Ref.Namespace, strings.TrimSpace(name))
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

// pluginNamed is the plugin that a name means to an object of a namespace; nil if it is not in the input.
func pluginNamed(in protect.Input, namespace, name string) *model.Object {
	if o := in.Snapshot().Get(model.Ref{Group: group, Kind: pluginKind.Kind, Namespace: namespace, Name: name}); o != nil {
		return o
	}
	return in.Snapshot().Get(model.Ref{Group: group, Kind: clusterPluginKind.Kind, Name: name})
}

// missingGates are those of plugins that annotations name and that are not in the input. One that is known not to exist is passed over
// (kubernetes-ingress-controller internal/dataplane/kongstate/kongstate.go:534-546).
func missingGates(in protect.Input) []protect.Gate {
	var objects []*model.Object
	res := in.Resolution()
	if in.Route() != topology.None {
		objects = append(objects, res.Node(in.Route()).Object)
	}
	if in.RouteRule() != topology.None {
		for _, b := range res.Graph.Backends(in.RouteRule()) {
			objects = append(objects, in.Snapshot().Get(b.Ref.WithoutSection()))
		}
	}
	var out []protect.Gate
	for _, o := range objects {
		if o == nil {
			continue
		}
		for name := range strings.SplitSeq(o.Annotations[pluginsOf], ",") {
			if name = strings.TrimSpace(name); name == "" || !mayExist(in, o.Ref.Namespace, name) {
				continue
			}
			seen := map[gate.Property]bool{}
			for _, rule := range in.Kind.Protects.Rules {
				if seen[rule.Property] {
					continue
				}
				seen[rule.Property] = true
				g := protect.Gate{Property: rule.Property, Object: o.Ref, Field: "metadata.annotations"}
				g.Weaken(gate.MissingObject, g.Field)
				g.Reasons[0].Message += ": KongPlugin " + name
				out = append(out, g)
			}
		}
	}
	return out
}

// mayExist reports whether a plugin of a name is not in the input, which need not have it.
func mayExist(in protect.Input, namespace, name string) bool {
	if before, after, found := strings.Cut(name, ":"); found {
		namespace, name = before, after
	}
	known := in.Snapshot().HasAll(pluginKind, namespace) && in.Snapshot().HasAll(clusterPluginKind, "")
	return pluginNamed(in, namespace, name) == nil && !known
}

// isOwn reports whether a way leads through a Gateway of the controller, or may do.
func isOwn(in protect.Input) bool {
	if in.Gateway() == topology.None {
		return false
	}
	g := in.Resolution().Graph
	return !slices.ContainsFunc(g.Parents(topology.Traffic, in.Gateway()), func(class topology.NodeID) bool {
		o := g.Node(class).Object
		return o != nil && o.Text("spec", "controllerName") != controller
	})
}
