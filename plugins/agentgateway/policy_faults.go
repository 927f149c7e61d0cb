package agentgateway

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// fault is what keeps the controller from translating something of a policy.
type fault struct {
	text string
	at   []string
}

// inspection looks for the faults of one policy.
type inspection struct {
	graph    *topology.Graph
	in       *model.Snapshot
	policy   *model.Object
	grants   string // the setting backendRefGrantMode
	faults   []fault
	problems []model.Problem // what is assumed
}

// inspectPolicy finds the faults of a policy.
func inspectPolicy(g *topology.Graph, in *model.Snapshot, o *model.Object, s model.Settings) *inspection {
	c := &inspection{graph: g, in: in, policy: o, grants: s.Text("agentgateway.backendRefGrantMode")}
	c.checkExpressions()
	for _, ref := range listUsedBackends(o) {
		c.checkBackend(ref)
	}
	for _, field := range settingFields {
		o.Body.At("spec", field).Walk([]string{"spec", field}, c.checkCredentials)
	}
	c.checkDelay()
	c.checkBackendTLS()
	return c
}

// checkBackendTLS says that BackendTLSPolicies may take the place of what the policy says about TLS
// to backends, or lose to it.
func (c *inspection) checkBackendTLS() {
	if c.policy.Body.At("spec", "backend", "tls").IsNull() {
		return
	}
	for _, o := range c.in.OfKind(model.GroupKind{Group: policy.GatewayGroup, Kind: "BackendTLSPolicy"}) {
		c.problems = append(c.problems, model.Problem{Severity: model.Warning, Code: model.NotEvaluated,
			Message: fmt.Sprintf(
				"spec.backend.tls of %s is not held against %s, which is one more such setting where it targets a backend",
				c.policy.Ref, o.Ref)}.At(c.policy, "spec", "backend", "tls"))
	}
}

func (c *inspection) addFault(at []string, format string, args ...any) {
	c.faults = append(c.faults, fault{fmt.Sprintf(format, args...), at})
}

func (c *inspection) addAssumption(at []string, format string, args ...any) {
	c.problems = append(c.problems, model.Problem{Severity: model.Info, Code: model.NotEvaluated,
		Message: fmt.Sprintf(format, args...)}.At(c.policy, at...))
}

// checkPolicy says what is wrong with a policy. The controller sends all the same what it can make
// of it, so that it is in force.
func checkPolicy(k *policy.Kind, g *topology.Graph, in *model.Snapshot) policy.AttachedCheck {
	return func(p *policy.Policy, _ []topology.NodeID) (string, []model.Problem) {
		c := inspectPolicy(g, in, p.Object, k.Settings)
		out := c.problems
		for _, f := range c.faults {
			out = append(out, model.Problem{Severity: model.Warning, Code: model.PolicyInError,
				Message: fmt.Sprintf(
					"%s: the controller reports PartiallyValid and keeps the setting, which then refuses requests or does nothing", f.text)}.At(p.Object, f.at...))
		}
		return "", out
	}
}

// expressionFields are the settings whose texts are expressions: a key, or * for every one, by the
// setting in which they stand.
var expressionFields = map[string][]string{
	"transformation": {"value", "body"},
	"accessLog":      {"filter", "expression"},
	"tracing":        {"expression", "randomSampling", "clientSampling"},
	"metrics":        {"expression"},
	"health":         {"unhealthyCondition"},
	"rateLimit":      {"expression", "limitOverride", "cost", "condition"},
	"extAuth": {"path", "redirect", "body", "addRequestHeaders.*", "responseMetadata.*",
		"requestMetadata.*", "condition"},
	"extProc":         {"condition", "requestAttributes.*", "responseAttributes.*"},
	"directResponse":  {"condition"},
	"headerModifiers": {"condition"},
}

// checkExpressions parses the expressions of the policy.
func (c *inspection) checkExpressions() {
	for _, part := range settingFields {
		for setting, v := range c.policy.Body.At("spec", part).Fields {
			fields := expressionFields[setting]
			if fields == nil {
				continue
			}
			v.Walk([]string{"spec", part, setting}, func(key string, v model.Body, at []string) bool {
				held := slices.Contains(fields, key) || len(at) > 3 && slices.Contains(fields, at[len(at)-2]+".*")
				if held && v.IsText() && expression.CheckSyntax(v.Text()) != nil {
					c.addFault(at, "%s is not a valid CEL expression: %s", strings.Join(at[1:], "."), v.Text())
				}
				return true
			})
		}
	}
}

