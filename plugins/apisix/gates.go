package apisix

import (
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
)

// gates complete what kinds.yaml says of how settings keep requests out.
func gates() protect.Functions {
	return protect.Functions{"apisix.Plain": inForce(protect.AsDescribed), "apisix.Login": inForce(loginGate), "apisix.Multi": inForce(multiGate), "apisix.Address": inForce(addressGate),
		"apisix.Limit": inForce(limitGate), "apisix.Origin": inForce(originGate), "apisix.Redirect": inForce(redirectGate), "apisix.Unread": inForce(unreadGate)}
}

// harmless are the plugins that keep no requests out, whatever they are told.
func harmless() []string {
	return []string{"ai-prompt-decorator", "ai-prompt-template", "ai-proxy", "ai-proxy-multi", "ai-rag", "ai-request-rewrite", "api-breaker", "attach-consumer-label", "aws-lambda", "azure-functions",
		"body-transformer", "brotli", "clickhouse-logger", "datadog", "degraphql", "echo", "elasticsearch-logger", "error-log-logger", "file-logger", "google-cloud-logging", "grpc-transcode",
		"grpc-web", "gzip", "http-dubbo", "http-logger", "inspect", "kafka-logger", "kafka-proxy", "lago", "loggly", "loki-logger", "mocking", "node-status", "openfunction",
		"opentelemetry", "openwhisk", "prometheus", "proxy-buffering", "proxy-cache", "proxy-control", "proxy-mirror", "proxy-rewrite", "real-ip", "redirect", "request-id",
		"response-rewrite", "rocketmq-logger", "skywalking", "skywalking-logger", "sls-logger", "splunk-hec-logging", "syslog", "tcp-logger", "tencent-cloud-cls", "traffic-split",
		"udp-logger", "zipkin"}
}

// described are the plugins that kinds.yaml describes.
func described() []string {
	return []string{"authz-casbin", "authz-keycloak", "basic-auth", "client-control", "consumer-restriction", "cors", "csrf", "forward-auth", "hmac-auth", "ip-restriction", "jwt-auth",
		"key-auth", "ldap-auth", "limit-conn", "limit-count", "limit-req", "multi-auth", "opa", "openid-connect", "referer-restriction", "request-validation", "ua-restriction", "uri-blocker",
		"wolf-rbac"}
}

// methodOf is how a plugin authenticates.
func methodOf(plugin string) string {
	return map[string]string{"basic-auth": "basic", "hmac-auth": "hmac", "jwt-auth": "jwt", "key-auth": "apiKey", "ldap-auth": "ldap", "openid-connect": "oidc"}[plugin]
}

// byName puts the plugins of a PluginConfig below their names, as the controller does: of two with one name the last one is in force
// (internal/adc/translator/httproute.go:70-97 @ d510f665).
func byName(_ *model.Object, body any, _ model.Settings) any {
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

func (p *pluginInput) text(names ...string) string {
	return p.Text(append([]string{"plugins", p.name}, names...)...)
}

func (p *pluginInput) field(names ...string) string {
	return strings.Join(append([]string{"plugins", p.name}, names...), ".")
}

// inForce completes the gate of a plugin, which may be disabled, or be for some requests alone.
func inForce(complete func(*pluginInput, protect.Gate) []protect.Gate) protect.Func {
	return func(in protect.Input, g protect.Gate) []protect.Gate {
		p := &pluginInput{in, in.Path[1]}
		out := complete(p, g)
		for i := range out {
			switch {
			case p.text("_meta", "disable") == "true":
				out[i].Reasons, out[i].Refuses = nil, protect.Never
				out[i].Weaken(gate.Disabled, p.field("_meta", "disable"))
			case len(p.List("plugins", p.name, "_meta", "filter")) > 0:
				out[i].Weaken(gate.Condition, p.field("_meta", "filter"))
			}
		}
		return out
	}
}

// loginGate is that of a plugin that authenticates. With an anonymous consumer it refuses nobody.
func loginGate(p *pluginInput, g protect.Gate) []protect.Gate {
	conf, _ := p.Value("plugins", p.name).(map[string]any)
	return []protect.Gate{p.completed(g, p.name, conf, p.field())}
}

// multiGate is one of the alternatives of multi-auth.
func multiGate(p *pluginInput, g protect.Gate) []protect.Gate {
	entry, _ := p.Value(p.Path...).(map[string]any)
	var out []protect.Gate
	for _, name := range slices.Sorted(maps.Keys(entry)) {
		one := g
		one.Method = methodOf(name)
		conf, _ := entry[name].(map[string]any)
		out = append(out, p.completed(one, name, conf, p.field("auth_plugins", name)))
	}
	return out
}

// completed tells where a plugin looks for the credential and whether it asks for one.
func (p *pluginInput) completed(g protect.Gate, plugin string, conf map[string]any, field string) protect.Gate {
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
		g.Reads = []string{"header " + text("header", "authorization"), "query " + text("query", "jwt"), "cookie " + text("cookie", "jwt")}
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
			g.Weaken(gate.MissingAllowed, field+".unauth_action")
		}
	}
	if anonymous := text("anonymous_consumer", ""); anonymous != "" {
		code := gate.AnonymousAllowed
		if p.isRestricted(anonymous) {
			code = gate.Consumer
		}
		g.Weaken(code, field+".anonymous_consumer")
		g.Answers, g.Missing, g.Refuses = nil, nil, protect.Never
	}
	return g
}

