package kgateway

import (
	"net/netip"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// findEffects says what the vendor's policies and filters do to a request, beyond what gates tell.
func findEffects(r *resolve.Resolution, a *request.Answer) *ingress.Effects {
	e := ingress.NewEffects(r, a, "kgateway")
	if e == nil {
		return nil
	}
	if explainReplaced(r.Graph, a.Rule) != nil {
		e.Status = 500
		return e
	}
	traffic := model.GroupKind{Group: group, Kind: "TrafficPolicy"}
	e.AddOpenFilters(a.OpenFilters, func(ref model.Ref) bool {
		gk := ref.GroupKind()
		return (gk == traffic || gk == directKind) && r.Snapshot.Get(ref) != nil
	})
	for _, s := range protect.FindSettings(r, a, traffic) {
		addAccessList(e, s)
		addPathRewrite(e, s)
		addTrafficSettings(e, s)
	}
	for _, s := range protect.FindSettings(r, a, directKind) {
		addDirectResponse(e, s)
	}
	for _, s := range protect.FindSettings(r, a, model.GroupKind{Group: group, Kind: "ListenerPolicy"}) {
		addListenerEffects(e, s, a, "default.httpSettings.")
	}
	for _, s := range protect.FindSettings(r, a, model.GroupKind{Group: group, Kind: "HTTPListenerPolicy"}) {
		addListenerEffects(e, s, a, "")
	}
	for _, s := range protect.FindBackendSettings(r, a, backendKind) {
		e.AddSettings(s, []ingress.SettingField{{Name: "timeouts.connect", Path: "connectTimeout"},
			{Name: "affinity.hash", Path: "loadBalancer.ringHash.hashPolicies"},
			{Name: "affinity.hash", Path: "loadBalancer.maglev.hashPolicies"},
			{Name: "limits.circuitBreaker", Path: "circuitBreakers"}})
	}
	return e
}

// addAccessList adds an access list: the longest prefix that has an address decides, of equal ones
// the last.
func addAccessList(e *ingress.Effects, s *protect.Settings) {
	if s.Value("acl") == nil {
		return
	}
	list := ingress.AddressList{Allow: s.Text("acl", "defaultAction") != "deny"}
	for _, rule := range slices.Backward(s.List("acl", "rules")) {
		ranges, ok := ingress.ParseRanges(model.Texts(rule, "cidrs"))
		if !ok {
			e.AddUnknown(s.Source("acl"), "acl.rules.cidrs", "has a network that cannot be read")
			return
		}
		for _, one := range ranges {
			list.Rules = append(list.Rules, ingress.AddressRule{Allow: model.Text(rule, "action") != "deny",
				Ranges: []netip.Prefix{one}})
		}
	}
	slices.SortStableFunc(list.Rules, func(a, b ingress.AddressRule) int { return b.Ranges[0].Bits() - a.Ranges[0].Bits() })
	e.Lists = append(e.Lists, list)
	e.AddCover(s.Source("acl"), "acl")
}

// addPathRewrite adds a rewrite by an expression; that of the route itself is in the answer.
func addPathRewrite(e *ingress.Effects, s *protect.Settings) {
	if s.Value("urlRewrite", "pathRegex") == nil {
		return
	}
	rewrite, err := ingress.ReplaceMatches(s.Text("urlRewrite", "pathRegex", "pattern"),
		ingress.TranslateSubstitution(s.Text("urlRewrite", "pathRegex", "substitution")))
	if err != nil {
		e.AddUnknown(s.Source("urlRewrite"), "urlRewrite.pathRegex.pattern", "does not compile")
		return
	}
	e.AddRewrite(rewrite)
}

// addTrafficSettings adds the limit of bodies and the settings of a TrafficPolicy.
func addTrafficSettings(e *ingress.Effects, s *protect.Settings) {
	if text := s.Text("buffer", "maxRequestSize"); text != "" && s.Value("buffer", "disable") == nil {
		source := s.Source("buffer")
		if limit, err := resource.ParseQuantity(text); err == nil {
			e.LimitBody(limit.Value())
			e.AddCover(source, "buffer")
		} else {
			e.AddUnknown(source, "buffer.maxRequestSize", "cannot be read")
		}
		e.Settings = append(e.Settings, ingress.Setting{Name: "buffering.request", Value: "on", Source: source,
			Field: "buffer"})
	}
	e.AddSettings(s, []ingress.SettingField{{Name: "bodyLimit", Path: "buffer.maxRequestSize"},
		{Name: "timeouts.request", Path: "timeouts.request"}, {Name: "timeouts.streamIdle", Path: "timeouts.streamIdle"},
		{Name: "retries.attempts", Path: "retry.attempts"}, {Name: "retries.on", Path: "retry.retryOn"},
		{Name: "retries.statuses", Path: "retry.statusCodes"}, {Name: "retries.perTry", Path: "retry.perTryTimeout"},
		{Name: "retries.backOff", Path: "retry.backoffBaseInterval"}, {Name: "limits.local", Path: "rateLimit.local"},
		{Name: "limits.global", Path: "rateLimit.global"}, {Name: "cors.origins", Path: "cors.allowOrigins"},
		{Name: "cors.methods", Path: "cors.allowMethods"}, {Name: "cors.headers", Path: "cors.allowHeaders"},
		{Name: "cors.exposeHeaders", Path: "cors.exposeHeaders"}, {Name: "cors.maxAge", Path: "cors.maxAge"},
		{Name: "cors.credentials", Path: "cors.allowCredentials"}})
	e.AddUnknownFields(s, []ingress.UnknownField{{Path: "transformation.request", May: "may change requests"},
		{Path: "csrf", May: "may refuse requests from other origins"},
		{Path: "internalRedirect", May: "follows redirects of backends"},
		{Path: "autoHostRewrite", May: "sends backends another host"}})
	if s.Value("faultInjection", "disable") == nil {
		e.AddUnknownFields(s, []ingress.UnknownField{{Path: "faultInjection.abort", May: "answers requests itself"}})
	}
	if s.Value("extProc", "disable") == nil {
		e.AddUnknownFields(s, []ingress.UnknownField{{Path: "extProc", May: "may change or refuse requests"}})
	}
}

// addDirectResponse adds the answer of a DirectResponse.
func addDirectResponse(e *ingress.Effects, s *protect.Settings) {
	e.Status = 200
	if status, ok := s.Value("status").(int64); ok {
		e.Status = int(status)
	}
	e.AddCover(s.Source("status"), "")
}

// addListenerEffects adds those of a policy for listeners, whose settings for HTTP are below a field.
func addListenerEffects(e *ingress.Effects, s *protect.Settings, a *request.Answer, below string) {
	e.AddSettings(s, []ingress.SettingField{{Name: "timeouts.clientStreamIdle", Path: below + "streamIdleTimeout"},
		{Name: "timeouts.idle", Path: below + "idleTimeout"}})
	e.AddUnknownFields(s, []ingress.UnknownField{
		{Path: below + "earlyRequestHeaderModifier", May: "may change what rules and policies look at"},
		{Path: "perPort", May: "may take the place of other settings"}})
	if len(e.Lists) > 0 {
		const decides = "decides which address lists see"
		e.AddUnknownFields(s, []ingress.UnknownField{{Path: below + "useRemoteAddress", May: decides},
			{Path: below + "xffNumTrustedHops", May: decides}, {Path: below + "xffTrustedCIDRs", May: decides}})
	}
	if s.Text(strings.Split(below+"healthCheck.path", ".")...) == a.Request.Path {
		e.AddUnknownFields(s, []ingress.UnknownField{{Path: below + "healthCheck.path",
			May: "answers requests for that path"}})
	}
}
