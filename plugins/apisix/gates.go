package apisix

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"apisix.Plain": ifRunning(protect.AsDescribed), "apisix.Login": ifRunning(buildLoginGate),
		"apisix.Multi": ifRunning(buildMultiGate), "apisix.Address": ifRunning(buildAddressGate),
		"apisix.Limit": ifRunning(buildLimitGate), "apisix.Origin": ifRunning(buildOriginGate),
		"apisix.Redirect": ifRunning(buildRedirectGate), "apisix.Unread": ifRunning(buildUnreadGate)}
}

// harmlessPlugins returns the plugins that keep no requests out, whatever they are told.
func harmlessPlugins() []string {
	return []string{"ai-prompt-decorator", "ai-prompt-template", "ai-proxy", "ai-proxy-multi", "ai-rag",
		"ai-request-rewrite", "api-breaker", "attach-consumer-label", "aws-lambda", "azure-functions",
		"body-transformer", "brotli", "clickhouse-logger", "datadog", "degraphql", "echo", "elasticsearch-logger",
		"error-log-logger", "file-logger", "google-cloud-logging", "grpc-transcode",
		"grpc-web", "gzip", "http-dubbo", "http-logger", "inspect", "kafka-logger", "kafka-proxy", "lago", "loggly",
		"loki-logger", "mocking", "node-status", "openfunction",
		"opentelemetry", "openwhisk", "prometheus", "proxy-buffering", "proxy-cache", "proxy-control", "proxy-mirror",
		"proxy-rewrite", "real-ip", "redirect", "request-id",
		"response-rewrite", "rocketmq-logger", "skywalking", "skywalking-logger", "sls-logger", "splunk-hec-logging",
		"syslog", "tcp-logger", "tencent-cloud-cls", "traffic-split",
		"udp-logger", "zipkin"}
}

// describedPlugins returns the plugins that kinds.yaml describes.
func describedPlugins() []string {
	return []string{"authz-casbin", "authz-keycloak", "basic-auth", "client-control", "consumer-restriction", "cors",
		"csrf", "forward-auth", "hmac-auth", "ip-restriction", "jwt-auth",
		"key-auth", "ldap-auth", "limit-conn", "limit-count", "limit-req", "multi-auth", "opa", "openid-connect",
		"referer-restriction", "request-validation", "ua-restriction", "uri-blocker",
		"wolf-rbac"}
}

// authenticationMethod is how a plugin authenticates.
func authenticationMethod(plugin string) string {
	return map[string]string{"basic-auth": "basic", "hmac-auth": "hmac", "jwt-auth": "jwt", "key-auth": "apiKey",
		"ldap-auth": "ldap", "openid-connect": "oidc"}[plugin]
}

// nestUnderNames puts the plugins of a PluginConfig below their names, as the controller does: of
// two with one name the last one is in force (internal/adc/translator/httproute.go:70-97 @
// d510f665).
func nestUnderNames(_ *model.Object, body any, _ model.Settings) any {
	whole, ok := body.(map[string]any)
	spec, both := whole["spec"].(map[string]any)
	list, listed := spec["plugins"].([]any)
	if !ok || !both || !listed {
		return body
	}
	plugins := map[string]any{}
	for _, entry := range list {
		fields, _ := entry.(map[string]any)
		name, _ := fields["name"].(string)
		config, _ := fields["config"].(map[string]any)
		if config == nil {
			config = map[string]any{}
		}
		if name != "" {
			plugins[name] = config
		}
	}
	out := map[string]any{}
	for name, v := range whole {
		out[name] = v
	}
	out["spec"] = map[string]any{"plugins": plugins}
	return out
}

// pluginInput is what a gate of one plugin looks at.
type pluginInput struct {
	protect.Input
	name string
}

func (p *pluginInput) configText(names ...string) string {
	return p.Text(append([]string{"plugins", p.name}, names...)...)
}

func (p *pluginInput) fieldName(names ...string) string {
	return strings.Join(append([]string{"plugins", p.name}, names...), ".")
}

// ifRunning completes the gate of a plugin, which may be disabled, or be for some requests alone.
func ifRunning(complete func(*pluginInput, protect.Gate) []protect.Gate) protect.Func {
	return func(in protect.Input, g protect.Gate) []protect.Gate {
		p := &pluginInput{in, in.Path[1]}
		out := complete(p, g)
		for i := range out {
			switch {
			case p.configText("_meta", "disable") == "true":
				out[i].Reasons, out[i].Refuses = nil, protect.NeverRefuses
				out[i].AddReason(gate.Disabled, p.fieldName("_meta", "disable"))
			case len(p.List("plugins", p.name, "_meta", "filter")) > 0:
				out[i].AddReason(gate.Condition, p.fieldName("_meta", "filter"))
			}
		}
		return out
	}
}

// buildLoginGate is the gate of a plugin that authenticates. With an anonymous consumer it refuses
// nobody.
func buildLoginGate(p *pluginInput, g protect.Gate) []protect.Gate {
	conf, _ := p.Value("plugins", p.name).(map[string]any)
	return []protect.Gate{p.completeLogin(g, p.name, conf, p.fieldName())}
}

// buildMultiGate is one of the alternatives of multi-auth.
func buildMultiGate(p *pluginInput, g protect.Gate) []protect.Gate {
	entry, _ := p.Value(p.Path...).(map[string]any)
	var out []protect.Gate
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		one := g
		one.Method = authenticationMethod(name)
		conf, _ := entry[name].(map[string]any)
		out = append(out, p.completeLogin(one, name, conf, p.fieldName("auth_plugins", name)))
	}
	return out
}

