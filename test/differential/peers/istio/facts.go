package main

import (
	"encoding/json"
	"fmt"
	"sort"
	"strconv"
	"strings"

	rbacpb "github.com/envoyproxy/go-control-plane/envoy/config/rbac/v3"
	rbachttp "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/http/rbac/v3"
	hcm "github.com/envoyproxy/go-control-plane/envoy/extensions/filters/network/http_connection_manager/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pilot/pkg/networking"
	"istio.io/istio/pilot/pkg/networking/plugin/authz"
	"istio.io/istio/pilot/pkg/security/authn"
)

// facts are what the control plane makes of the policies: a value by what it is about.
type facts map[string]string

// note notes a fact as JSON.
func (f facts) note(key string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		panic(err)
	}
	f[key] = string(text)
}

// facts asks about every target, and about the Namespaces.
func (w *world) facts(objects []manifest) facts {
	out := facts{}
	w.destinations(out, objects)
	w.points(out, objects)
	for _, t := range w.targets(objects) {
		w.modes(out, t)
		if t.tunneled {
			w.tunnel(out, t)
			continue
		}
		w.authorization(out, t)
		w.tokens(out, t)
		w.tracing(out, t)
		w.measured(out, t)
		w.configured(out, t)
		w.patched(out, t)
		w.extended(out, t)
	}
	for _, o := range objects {
		if o.kind() != "Namespace" {
			continue
		}
		if mode := w.push.AuthnPolicies.GetNamespaceMutualTLSMode(o.name()); mode != model.MTLSUnknown {
			out.note("mtls Namespace "+o.name(), map[string]any{"mode": mode.String()})
		}
	}
	for name, condition := range w.conditions {
		out.note("status AuthorizationPolicy "+name, condition)
	}
	return out
}

// class is that of the listeners at which a proxy asks about requests.
func (t target) class() networking.ListenerClass {
	if t.proxy.Type == model.Router {
		return networking.ListenerClassGateway
	}
	return networking.ListenerClassSidecarInbound
}

// authorization notes the policies of each action in their order, and the names of the rules in each list.
func (w *world) authorization(out facts, t target) {
	matcher := model.PolicyMatcherForProxy(t.proxy).WithService(t.service).WithRootNamespace(w.push.AuthzPolicies.RootNamespace)
	policies := w.push.AuthzPolicies.ListAuthorizationPolicies(matcher)
	orders := map[string][]string{}
	for action, list := range map[string][]model.AuthorizationPolicy{"CUSTOM": policies.Custom, "AUDIT": policies.Audit, "DENY": policies.Deny, "ALLOW": policies.Allow} {
		for _, p := range list {
			order := action
			if tried, _ := strconv.ParseBool(p.Annotations["istio.io/dry-run"]); tried {
				order = "shadow-" + action
			}
			orders[order] = append(orders[order], p.Namespace+"/"+p.Name)
		}
	}
	for order, names := range orders {
		out.note("order "+t.key+" "+order, names)
	}
	lists := map[string][]string{}
	for _, kind := range []authz.ActionType{authz.Local, authz.Custom} {
		for _, filter := range authz.NewBuilderForService(kind, w.push, t.proxy, false, t.service).BuildHTTP(t.class()) {
			listed(lists, kind, filter)
		}
	}
	for list, names := range lists {
		sort.Strings(names)
		out.note("rules "+t.key+" "+list, names)
	}
}

// listed adds the rules of a filter to the list in which they are.
func listed(lists map[string][]string, kind authz.ActionType, filter *hcm.HttpFilter) {
	rbac := &rbachttp.RBAC{}
	if !filter.GetTypedConfig().MessageIs(rbac) {
		return
	}
	if err := filter.GetTypedConfig().UnmarshalTo(rbac); err != nil {
		panic(err)
	}
	add := func(list string, rules *rbacpb.RBAC) {
		for name := range rules.GetPolicies() {
			if i := strings.Index(name, "ns["); i > 0 { // the provider stands in front
				name = name[i:]
			}
			lists[list] = append(lists[list], strings.TrimSuffix(name, "-deny-due-to-bad-CUSTOM-action"))
		}
	}
	actions := map[rbacpb.RBAC_Action]string{rbacpb.RBAC_ALLOW: "ALLOW", rbacpb.RBAC_DENY: "DENY", rbacpb.RBAC_LOG: "AUDIT"}
	switch {
	case kind == authz.Local:
		add(actions[rbac.GetRules().GetAction()], rbac.GetRules())
		add("shadow-"+actions[rbac.GetShadowRules().GetAction()], rbac.GetShadowRules())
	case rbac.GetShadowRules() == nil: // nobody can be asked
		add("DENY", rbac.GetRules())
	default: // what the provider is asked about is said by rules in the shadow
		add("CUSTOM", rbac.GetShadowRules())
		add("shadow-CUSTOM", rbac.GetRules())
	}
}

// tokens notes the filter for tokens.
func (w *world) tokens(out facts, t target) {
	if filter := authn.NewPolicyApplier(w.push, t.proxy, t.service).JwtFilter(false); filter != nil {
		out["jwt "+t.key] = text(filter.GetTypedConfig())
	}
}

