package kgateway

import (
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// gates complete what kinds.yaml says of how settings keep requests out.
func gates() protect.Functions {
	return protect.Functions{"kgateway.Provider": providerGates, "kgateway.APIKey": apiKeyGate, "kgateway.RBAC": rbacGate, "kgateway.ACL": aclGate,
		"kgateway.LocalLimit": localLimitGate, "kgateway.CSRF": csrfGate, "kgateway.Abort": abortGate, "kgateway.DirectResponse": directResponseGate,
		"kgateway.ClientCertificate": clientCertificateGate, "kgateway.BackendTLS": backendTLSGate}
}

// providerGates are those of a setting with a filter for each GatewayExtension. All of them run;
// the mode is in the extension.
func providerGates(in protect.Input, g protect.Gate) []protect.Gate {
	var out []protect.Gate
	all := namedProviders(in.Value(in.Path...))
	for _, value := range all {
		one := g
		if len(all) > 1 {
			one.Object = writerOf(in, value)
			one.Group = in.GroupOf(g.Field + " " + string(g.Property) + " " + provider(value))
		}
		if disabled(value) {
			out = append(out, one)
			continue
		}
		if turnedOffOutside(in) {
			one.Weaken(gate.Condition, g.Field)
		}
		extension, found := extensionOf(in, value, &one)
		out = append(out, one)
		last := &out[len(out)-1]
		switch in.Path[0] {
		case "jwtAuth":
			completeJWT(extension, found, last)
		case "oauth2":
			completeOAuth2(in, extension, last)
		case "extAuth":
			completeExtAuth(value, extension, last)
		case "rateLimit":
			completeGlobalLimit(value, last)
		}
	}
	return out
}

// namedProviders lists the configurations of a setting: several where policies of several layers,
// or deep merges, add up.
func namedProviders(v any) []map[string]any {
	if all := model.List(merge.Plain(v)); all != nil {
		var out []map[string]any
		for _, one := range all {
			out = append(out, model.Map(one))
		}
		return out
	}
	m := model.Map(merge.Plain(v))
	if m["extensionRef"] != nil || m["disable"] != nil {
		return []map[string]any{m}
	}
	var out []map[string]any
	for _, name := range slices.Sorted(maps.Keys(m)) { // a part of a list that lost
		if inner := model.Map(m, name); inner["extensionRef"] != nil {
			out = append(out, inner)
		}
	}
	return out
}

// writerOf is the policy that set an entry of a list of providers.
func writerOf(in protect.Input, value map[string]any) model.Ref {
	for _, r := range in.Verdict.Result.Rules {
		if len(r.Path) == 0 || len(r.From) == 0 {
			continue
		}
		if last := r.Path[len(r.Path)-1]; rule(r.Path) == strings.Join(in.Path, ".") && last.Form == merge.Entry && last.Name == provider(value) {
			return in.Verdict.Layers[r.From[len(r.From)-1].Layer].Policy.Object.Ref
		}
	}
	return in.Source(in.Path...)
}

// turnedOffOutside reports whether an outer layer turns the setting off, which may end the filter
// of an inner one too.
func turnedOffOutside(in protect.Input) bool {
	off := func(l merge.Loss) bool {
		return l.Reason == merge.NotEvaluated && rule(l.Path) == strings.Join(in.Path, ".") && disabled(l.Value)
	}
	if slices.ContainsFunc(in.Verdict.Result.Lost, off) {
		return true
	}
	return slices.ContainsFunc(in.Verdict.Result.Rules, func(r merge.Rule) bool { return slices.ContainsFunc(r.Lost, off) })
}

// extensionOf is the spec of the GatewayExtension that a configuration names. Without it the mode
// is not known.
func extensionOf(in protect.Input, value map[string]any, g *protect.Gate) (model.Body, bool) {
	named := model.Map(value, "extensionRef")
	ref := model.Ref{Group: group, Kind: "GatewayExtension", Namespace: model.Text(named, "namespace"), Name: model.Text(named, "name")}
	if ref.Namespace == "" {
		ref.Namespace = g.Object.Namespace
	}
	o := in.Snapshot().Get(ref)
	if o == nil {
		g.Weaken(gate.MissingObject, g.Field)
		g.Reasons[len(g.Reasons)-1].Message += ": " + ref.Kind + " " + ref.FullName()
		return model.Body{}, false
	}
	return o.Body.Field("spec"), true
}

// completeJWT adds the mode of the providers, and where they look for tokens: if they do not say,
// where Envoy does.
func completeJWT(extension model.Body, found bool, g *protect.Gate) {
	if extension.Text("jwt", "validationMode") == "AllowMissing" {
		g.Weaken(gate.MissingAllowed, g.Field)
	}
	if !found {
		return
	}
	g.Reads = nil
	for _, p := range extension.At("jwt", "providers").Items {
		header, query := p.Text("tokenSource", "header", "header"), p.Text("tokenSource", "queryParameter")
		if header == "" && query == "" {
			header, query = "authorization", "access_token"
		}
		if header != "" {
			g.Reads = append(g.Reads, "header "+header)
		}
		if query != "" {
			g.Reads = append(g.Reads, "query "+query)
		}
	}
}

// completeOAuth2 tells which requests get 401 in the place of a redirect to the login: those with
// one of the headers.
func completeOAuth2(in protect.Input, extension model.Body, g *protect.Gate) {
	denied := false
	for _, h := range extension.At("oauth2", "denyRedirect", "headers").Items {
		name, value := h.Text("name"), h.Text("value")
		if h.Text("type") == "RegularExpression" {
			matches, _ := in.Look.HeaderMatches(name, value)
			denied = matches || denied
			continue
		}
		denied = in.Look.HeaderIs(name, value) || denied
	}
	if denied {
		g.Answers, g.Missing = []string{"401"}, []string{"401"}
	}
}

// completeExtAuth adds what becomes of requests while the service does not answer, and of large
// ones.
func completeExtAuth(value map[string]any, extension model.Body, g *protect.Gate) {
	if extension.At("extAuth", "failOpen").Value() == true {
		g.Weaken(gate.FailOpen, g.Field)
	}
	if g.Property == gate.Authentication {
		g.Weaken(gate.ExternalDecision, g.Field)
		return
	}
	status := extension.Text("extAuth", "statusOnError")
	if status == "" {
		status = "403"
	}
	g.Answers = append(slices.Clone(g.Answers), status)
	body := extension.At("extAuth", "withRequestBody")
	partial := body.Field("allowPartialMessage").Value() == true
	if own := model.Map(value, "withRequestBody"); own != nil {
		partial = own["allowPartialMessage"] == true
	} else if body.IsNull() {
		partial = true
	}
	if !partial {
		g.Answers = append(g.Answers, "413")
	}
}

// completeGlobalLimit says that the service has the limits, and by what the descriptors count.
func completeGlobalLimit(value map[string]any, g *protect.Gate) {
	g.Weaken(gate.ExternalDecision, g.Field)
	for _, d := range model.List(value, "descriptors") {
		var key []string
		for _, e := range model.List(d, "entries") {
			entry := model.Map(e)
			switch model.Text(entry, "type") {
			case "Header":
				key = append(key, "header "+model.Text(entry, "header"))
			case "RemoteAddress":
				key = append(key, "source address")
			case "Path":
				key = append(key, "path")
			}
		}
		g.Counters = append(g.Counters, protect.Counter{Key: key, Replicas: "all"})
	}
}

// apiKeyGate tells where keys are read from: the header api-key if the policy does not say.
func apiKeyGate(in protect.Input, g protect.Gate) []protect.Gate {
	g.Reads = nil
	for _, s := range in.List("apiKeyAuth", "keySources") {
		for _, where := range []string{"header", "query", "cookie"} {
			if name := model.Text(s, where); name != "" {
				g.Reads = append(g.Reads, where+" "+name)
			}
		}
	}
	if len(g.Reads) == 0 {
		g.Reads = []string{"header api-key"}
	}
	return []protect.Gate{g}
}

// readsTokens is what expressions call what the JWT filter has verified, which is in its metadata.
const readsTokens = "jwt_authn"

// rbacGate is that of expressions of which one is enough: Allow denies all else, and Deny allows
// it.
func rbacGate(in protect.Input, g protect.Gate) []protect.Gate {
	never, asks := true, false
	matched := false
	for _, e := range in.List("rbac", "policy", "matchExpressions") {
		expr := model.Text(e)
		matched = matched || protect.IsTrue(expr)
		never = never && protect.IsFalse(expr)
		asks = asks || strings.Contains(expr, readsTokens)
	}
	deny := in.Text("rbac", "action") == "Deny"
	switch {
	case matched && deny, never && !deny:
		g.Weaken(gate.DeniesAll, g.Field)
	case matched, never:
		g.Weaken(gate.AllowsAll, g.Field)
	case g.Property == gate.Authentication:
		g.Weaken(gate.Expression, g.Field)
	}
	if g.Property == gate.Authentication && !asks {
		return nil
	}
	return []protect.Gate{g}
}

// localLimitGate is that of a token bucket. An empty setting ends those of outer layers.
func localLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	if len(model.Map(in.Value(in.Path...))) == 0 {
		g.Counters = nil
		g.Weaken(gate.Disabled, g.Field)
		return []protect.Gate{g}
	}
	for _, share := range []string{"percentEnabled", "percentEnforced"} {
		if percent := in.Text("rateLimit", "local", share); percent != "" && percent != "0" && percent != "100" {
			g.Weaken(gate.Condition, g.Field+"."+share)
		}
	}
	return []protect.Gate{g}
}

