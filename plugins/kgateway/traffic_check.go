package kgateway

import (
	"fmt"
	"net/netip"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

var (
	extensionKind = model.GroupKind{Group: group, Kind: "GatewayExtension"}
	trafficKind   = model.GroupKind{Group: group, Kind: "TrafficPolicy"}
	grantKind     = model.GroupKind{Group: "gateway.networking.k8s.io", Kind: "ReferenceGrant"}
	secretKind    = model.GroupKind{Kind: "Secret"}
	configMapKind = model.GroupKind{Kind: "ConfigMap"}
	serviceKind   = model.GroupKind{Kind: "Service"}
)

// weightAnnotation is the annotation that puts a TrafficPolicy before others at the same place.
const weightAnnotation = "kgateway.dev/policy-weight"

// checkTrafficPolicy finds what puts a TrafficPolicy in error.
func checkTrafficPolicy(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	c := policyCheck{policy: p, in: in, mode: p.Kind.Settings.Text("kgateway.referenceGrantMode")}
	if raw, ok := p.Object.Annotations[weightAnnotation]; ok {
		if _, err := strconv.ParseInt(raw, 10, 32); err != nil {
			c.addFault("annotation %s is %q, which is not a 32-bit integer", weightAnnotation, raw)
		}
	}
	spec := p.Object.Body.Field("spec")
	for _, use := range [...]struct{ path, field string }{{"extAuth", "extAuth"}, {"extProc", "extProc"},
		{"jwtAuth", "jwt"}, {"oauth2", "oauth2"}, {"rateLimit.global", "rateLimit"}} {
		at := strings.Split(use.path, ".")
		if ref := spec.At(append(slices.Clone(at), "extensionRef")...); !ref.IsNull() {
			c.checkExtension(ref, use.field, append([]string{"spec"}, at...))
		}
	}
	c.checkAPIKeys(spec.Field("apiKeyAuth"))
	c.checkBasicAuth(spec.Field("basicAuth"))
	for _, side := range []string{"request", "response"} {
		for _, list := range []string{"add", "set"} {
			for _, h := range spec.At("headerModifiers", side, list).Items {
				if ref := h.Field("secretRef"); !ref.IsNull() {
					c.checkSecret(ref, trafficKind, p.Object.Ref.Namespace, "spec", "headerModifiers", side, list)
				}
			}
		}
	}
	c.checkAccessList(spec.Field("acl"))
	if pattern := spec.At("urlRewrite", "pathRegex", "pattern"); !pattern.IsNull() {
		if _, err := regexp.Compile(pattern.Text()); err != nil {
			c.addFault("urlRewrite: invalid regex pattern: %v", err)
		}
	}
	if p.Kind.Settings.Text("kgateway.validationMode") == "STRICT" {
		c.addProblem(model.Info,
			"with validationMode STRICT the controller also asks Envoy about the policy, which nothing here can: it is taken to agree", "", "spec")
	}
	return strings.Join(c.faults, "; "), c.problems
}

// policyCheck collects what is wrong with one policy.
type policyCheck struct {
	policy   *policy.Policy
	in       *model.Snapshot
	mode     string // of ReferenceGrants
	faults   []string
	problems []model.Problem

	discovers func(namespace string) bool // nil: not asked yet
}

func (c *policyCheck) addFault(format string, args ...any) {
	c.faults = append(c.faults, fmt.Sprintf(format, args...))
}

func (c *policyCheck) addProblem(severity model.Severity, message, hint string, at ...string) {
	p := model.Problem{Severity: severity, Code: model.NotEvaluated, Message: message, Hint: hint}
	c.problems = append(c.problems, p.At(c.policy.Object, at...))
}

// checkExists reports whether an object is there. One of which nothing is known is taken to exist,
// and one that is merely not in the files to be missing; both are said.
func (c *policyCheck) checkExists(ref model.Ref, at ...string) bool {
	switch e := c.in.FindExistence(ref); {
	case !c.isDiscovered(ref.Namespace): // it does not exist for the controller
	case e.Presence == model.Present:
		return true
	case e.Presence == model.NotKnown:
		c.addProblem(model.Warning, e.Why+": it is assumed to exist", "", at...)
		return true
	case e.Presence == model.NotShown:
		c.addProblem(model.Warning,
			ref.String()+" is not in the input and counts as missing; it may exist outside of it",
			"add its manifest if it exists", at...)
	}
	c.addFault("%s not found", ref)
	return false
}

// isDiscovered reports whether the controller discovers a namespace. It always discovers that of
// the policy.
func (c *policyCheck) isDiscovered(namespace string) bool {
	if namespace == c.policy.Object.Ref.Namespace {
		return true
	}
	if c.discovers == nil {
		c.discovers, _ = readDiscoverySelectors(c.in, c.policy.Kind.Settings)
		if c.discovers == nil {
			c.discovers = func(string) bool { return true }
		}
	}
	return c.discovers(namespace)
}

// isPermitted reports whether objects of a kind may refer to one in another namespace.
func (c *policyCheck) isPermitted(from model.GroupKind, namespace string, to model.Ref) bool {
	if namespace == to.Namespace || c.mode == "OFF" {
		return true
	}
	for _, g := range c.in.OfKind(grantKind) {
		if g.Ref.Namespace == to.Namespace && hasGrant(g.Body.At("spec", "from"),
			map[string]string{"group": from.Group, "kind": from.Kind, "namespace": namespace}) &&
			hasGrant(g.Body.At("spec", "to"), map[string]string{"group": to.Group, "kind": to.Kind, "name": to.Name}) {
			return true
		}
	}
	if c.in.IsUnread(grantKind, to.Namespace) {
		c.addProblem(model.Warning, c.in.ExplainUnread("the ReferenceGrants of namespace "+to.Namespace, grantKind,
			to.Namespace)+": the reference to "+to.String()+" is taken to be permitted", "", "spec")
		return true
	}
	return false
}

// hasGrant reports whether an entry of a grant's list has these values; a name that is not written
// means any.
func hasGrant(list model.Body, want map[string]string) bool {
	for _, e := range list.Items {
		fits := true
		for key, value := range want {
			if key == "name" && e.Field(key).IsNull() {
				continue
			}
			fits = fits && e.Text(key) == value
		}
		if fits {
			return true
		}
	}
	return false
}

// checkExtension checks a reference to a GatewayExtension, and what that refers to.
func (c *policyCheck) checkExtension(ref model.Body, field string, at []string) {
	own := c.policy.Object.Ref.Namespace
	to := readRef(ref, extensionKind, own)
	if c.mode == "STRICT" && !c.isPermitted(trafficKind, own, to) {
		c.addFault("missing reference grant for %s", to)
		return
	}
	if !c.checkExists(to, append(at, "extensionRef")...) {
		return
	}
	o := c.in.Get(to)
	if o == nil {
		return
	}
	body := o.Body.At("spec", field)
	if body.IsNull() {
		c.addFault("%s has no %s: it is of another type", to, field)
		return
	}
	c.checkBackends(body, to)
}

func readRef(v model.Body, gk model.GroupKind, namespace string) model.Ref {
	if ns := v.Text("namespace"); ns != "" {
		namespace = ns
	}
	return model.Ref{Group: gk.Group, Kind: gk.Kind, Namespace: namespace, Name: v.Text("name")}
}

// checkSecret checks a reference to a Secret.
func (c *policyCheck) checkSecret(ref model.Body, from model.GroupKind, namespace string, at ...string) {
	to := readRef(ref, secretKind, namespace)
	if !c.isPermitted(from, namespace, to) {
		c.addFault("missing reference grant for %s", to)
		return
	}
	c.checkExists(to, at...)
}

// checkAPIKeys checks where API keys are read: in one Secret, or in all with certain labels, in
// other namespaces with a grant.
func (c *policyCheck) checkAPIKeys(auth model.Body) {
	if auth.IsNull() || !auth.Field("disable").IsNull() {
		return
	}
	own := c.policy.Object.Ref.Namespace
	if ref := auth.Field("secretRef"); !ref.IsNull() {
		c.checkSecret(ref, trafficKind, own, "spec", "apiKeyAuth", "secretRef")
		return
	}
	selector := auth.Field("secretSelector")
	if selector.IsNull() {
		return
	}
	if c.in.Cluster != nil || selector.Field("matchExpressions").Len() > 0 {
		c.addProblem(model.Warning,
			"which Secrets spec.apiKeyAuth.secretSelector picks is not evaluated: it is taken to pick some", "",
			"spec", "apiKeyAuth")
		return
	}
	labels := map[string]string{}
	for key, v := range selector.Field("matchLabels").Fields {
		labels[key] = v.Text()
	}
	for _, s := range c.in.OfKind(secretKind) {
		if hasLabels(s, labels) && c.isDiscovered(s.Ref.Namespace) && c.isPermitted(trafficKind, own, s.Ref) {
			return
		}
	}
	if c.in.FindExistence(model.Ref{Kind: "Secret", Namespace: own}).IsAbsent() {
		c.addFault("no secrets found that match the selector")
		return
	}
	c.addProblem(model.Warning,
		"no Secret in the input has the labels of spec.apiKeyAuth.secretSelector: it is assumed that there is one outside of it",
		"add its manifest if it exists", "spec", "apiKeyAuth", "secretSelector")
}

func hasLabels(o *model.Object, labels map[string]string) bool {
	for key, v := range labels {
		if o.Labels[key] != v {
			return false
		}
	}
	return true
}

// checkAccessList checks the networks of an access list: bits behind the prefix must be zero.
func (c *policyCheck) checkAccessList(acl model.Body) {
	for _, r := range acl.Field("rules").Items {
		for _, v := range r.Field("cidrs").Items {
			text := v.Text()
			network, err := netip.ParsePrefix(text)
			if !strings.Contains(text, "/") { // an address alone
				_, err = netip.ParseAddr(text)
			}
			switch {
			case err != nil:
				c.addFault("acl: %q is no network", text)
			case network.Masked() != network:
				c.addFault("acl: %q has bits behind its prefix: it is in %s", text, network.Masked())
			}
		}
	}
}
