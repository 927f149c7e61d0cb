package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/envoyproxy/gateway/internal/gatewayapi/resource"
	"github.com/envoyproxy/gateway/internal/ir"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// settings notes what listeners and routes are told to do. names are those of the policies.
func (f facts) settings(proxies resource.XdsIRMap, names []string) error {
	n := notes{f, names, nil}
	for _, proxy := range proxies {
		for _, l := range proxy.HTTP {
			for _, r := range l.Routes {
				n.route(l.Name, r)
			}
			listener := *l
			listener.Routes, listener.Metadata, listener.TLS = nil, nil, said(l.TLS)
			n.note("client "+l.Name, listener)
		}
		for _, l := range proxy.TCP {
			for _, r := range l.Routes {
				route := *r
				route.Metadata, route.Destination = nil, unmarked(r.Destination)
				if r.TLS != nil {
					route.TLS = &ir.TLS{TLSInspectorConfig: r.TLS.TLSInspectorConfig, Terminate: said(r.TLS.Terminate)}
				}
				n.facts["path.tcp "+l.Name+" "+r.Name] = "open"
				n.note(fmt.Sprintf("tcp %s %s", l.Name, r.Name), route)
			}
			listener := *l
			listener.Routes, listener.Metadata, listener.TLS = nil, nil, said(l.TLS)
			if l.Timeout != nil {
				listener.Timeout = &ir.ClientTimeout{TCP: l.Timeout.TCP} // the proxy is told nothing of the rest
			}
			n.note("client "+l.Name, listener)
		}
		for _, l := range proxy.UDP {
			if l.Route != nil {
				n.facts["path.udp "+l.Name+" "+l.Route.Name] = "open"
				route := *l.Route
				route.Destination = unmarked(route.Destination)
				n.note(fmt.Sprintf("udp %s %s", l.Name, route.Name), route)
			}
		}
	}
	return n.failed
}

// said is what a listener is told about TLS without the versions that the proxy takes by itself: the controller writes them as soon as there is
// any policy for the listener.
func said(tls *ir.TLSConfig) *ir.TLSConfig {
	if tls == nil || tls.MinVersion == nil || tls.MaxVersion == nil || *tls.MinVersion != ir.TLSv12 || *tls.MaxVersion != ir.TLSv13 {
		return tls
	}
	out := *tls
	out.MinVersion, out.MaxVersion = nil, nil
	return &out
}

// notes are facts in the making.
type notes struct {
	facts
	policies []string
	failed   error
}

// route notes each part of a route by itself, so that a difference says which it is in.
func (n *notes) route(listener string, r *ir.HTTPRoute) {
	rest := *r
	rest.Traffic, rest.Security, rest.EnvoyExtensions, rest.Metadata = nil, nil, nil, nil
	rest.Destination = unmarked(r.Destination)
	where := listener + " " + r.Name
	rule, _, _ := strings.Cut(r.Name, "/match/")
	n.facts["path "+listener+" "+rule] = "open"
	n.note("route "+where, rest)
	n.note("traffic "+where, inUse(r))
	n.note("security "+where, r.Security)
	n.note("extensions "+where, r.EnvoyExtensions)
}

// inUse are the settings of a route without the request timeout that the route's own replaces when the proxy is told.
func inUse(r *ir.HTTPRoute) *ir.TrafficFeatures {
	if r.Timeout == nil || r.Traffic == nil || r.Traffic.Timeout == nil || r.Traffic.Timeout.HTTP == nil {
		return r.Traffic
	}
	out := r.Traffic.DeepCopy()
	out.Timeout.HTTP.RequestTimeout = nil
	return out
}

// unmarked is a destination without the name of the object that it is of, which is a copy's where policies are written back.
func unmarked(d *ir.RouteDestination) *ir.RouteDestination {
	if d == nil {
		return nil
	}
	out := *d
	out.Metadata = nil
	return &out
}

// numberedRule is the name of a rule of a rate limit, which has the number that it has in its policy.
var numberedRule = regexp.MustCompile(`policy/rule/\d+`)

// policyMetadata says which policy a destination is for.
var policyMetadata = regexp.MustCompile(`,"metadata":\{"kind":"(SecurityPolicy|EnvoyExtensionPolicy)"[^{}]*\}`)

// authorityName is the name under which the proxy gets the certificates of authorities of a BackendTLSPolicy.
var authorityName = regexp.MustCompile(`"name":"[^"/]+/[^"/]+-ca"`)

// note notes a setting. Names that derive from those of policies are the same for all policies.
func (n *notes) note(key string, value any) {
	text, err := json.Marshal(value)
	if err != nil {
		n.failed = err
		return
	}
	said := string(text)
	for _, name := range n.policies {
		said = strings.ReplaceAll(said, name, "policy")
	}
	said = policyMetadata.ReplaceAllString(said, "")
	said = authorityName.ReplaceAllString(said, `"name":"authorities"`)
	n.facts[key] = numberedRule.ReplaceAllString(said, "policy/rule")
}

// policyNames are the namespaces and names of policies, the longest first.
func policyNames(r *resource.Resources) []string {
	var out []string
	note := func(o client.Object) { out = append(out, o.GetNamespace()+"/"+o.GetName()) }
	for _, p := range r.ClientTrafficPolicies {
		note(p)
	}
	for _, p := range r.BackendTrafficPolicies {
		note(p)
	}
	for _, p := range r.SecurityPolicies {
		note(p)
	}
	for _, p := range r.EnvoyExtensionPolicies {
		note(p)
	}
	slices.SortFunc(out, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	return out
}
