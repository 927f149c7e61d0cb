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

// gateFunctions complete what kinds.yaml says of how settings keep requests out.
func gateFunctions() protect.Functions {
	return protect.Functions{"kgateway.Provider": buildProviderGates, "kgateway.APIKey": buildAPIKeyGate,
		"kgateway.RBAC": buildRBACGate, "kgateway.ACL": buildACLGate,
		"kgateway.LocalLimit": buildLocalLimitGate, "kgateway.CSRF": buildCSRFGate, "kgateway.Abort": buildAbortGate,
		"kgateway.DirectResponse":    buildDirectResponseGate,
		"kgateway.ClientCertificate": buildClientCertificateGate, "kgateway.BackendTLS": buildBackendTLSGate}
}

// buildProviderGates are those of a setting with a filter for each GatewayExtension. All of them
// run; the mode is in the extension.
func buildProviderGates(in protect.Input, g protect.Gate) []protect.Gate {
	var out []protect.Gate
	all := listConfigurations(in.Value(in.Path...))
	for _, value := range all {
		one := g
		if len(all) > 1 {
			one.Object = findWriter(in, value)
			one.Group = in.GroupOf(g.Field + " " + string(g.Property) + " " + providerName(value))
		}
		if isDisabled(value) {
			out = append(out, one)
			continue
		}
		if isDisabledOutside(in) {
			one.AddReason(gate.Condition, g.Field)
		}
		extension, found := findExtension(in, value, &one)
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

// listConfigurations lists the configurations of a setting: several where policies of several
// layers, or deep merges, add up.
func listConfigurations(v any) []map[string]any {
	if all := model.List(merge.Unpack(v)); all != nil {
		var out []map[string]any
		for _, one := range all {
			out = append(out, model.Map(one))
		}
		return out
	}
	m := model.Map(merge.Unpack(v))
	if m["extensionRef"] != nil || m["disable"] != nil {
		return []map[string]any{m}
	}
	var out []map[string]any
	for _, name := range slices.Sorted(maps.Keys(m)) { // the part of a list that did not win
		if inner := model.Map(m, name); inner["extensionRef"] != nil {
			out = append(out, inner)
		}
	}
	return out
}

// findWriter is the policy that set an entry of a list of providers.
func findWriter(in protect.Input, value map[string]any) model.Ref {
	for _, r := range in.Verdict.Result.Rules {
		if len(r.Path) == 0 || len(r.From) == 0 {
			continue
		}
		if last := r.Path[len(r.Path)-1]; settingName(r.Path) == strings.Join(in.Path, ".") &&
			last.Form == merge.Entry && last.Name == providerName(value) {
			return in.Verdict.Layers[r.From[len(r.From)-1].Layer].Policy.Object.Ref
		}
	}
	return in.Source(in.Path...)
}

// isDisabledOutside reports whether an outer layer turns the setting off, which may end the filter
// of an inner one too.
func isDisabledOutside(in protect.Input) bool {
	off := func(l merge.Loss) bool {
		return l.Reason == merge.NotEvaluated && settingName(l.Path) == strings.Join(in.Path, ".") &&
			isDisabled(l.Value)
	}
	if slices.ContainsFunc(in.Verdict.Result.Lost, off) {
		return true
	}
	return slices.ContainsFunc(in.Verdict.Result.Rules,
		func(r merge.Rule) bool { return slices.ContainsFunc(r.Lost, off) })
}

// findExtension is the spec of the GatewayExtension that a configuration names. Without it the mode
// is not known.
func findExtension(in protect.Input, value map[string]any, g *protect.Gate) (model.Body, bool) {
	named := model.Map(value, "extensionRef")
	ref := model.Ref{Group: group, Kind: "GatewayExtension", Namespace: model.Text(named, "namespace"),
		Name: model.Text(named, "name")}
	if ref.Namespace == "" {
		ref.Namespace = g.Object.Namespace
	}
	o := in.Snapshot().Get(ref)
	if o == nil {
		g.AddReason(gate.MissingObject, g.Field)
		g.Reasons[len(g.Reasons)-1].Message += ": " + ref.String()
		return model.Body{}, false
	}
	return o.Body.Field("spec"), true
}

// completeJWT adds the mode of the providers, and where they look for tokens: if they do not say,
// where Envoy does.
func completeJWT(extension model.Body, found bool, g *protect.Gate) {
	if extension.Text("jwt", "validationMode") == "AllowMissing" {
		g.AddReason(gate.MissingAllowed, g.Field)
	}
	if !found {
		return
	}
	g.Reads = nil
	for _, p := range extension.At("jwt", "providers").Items {
		if p.Has("audiences") && !slices.Contains(g.Answers, "403") {
			g.Missing, g.Answers = g.Answers, append(slices.Clone(g.Answers), "403") // to a token for another audience
		}
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
			matches, _ := in.Reader.HeaderMatches(name, value)
			denied = matches || denied
			continue
		}
		denied = in.Reader.HeaderIs(name, value) || denied
	}
	if denied {
		g.Answers, g.Missing = []string{"401"}, []string{"401"}
	}
}

// completeExtAuth adds what becomes of requests while the service does not answer, and of large
// ones.
func completeExtAuth(value map[string]any, extension model.Body, g *protect.Gate) {
	if extension.At("extAuth", "failOpen").Value() == true {
		g.AddReason(gate.FailOpen, g.Field)
	}
	if g.Property == gate.Authentication {
		g.AddReason(gate.ExternalDecision, g.Field)
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
	g.AddReason(gate.ExternalDecision, g.Field)
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

// buildAPIKeyGate tells where keys are read from: the header api-key if the policy does not say.
func buildAPIKeyGate(in protect.Input, g protect.Gate) []protect.Gate {
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

// tokenMetadata is what expressions call what the JWT filter has verified, which is in its
// metadata.
const tokenMetadata = "jwt_authn"

// buildRBACGate is the gate of expressions of which one is enough: Allow denies all else, and Deny
// allows it.
func buildRBACGate(in protect.Input, g protect.Gate) []protect.Gate {
	never, asks := true, false
	matched := false
	for _, e := range in.List("rbac", "policy", "matchExpressions") {
		expr := model.Text(e)
		matched = matched || protect.IsTrue(expr)
		never = never && protect.IsFalse(expr)
		asks = asks || strings.Contains(expr, tokenMetadata)
	}
	deny := in.Text("rbac", "action") == "Deny"
	switch {
	case matched && deny, never && !deny:
		g.AddReason(gate.DeniesAll, g.Field)
	case matched, never:
		g.AddReason(gate.AllowsAll, g.Field)
	case g.Property == gate.Authentication:
		g.AddReason(gate.Expression, g.Field)
	}
	if g.Property == gate.Authentication && !asks {
		return nil
	}
	return []protect.Gate{g}
}

// buildLocalLimitGate is the gate of a token bucket. An empty setting ends those of outer layers.
func buildLocalLimitGate(in protect.Input, g protect.Gate) []protect.Gate {
	if len(model.Map(in.Value(in.Path...))) == 0 {
		g.Counters = nil
		g.AddReason(gate.Disabled, g.Field)
		return []protect.Gate{g}
	}
	for _, share := range []string{"percentEnabled", "percentEnforced"} {
		if percent := in.Text("rateLimit", "local", share); percent != "" && percent != "0" && percent != "100" {
			g.AddReason(gate.Condition, g.Field+"."+share)
		}
	}
	return []protect.Gate{g}
}

// buildCSRFGate refuses requests that change something and come from elsewhere. It establishes no
// property.
func buildCSRFGate(in protect.Input, g protect.Gate) []protect.Gate {
	if percent := in.Text("csrf", "percentageEnabled"); percent == "" || percent == "0" ||
		!in.Reader.IsMethod("POST", "PUT", "DELETE", "PATCH") {
		return nil
	}
	return []protect.Gate{g}
}

// buildAbortGate answers some requests, or all, in the place of a backend.
func buildAbortGate(in protect.Input, g protect.Gate) []protect.Gate {
	switch percent := in.Text("faultInjection", "abort", "percentage"); {
	case in.Value("faultInjection", "disable") != nil || percent == "0":
		return nil
	case (percent == "" || percent == "100") && in.Value("faultInjection", "maxActiveFaults") == nil:
		g.AddReason(gate.DeniesAll, g.Field)
	}
	return []protect.Gate{g}
}

// buildDirectResponseGate answers all requests of a rule.
func buildDirectResponseGate(_ protect.Input, g protect.Gate) []protect.Gate {
	g.AddReason(gate.DeniesAll, g.Field)
	return []protect.Gate{g}
}

// buildClientCertificateGate is the gate of a listener with TLS. Its policies are united: one that
// requires certificates is enough (kgateway v2.4.0,
// pkg/kgateway/translator/listener/gateway_listener_translator.go:1250-1284).
func buildClientCertificateGate(in protect.Input, g protect.Gate) []protect.Gate {
	r := in.Resolution()
	if at := in.Listener(); at == topology.None || r.Node(at).Role != topology.Listener ||
		r.Graph.Listener(at).Protocol != "HTTPS" {
		return nil
	}
	for _, l := range in.Verdict.Layers {
		if l.Policy.Builtin == "" && !l.Rejected && l.Policy.Object.Body.Text("spec", "default",
			"clientCertificateValidation", "mode") == "Require" {
			g.Object = l.Policy.Object.Ref
			return []protect.Gate{g}
		}
	}
	g.AddReason(gate.MissingAllowed, g.Field+".mode")
	return []protect.Gate{g}
}

// buildBackendTLSGate is the gate of connections to a backend: verified with a CA and a name.
func buildBackendTLSGate(in protect.Input, g protect.Gate) []protect.Gate {
	ca := in.Value("tls", "secretRef", "name") != nil || in.Value("tls", "files", "rootCA") != nil ||
		in.Value("tls", "wellKnownCACertificates") != nil
	if len(g.Reasons) == 0 && (!ca || len(in.List("tls", "verifySubjectAltNames")) == 0) {
		g.AddReason(gate.NotVerified, g.Field)
	}
	return []protect.Gate{g}
}

// buildACLGate is the gate of an access list, of which the longest prefix that fits decides, else
// the default.
func buildACLGate(in protect.Input, g protect.Gate) []protect.Gate {
	shut := in.Text("acl", "defaultAction") == "deny"
	// by whether it is that of IPv6
	families := map[bool]*addressFamily{false: {deniesByDefault: shut}, true: {deniesByDefault: shut}}
	for _, r := range in.List("acl", "rules") {
		deny := model.Text(r, "action") == "deny"
		for _, c := range model.List(r, "cidrs") {
			if network, ok := parseNetwork(model.Text(c)); ok {
				families[network.Addr().Is6()].addNetwork(network, deny)
			}
		}
	}
	v4, v6 := families[false], families[true]
	switch {
	case v4.deniesAll() && v6.deniesAll():
		g.AddReason(gate.DeniesAll, g.Field)
	case !v4.denies && !v6.denies && !shut:
		g.AddReason(gate.AllowsAll, g.Field)
	case v4.allowsAll() && v6.allowsAll(), shut && (v4.allowsAll() || v6.allowsAll()):
		g.AddReason(gate.AnyAddress, g.Field)
	}
	return []protect.Gate{g}
}

// addressFamily is what an access list says of the addresses of one family.
type addressFamily struct {
	deniesByDefault, denies bool
	allowed                 []any
}

func (f *addressFamily) addNetwork(network netip.Prefix, deny bool) {
	switch {
	case network.Bits() == 0:
		f.deniesByDefault = deny
	case deny:
		f.denies = true
	default:
		f.allowed = append(f.allowed, network.String())
	}
}

func (f *addressFamily) deniesAll() bool { return f.deniesByDefault && len(f.allowed) == 0 }

func (f *addressFamily) allowsAll() bool {
	return !f.denies && (!f.deniesByDefault || protect.CoversAll(f.allowed))
}

func parseNetwork(text string) (netip.Prefix, bool) {
	if network, err := netip.ParsePrefix(text); err == nil {
		return network, true
	}
	address, err := netip.ParseAddr(text)
	return netip.PrefixFrom(address, address.BitLen()), err == nil
}
