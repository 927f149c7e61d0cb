package reference

import (
	"encoding/base64"
	"encoding/pem"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

var (
	secretKind      = model.GroupKind{Group: gatewayapi.CoreGroup, Kind: "Secret"}
	configMapKind   = model.GroupKind{Group: gatewayapi.CoreGroup, Kind: "ConfigMap"}
	trustBundleKind = model.GroupKind{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}
)

// CertificateFlaw is what is wrong with an object that a reference takes for a certificate
// (gatewayapi G58). The API's reasons are made from it: they differ between listeners, Gateways and
// policies.
type CertificateFlaw string

// The flaws, in the order in which they are looked for. Of one with WithheldCertificate it is not
// known whether it has another.
const (
	NoFlaw                CertificateFlaw = ""
	WithheldCertificate   CertificateFlaw = "withheld"
	WrongCertificateKind  CertificateFlaw = "wrong kind"
	MissingCertificate    CertificateFlaw = "missing"
	IncompleteCertificate CertificateFlaw = "incomplete" // a key is not there
	MalformedCertificate  CertificateFlaw = "malformed"  // what is there is not PEM
)

// Certificates tells what the input has of Secrets and other objects with certificates.
type Certificates struct {
	In            *model.Snapshot
	ChecksContent bool // whether what is no PEM is a flaw for Authority
}

// CheckKeyPair looks for a flaw of what should be a certificate with its key. The text says what it
// is.
func (c Certificates) CheckKeyPair(ref model.Ref) (CertificateFlaw, string) {
	if ref.GroupKind() != secretKind {
		return WrongCertificateKind, ref.String() + " is no Secret"
	}
	o, flaw, what := c.findObject(ref)
	if o == nil {
		return flaw, what
	}
	for _, key := range [...]string{"tls.crt", "tls.key"} {
		switch entry := o.Body.At("data", key); { // what reading leaves of a Secret: facts about each key
		case entry.IsNull():
			return IncompleteCertificate, ref.String() + " has no " + key
		case key == "tls.crt" && entry.Get("pem") != true: // keys are often withheld, or stand-ins
			return MalformedCertificate, key + " of " + ref.String() + " is not PEM"
		}
	}
	return NoFlaw, ""
}

// CheckAuthority looks for a flaw of what should be the certificates of authorities. A Secret may do
// for an implementation; a ClusterTrustBundle is as a ConfigMap (GEP-5075); others are no place for
// certificates.
func (c Certificates) CheckAuthority(ref model.Ref) (CertificateFlaw, string) {
	switch gk := ref.GroupKind(); gk {
	case configMapKind:
	case trustBundleKind:
		return c.checkTrustBundle(ref)
	case secretKind:
		return WithheldCertificate, "whether kind " + gk.String() +
			" may hold certificates of authorities is up to the implementation"
	default:
		return WrongCertificateKind, "kind " + gk.String() + " holds no certificates of authorities"
	}
	o, flaw, what := c.findObject(ref)
	if o == nil {
		return flaw, what
	}
	text, binary := o.Body.At("data", "ca.crt"), o.Body.At("binaryData", "ca.crt")
	raw := []byte(text.Text())
	if text.IsNull() {
		raw, _ = base64.StdEncoding.DecodeString(binary.Text()) // what is no base64 is no PEM either
	}
	switch block, _ := pem.Decode(raw); {
	case text.IsNull() && binary.IsNull():
		return IncompleteCertificate, ref.String() + " has no ca.crt"
	case block == nil:
		return MalformedCertificate, "ca.crt of " + ref.String() + " is not PEM"
	}
	return NoFlaw, ""
}

// checkTrustBundle looks for a flaw of a ClusterTrustBundle, which belongs to no namespace.
func (c Certificates) checkTrustBundle(ref model.Ref) (CertificateFlaw, string) {
	ref.Namespace = ""
	o, flaw, what := c.findObject(ref)
	if o == nil {
		return flaw, what
	}
	if block, _ := pem.Decode([]byte(o.Body.At("spec", "trustBundle").Text())); block == nil {
		return MalformedCertificate, "trustBundle of " + ref.String() + " is not PEM"
	}
	return NoFlaw, ""
}

// clusterCA is a ConfigMap that Kubernetes puts into every namespace.
const clusterCA = "kube-root-ca.crt"

// findObject returns the object, or why there is none.
func (c Certificates) findObject(ref model.Ref) (*model.Object, CertificateFlaw, string) {
	o := c.In.Get(ref)
	switch {
	case o != nil:
		return o, NoFlaw, ""
	case ref.GroupKind() == configMapKind && ref.Name == clusterCA:
		return nil, NoFlaw, ""
	}
	e := c.In.FindExistence(ref)
	secretsShown := ref.GroupKind() != secretKind || len(c.In.OfKind(secretKind)) > 0 // they are often kept out
	if e.Presence == model.Missing || e.Presence == model.NotShown && secretsShown {
		return nil, MissingCertificate, ref.String() + " does not exist"
	}
	return nil, WithheldCertificate, e.Why
}