// csrfGate refuses requests that change something and come from elsewhere. It establishes no
// property.
func csrfGate(in protect.Input, g protect.Gate) []protect.Gate {
	if percent := in.Text("csrf", "percentageEnabled"); percent == "" || percent == "0" || !in.Look.IsMethod("POST", "PUT", "DELETE", "PATCH") {
		return nil
	}
	return []protect.Gate{g}
}

// abortGate answers some requests, or all, in the place of a backend.
func abortGate(in protect.Input, g protect.Gate) []protect.Gate {
	switch percent := in.Text("faultInjection", "abort", "percentage"); {
	case in.Value("faultInjection", "disable") != nil || percent == "0":
		return nil
	case (percent == "" || percent == "100") && in.Value("faultInjection", "maxActiveFaults") == nil:
		g.Weaken(gate.DeniesAll, g.Field)
	}
	return []protect.Gate{g}
}

// directResponseGate answers all requests of a rule.
func directResponseGate(_ protect.Input, g protect.Gate) []protect.Gate {
	g.Weaken(gate.DeniesAll, g.Field)
	return []protect.Gate{g}
}

// clientCertificateGate is that of a listener with TLS. Its policies are united: one that requires
// certificates is enough (kgateway v2.4.0,
// pkg/kgateway/translator/listener/gateway_listener_translator.go:1250-1284).
func clientCertificateGate(in protect.Input, g protect.Gate) []protect.Gate {
	r := in.Resolution()
	if at := in.Listener(); at == topology.None || r.Node(at).Role != topology.Listener || r.Graph.Listener(at).Protocol != "HTTPS" {
		return nil
	}
	for _, l := range in.Verdict.Layers {
		if l.Policy.Builtin == "" && !l.Rejected && l.Policy.Object.Body.Text("spec", "default", "clientCertificateValidation", "mode") == "Require" {
			g.Object = l.Policy.Object.Ref
			return []protect.Gate{g}
		}
	}
	g.Weaken(gate.MissingAllowed, g.Field+".mode")
	return []protect.Gate{g}
}