// completeLogin tells where a plugin looks for the credential and whether it asks for one.
func (p *pluginInput) completeLogin(g protect.Gate, plugin string, conf map[string]any, field string) protect.Gate {
	text := func(name, otherwise string) string {
		if s, ok := conf[name].(string); ok && s != "" {
			return s
		}
		return otherwise
	}
	switch plugin {
	case "key-auth":
		g.Reads = []string{"header " + text("header", "apikey"), "query " + text("query", "apikey")}
	case "jwt-auth":
		g.Reads = []string{"header " + text("header", "authorization"), "query " + text("query", "jwt"),
			"cookie " + text("cookie", "jwt")}
	case "basic-auth", "ldap-auth":
		g.Reads = []string{"header authorization"}
	case "hmac-auth":
		g.Reads = []string{"header authorization", "header x-hmac-signature"}
	case "openid-connect":
		g.Reads = []string{"header authorization", "header x-access-token", "cookie"}
		g.Missing = []string{"302"}
		if conf["bearer_only"] == true || text("unauth_action", "") == "deny" {
			g.Answers, g.Missing = []string{"401"}, []string{"401"}
		} else if text("unauth_action", "") == "pass" {
			g.Answers, g.Missing = []string{"401"}, nil
			g.AddReason(gate.MissingAllowed, field+".unauth_action")
		}
	}
	if anonymous := text("anonymous_consumer", ""); anonymous != "" {
		code := gate.AnonymousAllowed
		if p.isRestricted(anonymous) {
			code = gate.Consumer
		}
		g.AddReason(code, field+".anonymous_consumer")
		g.Answers, g.Missing, g.Refuses = nil, nil, protect.NeverRefuses
	}
	return g
}

// isRestricted reports whether plugins decide what a consumer may do: those of its own, or one that
// lists consumers.
func (p *pluginInput) isRestricted(consumer string) bool {
	if len(p.List("plugins", "consumer-restriction", "whitelist"))+len(p.List("plugins", "consumer-restriction",
		"blacklist")) > 0 {
		return true
	}
	for _, o := range p.Snapshot().OfKind(model.GroupKind{Group: group, Kind: "Consumer"}) {
		full := strings.ReplaceAll(o.Ref.Namespace+"_"+o.Ref.Name, "-", "_")
		if (o.Ref.Name == consumer || full == strings.ReplaceAll(consumer, "-", "_")) &&
			o.Body.At("spec", "plugins").Len() > 0 {
			return true
		}
	}
	return false
}

// buildAddressGate is the gate of lists of addresses.
func buildAddressGate(p *pluginInput, g protect.Gate) []protect.Gate {
	allow, deny := p.List("plugins", p.name, "whitelist"), p.List("plugins", p.name, "blacklist")
	if len(deny) == 0 && (len(allow) == 0 || protect.CoversAll(allow)) {
		g.AddReason(gate.AnyAddress, g.Field)
	}
	return []protect.Gate{g}
}

// buildLimitGate is the gate of a limit of requests. Without a store each replica counts for
// itself.
func buildLimitGate(p *pluginInput, g protect.Gate) []protect.Gate {
	c := protect.Counter{Scope: "rule", Key: []string{"remote_addr"}, Replicas: "each"}
	if key := p.configText("key"); key != "" {
		c.Key = []string{key}
	}
	if policy := p.configText("policy"); policy != "" && policy != "local" {
		c.Replicas = "all"
	}
	switch p.name {
	case "limit-count":
		c.Limit = p.Value("plugins", p.name, "count")
		if window := p.configText("time_window"); window != "" {
			c.Per = window + "s"
		}
		if p.configText("group") != "" {
			c.Scope = "policy"
		}
	case "limit-req":
		c.Limit, c.Per = p.Value("plugins", p.name, "rate"), "1s"
	case "limit-conn":
		c.Limit = p.Value("plugins", p.name, "conn")
	}
	g.Counters = []protect.Counter{c}
	return []protect.Gate{g}
}

// buildOriginGate is the gate of the origins that browsers may read answers for: all, if none is
// listed.
func buildOriginGate(p *pluginInput, g protect.Gate) []protect.Gate {
	g.Refuses = protect.NeverRefuses
	if len(p.List("plugins", p.name, "allow_origins_by_regex")) > 0 && p.configText("allow_origins") == "" {
		return []protect.Gate{g}
	}
	if all := p.configText("allow_origins"); all == "" || all == "*" || all == "**" {
		g.AddReason(gate.AnyOrigin, g.Field)
	}
	return []protect.Gate{g}
}

// buildRedirectGate sends plain requests to https: none of them gets through.
func buildRedirectGate(p *pluginInput, g protect.Gate) []protect.Gate {
	if p.Reader.Request.Secure {
		g.Answers, g.Refuses = nil, protect.NeverRefuses
		return []protect.Gate{g}
	}
	g.AddReason(gate.DeniesAll, g.Field)
	g.Refuses = protect.AlwaysRefuses
	return []protect.Gate{g}
}

// buildUnreadGate is the gate of a plugin of which nothing is known: it may do anything.
func buildUnreadGate(p *pluginInput, g protect.Gate) []protect.Gate {
	if slices.Contains(describedPlugins(), p.name) || slices.Contains(harmlessPlugins(), p.name) {
		return nil
	}
	return []protect.Gate{g}
}
