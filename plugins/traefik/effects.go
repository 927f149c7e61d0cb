package traefik

import (
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// findEffects says what the Middlewares that filters of the rule name do to a request, beyond what
// gates tell.
func findEffects(r *resolve.Resolution, a *request.Answer) *ingress.Effects {
	e := ingress.NewEffects(r, a, "traefik")
	if e == nil {
		return nil
	}
	w := effectWalk{Effects: e, in: r.Snapshot, request: &a.Request}
	for _, f := range a.RuleFilters(r.Graph) {
		if w.ended || f.Text("type") == "RequestRedirect" { // what comes later is not asked
			break
		}
		switch f.Text("type") {
		case "ExtensionRef":
			to := f.Field("extensionRef")
			w.addFilter(model.Ref{Group: to.Text("group"), Kind: to.Text("kind"),
				Namespace: r.Node(a.Rule).Object.Ref.Namespace, Name: to.Text("name")})
		case "URLRewrite":
			if e.Rewrite != nil && f.Field("urlRewrite").Has("path") {
				e.AddUnknown(r.Node(a.Rule).Object.Ref, "a filter URLRewrite", "rewrites what Middlewares have rewritten")
			}
		}
	}
	e.AddOpenFilters(slices.DeleteFunc(slices.Clone(a.OpenFilters), func(f request.OpenFilter) bool {
		return f.Type == "ExtensionRef" // said by the walk, as far as it came
	}), nil)
	return e
}

// effectWalk goes through the Middlewares of a rule in their order.
type effectWalk struct {
	*ingress.Effects
	in      *model.Snapshot
	request *request.Request
	parts   int
	guarded bool            // one that may refuse requests came before
	ended   bool            // the request gets no further: it is redirected
	open    *middlewarePart // a redirect of some requests that came before
}

// addFilter adds what an ExtensionRef does.
func (w *effectWalk) addFilter(ref model.Ref) {
	if ref.GroupKind() != middlewareKind {
		w.AddOpenFilters([]request.OpenFilter{{Type: "ExtensionRef", Ref: ref}}, func(model.Ref) bool { return false })
		return
	}
	w.addMiddleware(ref, nil)
}

// addMiddleware adds what a Middleware does; above are the chains that it is part of.
func (w *effectWalk) addMiddleware(ref model.Ref, above []model.Ref) {
	if w.ended || slices.Contains(above, ref) {
		return
	}
	o := w.in.Get(ref)
	if w.parts++; o == nil || w.parts > maxParts {
		w.AddOpenFilters([]request.OpenFilter{{Type: "ExtensionRef", Ref: ref}}, func(model.Ref) bool { return false })
		return
	}
	for field, body := range o.Body.Field("spec").Fields {
		w.addPart(middlewarePart{o.Ref, field, body}, above)
	}
}

// middlewarePart is what one field of a Middleware does.
type middlewarePart struct {
	ref   model.Ref
	field string
	body  model.Body
}

// Value and Source make a part what settings are read from.
func (p middlewarePart) Value(path ...string) any {
	if path[0] != p.field || p.body.At(path[1:]...).IsNull() {
		return nil
	}
	return p.body.Get(path[1:]...)
}

func (p middlewarePart) Source(...string) model.Ref { return p.ref }

// addPart adds what one part does.
func (w *effectWalk) addPart(p middlewarePart, above []model.Ref) {
	switch p.field {
	case "chain":
		for _, one := range p.body.Field("middlewares").Items {
			next := model.Ref{Group: p.ref.Group, Kind: p.ref.Kind, Namespace: one.Text("namespace"), Name: one.Text("name")}
			if next.Namespace == "" {
				next.Namespace = p.ref.Namespace
			}
			w.addMiddleware(next, append(slices.Clone(above), p.ref))
		}
	case "ipAllowList", "ipWhiteList":
		w.addAddressList(p)
	case "redirectScheme", "redirectRegex":
		w.addRedirect(p)
	case "stripPrefix", "stripPrefixRegex", "addPrefix", "replacePath", "replacePathRegex":
		w.addPathRewrite(p)
	case "buffering":
		if limit, ok := p.body.Get("maxRequestBodyBytes").(int64); ok && limit > 0 {
			w.LimitBody(limit)
			w.AddCover(p.ref, "buffering.maxRequestBodyBytes")
		}
		w.addGuard()
	case "basicAuth", "digestAuth", "forwardAuth", "rateLimit", "inFlightReq", "circuitBreaker":
		w.addGuard()
	case "headers":
		w.addHeaders(p)
	case "compress", "contentType", "passTLSClientCert", "grpcWeb", "retry":
	default:
		w.AddUnknown(p.ref, p.field, "may change or refuse requests")
		w.addGuard()
	}
	w.AddSettings(p, settingFields())
}

// addGuard notes that a part may refuse requests. Whether it is asked may depend on a redirect.
func (w *effectWalk) addGuard() {
	w.guarded = true
	if w.open != nil {
		w.AddUnknown(w.open.ref, w.open.field, "may redirect requests before others refuse them")
		w.open = nil
	}
}

// settingFields are the fields of Middlewares that are settings.
func settingFields() []ingress.SettingField {
	return []ingress.SettingField{{Name: "bodyLimit", Path: "buffering.maxRequestBodyBytes"},
		{Name: "buffering.maxResponse", Path: "buffering.maxResponseBodyBytes"},
		{Name: "buffering.size", Path: "buffering.memRequestBodyBytes"},
		{Name: "retries.attempts", Path: "retry.attempts"}, {Name: "retries.backOff", Path: "retry.initialInterval"},
		{Name: "retries.statuses", Path: "retry.status"}, {Name: "retries.timeout", Path: "retry.timeout"},
		{Name: "limits.rate", Path: "rateLimit.average"}, {Name: "limits.period", Path: "rateLimit.period"},
		{Name: "limits.burst", Path: "rateLimit.burst"}, {Name: "limits.key", Path: "rateLimit.sourceCriterion"},
		{Name: "limits.concurrent", Path: "inFlightReq.amount"},
		{Name: "limits.concurrentKey", Path: "inFlightReq.sourceCriterion"},
		{Name: "limits.circuitBreaker", Path: "circuitBreaker.expression"},
		{Name: "cors.origins", Path: "headers.accessControlAllowOriginList"},
		{Name: "cors.originExpressions", Path: "headers.accessControlAllowOriginListRegex"},
		{Name: "cors.methods", Path: "headers.accessControlAllowMethods"},
		{Name: "cors.headers", Path: "headers.accessControlAllowHeaders"},
		{Name: "cors.exposeHeaders", Path: "headers.accessControlExposeHeaders"},
		{Name: "cors.maxAge", Path: "headers.accessControlMaxAge"},
		{Name: "cors.credentials", Path: "headers.accessControlAllowCredentials"}}
}

// addAddressList adds a list of the addresses that may pass.
func (w *effectWalk) addAddressList(p middlewarePart) {
	w.addGuard()
	if strategy := p.body.Field("ipStrategy"); strategy.Len() > 0 {
		w.AddUnknown(p.ref, p.field+".ipStrategy", "decides which address the list sees")
		return
	}
	ranges, ok := ingress.ParseRanges(model.Texts(p.body.Get("sourceRange")))
	if !ok || len(ranges) == 0 {
		w.AddUnknown(p.ref, p.field+".sourceRange", "has no networks, or one that cannot be read")
		return
	}
	w.Lists = append(w.Lists, ingress.AddressList{Rules: []ingress.AddressRule{{Allow: true, Ranges: ranges}}})
	w.AddCover(p.ref, p.field)
}

// addHeaders says what of the headers may answer a request or change where it goes.
func (w *effectWalk) addHeaders(p middlewarePart) {
	w.AddUnknownFields(p, []ingress.UnknownField{{Path: "headers.allowedHosts", May: "may refuse requests"},
		{Path: "headers.sslRedirect", May: "may redirect requests"}, {Path: "headers.sslHost", May: "may redirect requests"},
		{Path: "headers.sslForceHost", May: "may redirect requests"}})
	for name := range p.body.Field("customRequestHeaders").Fields {
		if strings.EqualFold(name, "Host") {
			w.AddUnknown(p.ref, "headers.customRequestHeaders."+name, "sends backends another host")
		}
	}
}
