package nginx

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// defaultBodySize is nginx's own limit of bodies.
const defaultBodySize = "1m"

// findEffects says what the vendor's policies and filters do to a request, beyond what gates tell.
func findEffects(r *resolve.Resolution, a *request.Answer) *ingress.Effects {
	e := ingress.NewEffects(r, a, "nginx")
	if e == nil {
		return nil
	}
	find := func(kind string) []*protect.Settings {
		return protect.FindSettings(r, a, model.GroupKind{Group: group, Kind: kind})
	}
	e.AddOpenFilters(a.OpenFilters, func(ref model.Ref) bool {
		return ref.Group == group && (ref.Kind == "AuthenticationFilter" || ref.Kind == "SnippetsFilter") &&
			r.Snapshot.Get(ref) != nil
	})
	for _, kind := range []string{"SnippetsFilter", "SnippetsPolicy"} {
		for _, s := range find(kind) {
			e.AddUnknownFields(s, []ingress.UnknownField{{Path: "snippets", May: "may do anything"}})
		}
	}
	for _, s := range find("WAFPolicy") {
		e.AddUnknown(s.Source(), "the rules", "may refuse requests")
	}
	for _, s := range find("PayloadProcessor") {
		e.AddUnknown(s.Source(), "the processor", "may change or refuse requests")
	}
	addBodySize(e, find("ClientSettingsPolicy"))
	addProxySettings(e, find("ProxySettingsPolicy"))
	for _, s := range find("RateLimitPolicy") {
		e.AddSettings(s, []ingress.SettingField{{Name: "limits.local", Path: "rateLimit.local.rules"},
			{Name: "limits.status", Path: "rateLimit.rejectCode"}, {Name: "limits.dryRun", Path: "rateLimit.dryRun"}})
	}
	for _, s := range protect.FindBackendSettings(r, a, model.GroupKind{Group: group, Kind: "UpstreamSettingsPolicy"}) {
		e.AddSettings(s, []ingress.SettingField{{Name: "affinity.method", Path: "loadBalancingMethod"},
			{Name: "affinity.hash", Path: "hashMethodKey"}})
	}
	return e
}

// addBodySize adds the limit of bodies: without a policy nginx has its own.
func addBodySize(e *ingress.Effects, found []*protect.Settings) {
	limit := ingress.Setting{Name: "bodyLimit", Value: defaultBodySize}
	for _, s := range found {
		if text := s.Text("body", "maxSize"); text != "" {
			limit.Value, limit.Source, limit.Field = text, s.Source("body", "maxSize"), "body.maxSize"
		}
		e.AddSettings(s, []ingress.SettingField{{Name: "timeouts.clientBody", Path: "body.timeout"}})
	}
	e.Settings = append(e.Settings, limit)
	bytes, ok := parseSize(limit.Value)
	if !ok {
		e.AddUnknown(limit.Source, limit.Field, "cannot be read")
		return
	}
	e.LimitBody(bytes)
	if limit.Field != "" {
		e.AddCover(limit.Source, limit.Field)
	}
}

// addProxySettings adds how nginx speaks to backends. What no policy sets has the defaults of nginx
// (https://nginx.org/en/docs/http/ngx_http_proxy_module.html).
func addProxySettings(e *ingress.Effects, found []*protect.Settings) {
	for _, d := range []struct{ name, path, value string }{{"timeouts.connect", "timeout.connect", "60s"},
		{"timeouts.read", "timeout.read", "60s"}, {"timeouts.send", "timeout.send", "60s"}} {
		before := len(e.Settings)
		for _, s := range found {
			e.AddSettings(s, []ingress.SettingField{{Name: d.name, Path: d.path}})
		}
		if len(e.Settings) == before {
			e.Settings = append(e.Settings, ingress.Setting{Name: d.name, Value: d.value})
		}
	}
	buffering := ingress.Setting{Name: "buffering.response", Value: "on"}
	for _, s := range found {
		if disabled := s.Text("buffering", "disable"); disabled != "" {
			buffering.Source, buffering.Field = s.Source("buffering", "disable"), "buffering.disable"
			if disabled == "true" {
				buffering.Value = "off"
			}
		}
	}
	e.Settings = append(e.Settings, buffering)
	for _, s := range found {
		e.AddSettings(s, []ingress.SettingField{{Name: "buffering.size", Path: "buffering.bufferSize"},
			{Name: "buffering.busy", Path: "buffering.busyBuffersSize"}})
		if number := s.Text("buffering", "buffers", "number"); number != "" {
			e.Settings = append(e.Settings, ingress.Setting{Name: "buffering.buffers",
				Value:  number + " " + s.Text("buffering", "buffers", "size"),
				Source: s.Source("buffering", "buffers"), Field: "buffering.buffers"})
		}
	}
}