// modes notes the modes of a workload.
func (w *world) modes(out facts, t target) {
	if t.proxy.Type != model.SidecarProxy {
		return
	}
	applier := authn.NewPolicyApplier(w.push, t.proxy, t.service)
	ports := map[string]string{}
	for port, mode := range applier.PortLevelSetting() {
		ports[fmt.Sprint(port)] = mode.String()
	}
	out.note("mtls "+t.key, map[string]any{"mode": applier.GetMutualTLSModeForPort(0).String(), "ports": ports})
}

// text is a message as JSON.
func text(m proto.Message) string {
	out, err := protojson.Marshal(m)
	if err != nil {
		panic(err)
	}
	return string(out)
}

// classes are those of listeners by the end at which a proxy measures there.
var classes = map[string]networking.ListenerClass{"CLIENT": networking.ListenerClassSidecarOutbound, "SERVER": networking.ListenerClassSidecarInbound}

// tracing notes what both ends send.
func (w *world) tracing(out facts, t target) {
	c := w.push.Telemetry.Tracing(t.proxy, t.service)
	if c == nil {
		return
	}
	for mode, s := range map[string]model.TracingSpec{"CLIENT": c.ClientSpec, "SERVER": c.ServerSpec} {
		tags := map[string]string{}
		for name, tag := range s.CustomTags {
			tags[name] = text(tag)
		}
		if s.Disabled && s.Provider == nil { // no more is said then
			out.note("tracing "+t.key+" "+mode, map[string]any{"disabled": true})
			continue
		}
		out.note("tracing "+t.key+" "+mode, map[string]any{"provider": s.Provider.GetName(), "disabled": s.Disabled, "sampling": s.RandomSamplingPercentage, "tags": tags,
			"requestID": s.UseRequestIDForTraceSampling, "istioTags": s.EnableIstioTags, "noContext": s.DisableContextPropagation})
	}
}

// measured notes the filters for metrics and the access logs of both ends. Istio keeps what it has computed by the last Telemetry that selects a
// proxy, so that of two proxies that share this one, and no others, the second gets what was computed for the first. Each target is asked about
// afresh here.
func (w *world) measured(out facts, t target) {
	push := model.NewPushContext()
	push.InitContext(w.server.Env(), nil, nil)
	for mode, class := range classes {
		var filters []json.RawMessage
		for _, filter := range push.Telemetry.HTTPFilters(t.proxy, class, t.service) {
			filters = append(filters, json.RawMessage(text(filter.GetTypedConfig())))
		}
		out.note("metrics "+t.key+" "+mode, filters)
		var logs []string // a provider has several where its name is written in several ways
		for _, l := range push.Telemetry.AccessLogging(push, t.proxy, class, t.service) {
			logs = append(logs, fmt.Sprintf("%s disabled=%t %s", l.Provider.Name, l.Disabled, l.Filter.GetExpression()))
		}
		sort.Strings(logs)
		out.note("logs "+t.key+" "+mode, logs)
	}
}

// configured notes what the proxies of a workload or a Gateway are started with.
func (w *world) configured(out facts, t target) {
	if t.service != nil {
		return
	}
	c := w.push.ProxyConfigs.EffectiveProxyConfig(t.proxy.Metadata, w.push.Mesh)
	fact := map[string]any{"environmentVariables": c.GetProxyMetadata(), "image": map[string]any{}}
	if c.GetImage() != nil {
		fact["image"] = map[string]any{"imageType": c.GetImage().GetImageType()}
	}
	if c.GetConcurrency() != nil {
		fact["concurrency"] = c.GetConcurrency().GetValue()
	}
	out.note("proxyconfig "+t.key, fact)
}

// patched notes the patches of each sort in their order, by the names of what they patch in.
func (w *world) patched(out facts, t target) {
	if t.service != nil {
		return
	}
	filters := w.push.EnvoyFilters(t.proxy)
	if filters == nil {
		return
	}
	for sort, patches := range filters.Patches {
		var names []string
		for _, p := range patches {
			named, _ := p.Value.(interface{ GetName() string })
			names = append(names, p.FullName+" "+named.GetName())
		}
		out.note("patches "+t.key+" "+sort.String(), names)
	}
}

// extended notes the extensions of each phase and kind in their order: all that may be in HTTP chains, and those at a listener for TCP.
func (w *world) extended(out facts, t target) {
	ask := func(what string, info model.ListenerInfo, chain model.FilterChainType) {
		lists := map[string][]string{}
		for phase, list := range w.push.TrafficExtensionsByListenerInfo(t.proxy, info.WithService(t.service), chain) {
			for _, e := range list {
				name, isPlugin := strings.CutSuffix(e.Name, translated)
				kind := map[bool]string{true: "WasmPlugin", false: "TrafficExtension"}[isPlugin]
				list := kind + " " + strings.Replace(phase.String(), "UNSPECIFIED", "UNSPECIFIED_PHASE", 1) // as WasmPlugins call it
				lists[list] = append(lists[list], e.Namespace+"/"+name)
			}
		}
		for list, names := range lists {
			out.note(what+" "+t.key+" "+list, names)
		}
	}
	ask("extensions", model.ListenerInfo{}, model.FilterChainTypeHTTP)
	ask("listener", model.ListenerInfo{Port: 80, Class: networking.ListenerClassSidecarInbound}, model.FilterChainTypeNetwork)
}