// isRestricted reports whether plugins decide what a consumer may do: those of its own, or one that lists consumers.
func (p *pluginInput) isRestricted(consumer string) bool {
	if len(p.List("plugins", "consumer-restriction", "whitelist"))+len(p.List("plugins", "consumer-restriction", "blacklist")) > 0 {
		return true
	}
	for _, o := range p.Snapshot().Of(model.GroupKind{Group: group, Kind: "Consumer"}) {
		full := strings.ReplaceAll(o.Ref.Namespace+"_"+o.Ref.Name, "-", "_")
		if (o.Ref.Name == consumer || full == strings.ReplaceAll(consumer, "-", "_")) && o.Body.At("spec", "plugins").Len() > 0 {
			return true
		}
	}
	return false
}

// addressGate is that of lists of addresses.
func addressGate(p *pluginInput, g protect.Gate) []protect.Gate {
	allow, deny := p.List("plugins", p.name, "whitelist"), p.List("plugins", p.name, "blacklist")
	if len(deny) == 0 && (len(allow) == 0 || protect.CoversAll(allow)) {
		g.Weaken(gate.AnyAddress, g.Field)
	}
	return []protect.Gate{g}
}

// limitGate is that of a limit of requests. Without a store each replica counts for itself.
func limitGate(p *pluginInput, g protect.Gate) []protect.Gate {
	c := protect.Counter{Scope: "rule", Key: []string{"remote_addr"}, Replicas: "each"}
	if key := p.text("key"); key != "" {
		c.Key = []string{key}
	}
	if policy := p.text("policy"); policy != "" && policy != "local" {
		c.Replicas = "all"
	}
	switch p.name {
	case "limit-count":
		c.Limit = p.Value("plugins", p.name, "count")
		if window := p.text("time_window"); window != "" {
			c.Per = window + "s"
		}
		if p.text("group") != "" {
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

// originGate is that of the origins that browsers may read answers for: all, if none is listed.
func originGate(p *pluginInput, g protect.Gate) []protect.Gate {
	g.Refuses = protect.Never
	if len(p.List("plugins", p.name, "allow_origins_by_regex")) > 0 && p.text("allow_origins") == "" {
		return []protect.Gate{g}
	}
	if all := p.text("allow_origins"); all == "" || all == "*" || all == "**" {
		g.Weaken(gate.AnyOrigin, g.Field)
	}
	return []protect.Gate{g}
}

// redirectGate sends plain requests to https: none of them gets through.
func redirectGate(p *pluginInput, g protect.Gate) []protect.Gate {
	if p.Look.Request.Secure {
		g.Answers, g.Refuses = nil, protect.Never
		return []protect.Gate{g}
	}
	g.Weaken(gate.DeniesAll, g.Field)
	g.Refuses = protect.Always
	return []protect.Gate{g}
}

// unreadGate is that of a plugin of which nothing is known: it may do anything.
func unreadGate(p *pluginInput, g protect.Gate) []protect.Gate {
	if slices.Contains(described(), p.name) || slices.Contains(harmless(), p.name) {
		return nil
	}
	return []protect.Gate{g}
}
