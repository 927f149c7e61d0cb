package envoygateway

import (
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// filterKind is the vendor's own kind of filters.
var filterKind = model.GroupKind{Group: policyGroup, Kind: "HTTPRouteFilter"}

// ruleFlaw is why a rule is refused, or what of its filters is not found. Both may be.
type ruleFlaw struct {
	refused    string // the reason of Accepted; "": it is not
	why        string
	unresolved string // the reason of ResolvedRefs; "": nothing
	what       string
}

// judgeRule finds out what the controller holds against a rule of an HTTPRoute or GRPCRoute. What
// stands behind the first bad filter, or one that answers, is not looked at. A mirror counts if
// copies reaches what it names; nil: all do.
func judgeRule(in *model.Snapshot, route model.Ref, rule model.Body, copies func(model.Body) bool) ruleFlaw {
	var f ruleFlaw
	mirrors, redirects := false, false
	answer := model.Body{}
	for _, filter := range rule.Field("filters").Items {
		if !answer.IsNull() {
			break
		}
		kind := filter.Text("type")
		switch {
		case kind == "ExtensionRef":
			ref := filter.Field("extensionRef")
			if to := (model.GroupKind{Group: ref.Text("group"), Kind: ref.Text("kind")}); to != filterKind {
				f.refuse("UnsupportedValue", fmt.Sprintf("invalid filter ExtensionRef: unknown kind %s/%s", to.Group, to.Kind))
			} else if in.FindExistence(model.Ref{Group: to.Group, Kind: to.Kind, Namespace: route.Namespace,
				Name: ref.Text("name")}).IsAbsent() {
				f.unresolved = "UnsupportedValue"
				f.what = "unable to translate HTTPRouteFilter: " + route.Namespace + "/" + ref.Text("name")
				return f
			} else if o := in.Get(model.Ref{Group: to.Group, Kind: to.Kind, Namespace: route.Namespace,
				Name: ref.Text("name")}); o != nil {
				answer = o.Body.At("spec", "directResponse")
			}
		case !slices.Contains(supportedFilters(route.Kind), kind):
			f.refuse("UnsupportedValue", "invalid filter "+kind+": unsupported filter type "+kind)
		}
		if f.refused != "" {
			return f
		}
		mirrors = mirrors || kind == "RequestMirror" && (copies == nil || copies(filter.At("requestMirror", "backendRef")))
		if redirect := filter.Field("requestRedirect"); kind == "RequestRedirect" {
			redirects = true
			if code := redirect.Field("statusCode"); !code.IsNull() && code.Value() != int64(301) && code.Value() != int64(302) {
				f.refuse("UnsupportedValue", fmt.Sprintf("status code %v is invalid, only 302 and 301 are supported", code.Value()))
				redirects = false
			}
		}
	}
	switch code, _ := answer.Field("statusCode").Value().(int64); {
	case mirrors && !answer.IsNull():
		f.refuse("IncompatibleFilters",
			"RequestMirror filter cannot be used when the rule also configures a DirectResponse filter")
	case mirrors && redirects:
		f.refuse("IncompatibleFilters",
			"RequestMirror filter cannot be used when the rule also configures a RequestRedirect filter")
	case route.Kind == "GRPCRoute" && !answer.IsNull() && code >= 200 && code < 300:
		f.refuse("UnsupportedValue", "DirectResponse with a 2xx status code is not supported for GRPCRoute")
	}
	if _, ok := readMatches(rule, route.Kind == "GRPCRoute"); !ok {
		f.refuse("UnsupportedValue", "a regular expression of a match does not compile")
	}
	return f
}

// listMirrors lists what the filters of a rule copy requests to, up to the first one that the
// controller does not take or find: it looks at none behind that.
func listMirrors(in *model.Snapshot, route model.Ref, rule model.Body) []model.Body {
	var out []model.Body
	for _, filter := range rule.Field("filters").Items {
		kind := filter.Text("type")
		ref := filter.Field("extensionRef")
		to := model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: route.Namespace, Name: ref.Text("name")}
		own := kind == "ExtensionRef" && to.GroupKind() == filterKind
		switch {
		case own && !in.FindExistence(to).IsAbsent():
			if o := in.Get(to); o != nil && !o.Body.At("spec", "directResponse").IsNull() {
				return out
			}
		case own, !slices.Contains(supportedFilters(route.Kind), kind):
			return out
		case kind == "RequestMirror":
			out = append(out, filter.At("requestMirror", "backendRef"))
		}
	}
	return out
}

func (f *ruleFlaw) refuse(reason, why string) {
	if f.refused == "" {
		f.refused, f.why = reason, why
	}
}

// isRefusedWhole reports whether every rule of a route is refused.
func isRefusedWhole(in *model.Snapshot, o *model.Object) bool {
	rules, refused := 0, 0
	for _, rule := range o.Body.At("spec", "rules").Items {
		rules++
		if judgeRule(in, o.Ref, rule, nil).refused != "" {
			refused++
		}
	}
	return rules > 0 && rules == refused
}

// supportedFilters are the types of filters that the controller knows, beside its own.
func supportedFilters(route string) []string {
	out := []string{"RequestMirror", "RequestHeaderModifier", "ResponseHeaderModifier"}
	if route == "HTTPRoute" {
		out = append(out, "URLRewrite", "RequestRedirect", "CORS")
	}
	return out
}

// explainBackendFilters says which filter of a backendRef the controller does not take, "" if it
// takes all.
func explainBackendFilters(route string, ref model.Body) string {
	for _, filter := range ref.Field("filters").Items {
		switch kind := filter.Text("type"); {
		case kind == "RequestHeaderModifier", kind == "ResponseHeaderModifier":
		case route == "HTTPRoute" && kind == "URLRewrite" && !filter.Field("urlRewrite").Has("path"):
		case route == "HTTPRoute" && kind == "ExtensionRef" && filter.Text("extensionRef", "kind") == filterKind.Kind:
		default:
			return kind + " is not supported within a backendRef"
		}
	}
	return ""
}

// newFilterReader prepares what says of HTTPRouteFilters what they make of the path. Others than those
// that only do that, or that only add a credential, are left open.
func newFilterReader(in *model.Snapshot) topology.FilterReader {
	return func(filter model.Ref) (topology.FilterEffect, bool) {
		o := in.Get(filter)
		if filter.GroupKind() != filterKind || o == nil || in.HasNoValues() {
			return topology.FilterEffect{}, false
		}
		spec := o.Body.Field("spec")
		if spec.Has("matches") {
			return topology.FilterEffect{Restricts: true}, false
		}
		for name := range spec.Fields {
			if name != "urlRewrite" && name != "credentialInjection" {
				return topology.FilterEffect{}, false
			}
		}
		for name := range spec.Field("urlRewrite").Fields {
			if name != "path" && name != "appendXForwardedHost" {
				return topology.FilterEffect{}, false
			}
		}
		return readPathRewrite(spec.At("urlRewrite", "path", "replaceRegexMatch"))
	}
}

// readPathRewrite says what an expression makes of the path: it replaces all matches, with the groups
// of RE2 in the substitution.
func readPathRewrite(replace model.Body) (topology.FilterEffect, bool) {
	if replace.IsNull() {
		return topology.FilterEffect{}, true
	}
	rewrite, err := ingress.ReplaceMatches(replace.Text("pattern"),
		ingress.TranslateSubstitution(replace.Text("substitution")))
	if err != nil {
		return topology.FilterEffect{}, false
	}
	return topology.FilterEffect{Path: func(path string) string {
		out, _ := rewrite(path)
		return out
	}}, true
}
