package kgateway

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// checkBackends checks the backends, Secrets and ConfigMaps that an extension, or a policy itself,
// refers to.
func (c *policyCheck) checkBackends(v model.Body, from model.Ref) {
	for key, inner := range v.Fields {
		if !inner.IsObject() {
			c.checkBackends(inner, from)
			continue
		}
		switch key {
		case "backendRef", "jwksBackendRef":
			gk := model.GroupKind{Group: inner.Text("group"), Kind: inner.Text("kind")}
			if gk.Kind == "" {
				gk.Kind = serviceKind.Kind
			}
			if to := readRef(inner, gk, from.Namespace); c.checkReference(to, from) {
				c.checkPort(to, inner.Field("port"))
			}
		case "clientSecretRef", "secretRef":
			c.checkReference(readRef(inner, secretKind, from.Namespace), from)
		case "configMapRef":
			c.checkReference(readRef(inner, configMapKind, from.Namespace), from)
		default:
			c.checkBackends(inner, from)
		}
	}
	for _, inner := range v.Items {
		c.checkBackends(inner, from)
	}
}

// checkReference reports whether a reference is good.
func (c *policyCheck) checkReference(to, from model.Ref) bool {
	if !c.isPermitted(from.GroupKind(), from.Namespace, to) {
		c.addFault("missing reference grant: %s refers to %s", from, to)
		return false
	}
	return c.checkExists(to, "spec")
}

// checkPort checks the port of a reference to a backend: a Service must have it, and a Backend is
// named without one.
func (c *policyCheck) checkPort(to model.Ref, port model.Body) {
	number, ok := port.Value().(int64)
	o := c.in.Get(to)
	switch {
	case !ok || o == nil:
	case to.GroupKind() == model.GroupKind{Group: group, Kind: "Backend"}:
		c.addFault("%s must be named without a port", to)
	case to.GroupKind() == serviceKind:
		for _, p := range o.Body.At("spec", "ports").Items {
			if p.Field("port").Value() == number {
				return
			}
		}
		c.addFault("%s has no port %d", to, number)
	}
}

// checkBasicAuth checks users that are written out: only SHA hashes are understood, and no user may
// come twice.
func (c *policyCheck) checkBasicAuth(auth model.Body) {
	if auth.IsNull() || !auth.Field("disable").IsNull() {
		return
	}
	users := auth.Field("users")
	if users.Len() == 0 {
		if ref := auth.Field("secretRef"); !ref.IsNull() {
			c.checkSecret(ref, trafficKind, c.policy.Object.Ref.Namespace, "spec", "basicAuth", "secretRef")
		}
		return
	}
	const hash = len("{SHA}") + 28
	seen := map[string]bool{}
	for _, u := range users.Items {
		for _, line := range strings.Split(u.Text(), "\n") {
			if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
				continue
			}
			name, password, ok := strings.Cut(line, ":")
			switch valid := ok && strings.HasPrefix(password, "{SHA}") && len(password) == hash; {
			case !valid:
				c.addFault("basic auth: user %q has no {SHA} hash", name)
			case seen[name]:
				c.addFault("basic auth: user %q is there twice", name)
			default:
				seen[name] = true
			}
		}
	}
}
