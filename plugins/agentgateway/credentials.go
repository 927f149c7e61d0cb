package agentgateway

import (
	"encoding/pem"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// credential is a Secret or ConfigMap from which values are taken. Of a Secret it is only known
// which keys it has, and whether they are PEM.
type credential struct{ object *model.Object }

func (c *credential) value(key string) model.Body {
	if v := c.object.Body.At("data", key); !v.IsNull() {
		return v
	}
	return c.object.Body.At("stringData", key)
}

func (c *credential) has(key string) bool { return !c.value(key).IsNull() }

func (c *credential) isPEM(key string) bool {
	v := c.value(key)
	if v.IsObject() {
		return v.Field("pem").Value() == true
	}
	block, _ := pem.Decode([]byte(v.Text()))
	return block != nil || v.Text() == model.Redacted
}

// isKeyPair reports whether there are a certificate and its key, or an authority alone.
func (c *credential) isKeyPair() bool {
	if !c.has("tls.crt") && !c.has("tls.key") && c.has("ca.crt") {
		return true
	}
	return c.isPEM("tls.crt") && c.isPEM("tls.key")
}

// findCredential finds what a reference to a credential names, and the key that it reads. It is nil
// if there is none, or if that is not known.
func (c *inspection) findCredential(v setting, defaultKey string) (found *credential, key string) {
	if v.IsNull() {
		return nil, ""
	}
	if key = v.Text("key"); key == "" {
		key = defaultKey
	}
	ref := model.Ref{Group: v.Text("group"), Kind: "Secret", Namespace: c.policy.Ref.Namespace, Name: v.Text("name")}
	if kind := v.Text("kind"); kind != "" {
		ref.Kind = kind
	}
	if ref.Group != "" || ref.Kind != "Secret" {
		c.addAssumption(v.at, "%s holds credentials in a way of its own: it is taken to have them", ref)
		return nil, key
	}
	o, known := c.findObject(ref, v.at)
	if o == nil && known {
		c.addFault(v.at, "secret %s not found", ref.FullName())
	}
	if o == nil {
		return nil, key
	}
	return &credential{o}, key
}

// requireCredential is a fault if what a reference names does not have the value.
func (c *inspection) requireCredential(v setting, defaultKey string) {
	if found, key := c.findCredential(v, defaultKey); found != nil && !found.has(key) {
		c.addFault(v.at, "secret %s/%s missing %s value", c.policy.Ref.Namespace, v.Text("name"), key)
	}
}

// findObject finds an object; if there is none, it says whether that is known.
func (c *inspection) findObject(ref model.Ref, at []string) (o *model.Object, known bool) {
	if o = c.in.Get(ref); o != nil {
		return o, true
	}
	switch e := c.in.FindExistence(ref); e.Presence {
	case model.Present: // something in the input makes it
		return nil, false
	case model.NotKnown:
		c.unread = c.unread || c.in.Cluster.IsUnreadRef(ref)
		c.addAssumption(at, "%s: it is taken to exist", e.Why)
		return nil, false
	}
	return nil, true
}
