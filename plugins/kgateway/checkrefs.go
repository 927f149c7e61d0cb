package kgateway

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// backends judges the backends, Secrets and ConfigMaps that an extension, or a policy itself, refers to.
func (c *check) backends(v model.Body, from model.Ref) {
	for key, inner := range v.Fields {
		if !inner.IsObject() {
			c.backends(inner, from)
			continue
		}
		switch key {
		case "backendRef", "jwksBackendRef":
			gk := model.GroupKind{Group: inner.Text("group"), Kind: inner.Text("kind")}
			if gk.Kind == "" {
				gk.Kind = serviceKind.Kind
			}
			if to := refOf(inner, gk, from.Namespace); c.refers(to, from) {
				c.port(to, inner.Field("port"))
			}
		case "clientSecretRef", "secretRef":
			c.refers(refOf(inner, secretKind, from.Namespace), from)
		case "configMapRef":
			c.refers(refOf(inner, configMapKind, from.Namespace), from)
		default:
			c.backends(inner, from)
		}
	}
	for _, inner := range v.Items {
		c.backends(inner, from)
	}
}

// refers reports whether a reference is good.
func (c *check) refers(to, from model.Ref) bool {
	if !c.permitted(from.GroupKind(), from.Namespace, to) {
		c.fault("missing reference grant: %s refers to %s", from, to)
		return false
	}
	return c.exists(to, "spec")
}

// port judges the port of a reference to a backend: a Service must have it, and a Backend is named without one.
func (c *check) port(to model.Ref, port model.Body) {
	number, ok := port.Value().(int64)
	o := c.in.Get(to)
	switch {
	case !ok || o == nil:
	case to.GroupKind() == model.GroupKind{Group: group, Kind: "Backend"}:
		c.fault("%s must be named without a port", to)
	case to.GroupKind() == serviceKind:
		for _, p := range o.Body.At("spec", "ports").Items {
			if p.Field("port").Value() == number {
				return
			}
		}
		c.fault("%s has no port %d", to, number)
	}
}

// basicAuth judges users that are written out: only SHA hashes are understood, and no user may come twice.
func (c *check) basicAuth(auth model.Body) {
	if auth.IsNull() || !auth.Field("disable").IsNull() {
		return
	}
	users := auth.Field("users")
	if users.Len() == 0 {
		if ref := auth.Field("secretRef"); !ref.IsNull() {
			c.secret(ref, trafficKind, c.policy.Object.Ref.Namespace, "spec", "basicAuth", "secretRef")
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
				c.fault("basic auth: user %q has no {SHA} hash", name)
			case seen[name]:
				c.fault("basic auth: user %q is there twice", name)
			default:
				seen[name] = true
			}
		}
	}
}