// checkBackend checks a reference to a backend.
func (c *inspection) checkBackend(ref backendRef) {
	home := c.policy.Ref.Namespace
	switch e := c.in.FindExistence(ref.to); {
	case c.grants == "route-and-policy" && ref.to.Namespace != home && !c.isGranted(ref):
		c.addFault(ref.at, "backendRef %s/%s not accessible to the policy: no ReferenceGrant permits it",
			ref.to.Namespace, ref.to.Name)
	case c.in.Get(ref.to) != nil:
		if ref.to.Kind == "Service" && !ref.port && ref.at[len(ref.at)-2] != "jwks" {
			c.addFault(ref.at, "port is required for Service targets")
		}
	case e.Presence == model.NotKnown:
		c.addAssumption(ref.at, "%s: it is taken to exist", e.Why)
	case e.IsAbsent():
		c.addFault(ref.at, "unable to find the %s %s", ref.to.Kind, ref.to.FullName())
	}
}

func (c *inspection) isGranted(ref backendRef) bool {
	return c.graph.IsGranted(c.policy.Ref.GroupKind(), c.policy.Ref.Namespace, ref.to)
}

// requiredKeys are the keys that a Secret or ConfigMap needs for what refers to it.
var requiredKeys = map[string][]string{
	"aws":                 {"accessKey", "secretKey"},
	"gcp":                 {"credentials.json"},
	"basicAuthentication": {".htaccess"},
	"mtlsCertificateRef":  {"tls.crt", "tls.key"},
	"caCertificateRefs":   {"ca.crt"},
}

// checkCredentials checks references to Secrets and ConfigMaps.
func (c *inspection) checkCredentials(key string, v model.Body, at []string) bool {
	switch key {
	case "secretRef":
		c.checkCredentialObject(v, at, model.GroupKind{Kind: "Secret"}, at[len(at)-2])
	case "mtlsCertificateRef":
		for _, e := range v.Items {
			c.checkCredentialObject(e, at, model.GroupKind{Kind: "Secret"}, key)
		}
	case "caCertificateRefs":
		for _, e := range v.Items {
			kind := "ConfigMap"
			if e.Text("kind") != "" {
				kind = e.Text("kind")
			}
			c.checkCredentialObject(e, at, model.GroupKind{Kind: kind}, key)
		}
	default:
		return true
	}
	return false
}

// checkCredentialObject checks one object that holds credentials.
func (c *inspection) checkCredentialObject(v model.Body, at []string, gk model.GroupKind, use string) {
	ref := model.Ref{Group: v.Text("group"), Kind: gk.Kind, Namespace: c.policy.Ref.Namespace, Name: v.Text("name")}
	if kind := v.Text("kind"); kind != "" {
		ref.Kind = kind
	}
	if ref.Group != "" || ref.Kind != "Secret" && ref.Kind != "ConfigMap" {
		c.addAssumption(at, "%s holds credentials in a way of its own: it is taken to have them", ref)
		return
	}
	o := c.in.Get(ref)
	if o == nil {
		switch e := c.in.FindExistence(ref); e.Presence {
		case model.Present: // something in the input makes it
		case model.NotKnown:
			c.addAssumption(at, "%s: it is taken to exist", e.Why)
		default:
			c.addFault(at, "%s %s not found", strings.ToLower(ref.Kind), ref.FullName())
		}
		return
	}
	keys := requiredKeys[use]
	if key := v.Text("key"); key != "" {
		keys = []string{key}
	}
	for _, key := range keys {
		if o.Body.At("data", key).IsNull() && o.Body.At("stringData", key).IsNull() {
			c.addFault(at, "%s %s has no key %s", strings.ToLower(ref.Kind), ref.FullName(), key)
		}
	}
	if use == "apiKeyAuthentication" {
		c.checkAPIKeys(o, at)
	}
}

// checkAPIKeys checks the keys in a Secret: a value that looks like JSON has to be.
func (c *inspection) checkAPIKeys(o *model.Object, at []string) {
	data := map[string]string{}
	for key, v := range o.Body.Field("data").Fields {
		if raw, err := base64.StdEncoding.DecodeString(v.Text()); err == nil {
			data[key] = string(raw)
		}
	}
	for key, v := range o.Body.Field("stringData").Fields {
		data[key] = v.Text()
	}
	for _, key := range slices.Sorted(maps.Keys(data)) {
		if text := strings.TrimSpace(data[key]); strings.HasPrefix(text, "{") && !json.Valid([]byte(text)) {
			c.addFault(at, "secret %s contains an invalid key %s", o.Ref.FullName(), key)
		}
	}
}

// checkDelay checks a delay: a duration, or an expression.
func (c *inspection) checkDelay() {
	v := c.policy.Body.At("spec", "traffic", "delay", "duration")
	if v.IsText() && !isDelay(v.Text()) {
		c.addFault([]string{"spec", "traffic", "delay", "duration"},
			"traffic delay is neither a duration nor a valid CEL expression: %s", v.Text())
	}
}
