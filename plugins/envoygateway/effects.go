package envoygateway

import (
	"net/netip"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// findEffects says what the vendor's policies and filters do to a request, beyond what gates tell.
func findEffects(r *resolve.Resolution, a *request.Answer) *ingress.Effects {
	e := ingress.NewEffects(r, a, "envoygateway")
	if e == nil {
		return nil
	}
	addFilterEffects(e, r, a)
	find := func(kind string) []*protect.Settings {
		return protect.FindSettings(r, a, model.GroupKind{Group: policyGroup, Kind: kind})
	}
	for _, s := range find("SecurityPolicy") {
		e.AddSettings(s, corsFields())
		addAuthorization(e, s, &protect.RequestReader{Request: &a.Request})
	}
	for _, s := range find("BackendTrafficPolicy") {
		addTrafficEffects(e, s)
	}
	for _, s := range find("ClientTrafficPolicy") {
		addClientEffects(e, s, a)
	}
	const changes = "may change or refuse requests"
	for _, s := range find("EnvoyExtensionPolicy") {
		e.AddUnknownFields(s, []ingress.UnknownField{{Path: "extProc", May: changes}, {Path: "wasm", May: changes},
			{Path: "lua", May: changes}, {Path: "dynamicModule", May: changes}})
	}
	addPatchEffects(e, r, a)
	return e
}

func corsFields() []ingress.SettingField {
	return []ingress.SettingField{{Name: "cors.origins", Path: "cors.allowOrigins"},
		{Name: "cors.methods", Path: "cors.allowMethods"}, {Name: "cors.headers", Path: "cors.allowHeaders"},
		{Name: "cors.exposeHeaders", Path: "cors.exposeHeaders"}, {Name: "cors.maxAge", Path: "cors.maxAge"},
		{Name: "cors.credentials", Path: "cors.allowCredentials"}}
}

// addAuthorization adds the rules of an authorization as a list of addresses, if nothing else decides
// about the request. Rules for other operations or other headers do not count for it.
func addAuthorization(e *ingress.Effects, s *protect.Settings, l *protect.RequestReader) {
	if s.Value("authorization") == nil {
		return
	}
	source := s.Source("authorization")
	list := ingress.AddressList{Allow: s.Text("authorization", "defaultAction") == "Allow"}
	for _, rule := range s.List("authorization", "rules") {
		principal := valueIn(rule, "principal")
		matches := matchesOperation(l, valueIn(rule, "operation"))
		for _, h := range listIn(principal, "headers") {
			matches = matchesValues(l, h) && matches
		}
		if !matches {
			continue
		}
		if field := findOpenCondition(rule); field != "" {
			e.AddUnknown(source, "authorization.rules."+field, "decides who is let in")
			return
		}
		ranges, ok := readAddresses(principal)
		if !ok {
			e.AddUnknown(source, "authorization.rules.principal.clientCIDRs", "has a network that cannot be read")
			return
		}
		list.Rules = append(list.Rules, ingress.AddressRule{Allow: textIn(rule, "action") != "Deny", Ranges: ranges})
	}
	e.Lists = append(e.Lists, list)
	e.AddCover(source, "authorization")
}

// findOpenCondition returns the condition of a rule that takes more than the request to judge.
func findOpenCondition(rule any) string {
	for _, field := range []string{"jwt", "clientIPGeoLocations"} {
		if valueIn(valueIn(rule, "principal"), field) != nil {
			return "principal." + field
		}
	}
	if cel := textIn(rule, "cel"); cel != "" && !protect.IsTrue(cel) {
		return "cel"
	}
	return ""
}

// readAddresses returns the addresses that a principal is for: all where it names none.
func readAddresses(principal any) ([]netip.Prefix, bool) {
	texts := model.Texts(principal, "clientCIDRs")
	if len(listIn(principal, "clientCIDRs")) == 0 {
		return ingress.AllAddresses(), true
	}
	return ingress.ParseRanges(texts)
}

// addTrafficEffects adds those of a BackendTrafficPolicy.
func addTrafficEffects(e *ingress.Effects, s *protect.Settings) {
	if text := s.Text("requestBuffer", "limit"); text != "" {
		source := s.Source("requestBuffer", "limit")
		if limit, err := resource.ParseQuantity(text); err == nil {
			e.LimitBody(limit.Value())
			e.AddCover(source, "requestBuffer.limit")
		} else {
			e.AddUnknown(source, "requestBuffer.limit", "cannot be read")
		}
		e.Settings = append(e.Settings, ingress.Setting{Name: "buffering.request", Value: "on", Source: source,
			Field: "requestBuffer"})
	}
	e.AddSettings(s, []ingress.SettingField{{Name: "bodyLimit", Path: "requestBuffer.limit"},
		{Name: "buffering.size", Path: "connection.bufferLimit"},
		{Name: "timeouts.request", Path: "timeout.http.requestTimeout"},
		{Name: "timeouts.connect", Path: "timeout.tcp.connectTimeout"},
		{Name: "timeouts.streamIdle", Path: "timeout.http.streamIdleTimeout"},
		{Name: "timeouts.connectionIdle", Path: "timeout.http.connectionIdleTimeout"},
		{Name: "timeouts.stream", Path: "timeout.http.maxStreamDuration"},
		{Name: "timeouts.connection", Path: "timeout.http.maxConnectionDuration"},
		{Name: "retries.attempts", Path: "retry.numRetries"}, {Name: "retries.on", Path: "retry.retryOn.triggers"},
		{Name: "retries.statuses", Path: "retry.retryOn.httpStatusCodes"},
		{Name: "retries.perTry", Path: "retry.perRetry.timeout"}, {Name: "retries.backOff", Path: "retry.perRetry.backOff"},
		{Name: "limits.circuitBreaker", Path: "circuitBreaker"}, {Name: "limits.bandwidth", Path: "bandwidthLimit"},
		{Name: "affinity.hash", Path: "loadBalancer.consistentHash.type"},
		{Name: "affinity.cookie", Path: "loadBalancer.consistentHash.cookie.name"},
		{Name: "affinity.header", Path: "loadBalancer.consistentHash.header.name"},
		{Name: "affinity.headers", Path: "loadBalancer.consistentHash.headers"},
		{Name: "affinity.query", Path: "loadBalancer.consistentHash.queryParams"}})
	limits := ingress.SettingField{Name: "limits.local", Path: "rateLimit.local"}
	if s.Text("rateLimit", "type") == "Global" {
		limits = ingress.SettingField{Name: "limits.global", Path: "rateLimit.global"}
	}
	e.AddSettings(s, []ingress.SettingField{limits})
	e.AddUnknownFields(s, []ingress.UnknownField{{Path: "faultInjection.abort", May: "answers requests itself"},
		{Path: "responseOverride", May: "may change answers, or make redirects of them"},
		{Path: "admissionControl", May: "may refuse requests"}})
}

// addClientEffects adds those of a ClientTrafficPolicy.
func addClientEffects(e *ingress.Effects, s *protect.Settings, a *request.Answer) {
	e.AddSettings(s, []ingress.SettingField{{Name: "timeouts.receive", Path: "timeout.http.requestReceivedTimeout"},
		{Name: "timeouts.clientHeader", Path: "timeout.http.requestHeadersReceivedTimeout"},
		{Name: "timeouts.idle", Path: "timeout.http.idleTimeout"},
		{Name: "timeouts.clientStreamIdle", Path: "timeout.http.streamIdleTimeout"},
		{Name: "buffering.clientSize", Path: "connection.bufferLimit"},
		{Name: "limits.connections", Path: "connection.connectionLimit.value"}})
	e.AddUnknownFields(s, []ingress.UnknownField{
		{Path: "headers.earlyRequestHeaders", May: "may change what rules and policies look at"}})
	if len(e.Lists) > 0 {
		e.AddUnknownFields(s, []ingress.UnknownField{{Path: "clientIPDetection", May: "decides which address lists see"}})
	}
	if s.Text("healthCheck", "path") == a.Request.Path {
		e.AddUnknownFields(s, []ingress.UnknownField{{Path: "healthCheck.path", May: "answers requests for that path"}})
	}
}

// addPatchEffects says that patches of the configuration are not evaluated.
func addPatchEffects(e *ingress.Effects, r *resolve.Resolution, a *request.Answer) {
	k := r.Kind(model.GroupKind{Group: policyGroup, Kind: "EnvoyPatchPolicy"})
	if k == nil || !k.IsInUse() || readPatchState(r) == patchesOff {
		return
	}
	for _, stack := range k.Contexts(a.Gateway) {
		v := k.Verdict(stack)
		for i := range v.Layers {
			if p := v.Layers[i].Policy; p.Fault == "" && v.Layers[i].Fault == "" && p.Builtin == "" {
				e.AddUnknown(p.Object.Ref, "jsonPatches", "may change anything")
			}
		}
	}
}

// addFilterEffects adds those of the filters that the answer leaves open. A HTTPRouteFilter that
// answers ends what is looked at.
func addFilterEffects(e *ingress.Effects, r *resolve.Resolution, a *request.Answer) {
	e.AddOpenFilters(a.OpenFilters, func(ref model.Ref) bool {
		return ref.GroupKind() == filterKind && r.Snapshot.Get(ref) != nil
	})
	for _, f := range a.OpenFilters {
		o := r.Snapshot.Get(f.Ref)
		if f.Ref.GroupKind() != filterKind || o == nil {
			continue
		}
		spec := o.Body.Field("spec")
		if spec.Has("matches") {
			e.AddUnknown(o.Ref, "matches", "restricts which requests the rule takes")
		}
		if spec.Field("urlRewrite").Has("path") {
			e.AddUnknown(o.Ref, "urlRewrite.path", "is not the only rewrite, or cannot be read")
		}
		if spec.Field("urlRewrite").Has("hostname") {
			e.AddUnknown(o.Ref, "urlRewrite.hostname", "sends backends another host")
		}
		if spec.Has("directResponse") {
			e.Status = 200
			if code, ok := spec.Get("directResponse", "statusCode").(int64); ok {
				e.Status = int(code)
			}
			e.AddCover(o.Ref, "directResponse")
			return
		}
	}
}

// buildDirectResponseGate answers all requests of a rule.
func buildDirectResponseGate(_ protect.Input, g protect.Gate) []protect.Gate {
	g.AddReason(gate.DeniesAll, g.Field)
	return []protect.Gate{g}
}