// backendTLSGate is that of connections to a backend: verified with a CA and a name.
func backendTLSGate(in protect.Input, g protect.Gate) []protect.Gate {
	ca := in.Value("tls", "secretRef", "name") != nil || in.Value("tls", "files", "rootCA") != nil || in.Value("tls", "wellKnownCACertificates") != nil
	if len(g.Reasons) == 0 && (!ca || len(in.List("tls", "verifySubjectAltNames")) == 0) {
		g.Weaken(gate.NotVerified, g.Field)
	}
	return []protect.Gate{g}
}

// aclGate is that of an access list, of which the longest prefix that fits decides, else the
// default.
func aclGate(in protect.Input, g protect.Gate) []protect.Gate {
	shut := in.Text("acl", "defaultAction") == "deny"
	families := map[bool]*family{false: {shut: shut}, true: {shut: shut}} // by whether it is that of IPv6
	for _, r := range in.List("acl", "rules") {
		deny := model.Text(r, "action") == "deny"
		for _, c := range model.List(r, "cidrs") {
			if network, ok := networkOf(model.Text(c)); ok {
				families[network.Addr().Is6()].add(network, deny)
			}
		}
	}
	v4, v6 := families[false], families[true]
	switch {
	case v4.deniesAll() && v6.deniesAll():
		g.Weaken(gate.DeniesAll, g.Field)
	case !v4.denies && !v6.denies && !shut:
		g.Weaken(gate.AllowsAll, g.Field)
	case v4.allowsAll() && v6.allowsAll(), shut && (v4.allowsAll() || v6.allowsAll()):
		g.Weaken(gate.AnyAddress, g.Field)
	}
	return []protect.Gate{g}
}

// family is what an access list says of the addresses of one family.
type family struct {
	shut, denies bool
	allowed      []any
}

func (f *family) add(network netip.Prefix, deny bool) {
	switch {
	case network.Bits() == 0:
		f.shut = deny
	case deny:
		f.denies = true
	default:
		f.allowed = append(f.allowed, network.String())
	}
}

func (f *family) deniesAll() bool { return f.shut && len(f.allowed) == 0 }

func (f *family) allowsAll() bool { return !f.denies && (!f.shut || protect.CoversAll(f.allowed)) }

func networkOf(text string) (netip.Prefix, bool) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return network, true
	}
	address, err := netip.ParseAddr(text)
	return netip.PrefixFrom(address, address.BitLen()), err == nil
}
