package topology

import (
	"cmp"
	"encoding/base64"
	"encoding/pem"
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

var (
	secretKind      = model.GroupKind{Group: coreGroup, Kind: "Secret"}
	configMapKind   = model.GroupKind{Group: coreGroup, Kind: "ConfigMap"}
	trustBundleKind = model.GroupKind{Group: "certificates.k8s.io", Kind: "ClusterTrustBundle"}
)

// Flaw is what is wrong with an object that a reference takes for a certificate (gatewayapi G58). The API's reasons are made from it: they
// differ between listeners, Gateways and policies.
type Flaw string

// The flaws, in the order in which they are looked for. Of one with WithheldCertificate it is not known whether it has another.
const (
	NoFlaw                Flaw = ""
	WithheldCertificate   Flaw = "withheld"
	WrongCertificateKind  Flaw = "wrong kind"
	MissingCertificate    Flaw = "missing"
	IncompleteCertificate Flaw = "incomplete" // a key is not there
	MalformedCertificate  Flaw = "malformed"  // what is there is not PEM
)

// certificates tells what the input has of Secrets and other objects with certificates.
type certificates struct {
	in     *model.Snapshot
	covers coverage
	made   map[model.Ref]model.Ref // objects that need not be in the input, and what makes them
	check  bool                    // whether what is no PEM is a flaw for Authority
}

// keyPair looks for a flaw of what should be a certificate with its key. The text says what it is.
func (c certificates) keyPair(ref model.Ref) (Flaw, string) {
	if ref.GroupKind() != secretKind {
		return WrongCertificateKind, ref.String() + " is no Secret"
	}
	o, flaw, what := c.find(ref)
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

// authority looks for a flaw of what should be the certificates of authorities. A Secret or a bundle of the cluster may do for an
// implementation; others are no place for certificates.
func (c certificates) authority(ref model.Ref) (Flaw, string) {
	switch gk := ref.GroupKind(); gk {
	case configMapKind:
	case secretKind, trustBundleKind:
		return WithheldCertificate, "whether kind " + gk.String() + " may hold certificates of authorities is up to the implementation"
	default:
		return WrongCertificateKind, "kind " + gk.String() + " holds no certificates of authorities"
	}
	o, flaw, what := c.find(ref)
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

// clusterCA is a ConfigMap that Kubernetes puts into every namespace.
const clusterCA = "kube-root-ca.crt"

// find is the object, or why there is none.
func (c certificates) find(ref model.Ref) (*model.Object, Flaw, string) {
	o := c.in.Get(ref)
	switch {
	case o != nil:
		return o, NoFlaw, ""
	case ref.GroupKind() == configMapKind && ref.Name == clusterCA:
		return nil, NoFlaw, ""
	}
	if by, made := c.maker(ref); made {
		return nil, WithheldCertificate, by.String() + " makes " + ref.String()
	}
	if c.complete(ref.GroupKind(), ref.Namespace) {
		return nil, MissingCertificate, ref.String() + " does not exist"
	}
	return nil, WithheldCertificate, ref.String() + " is not in the input"
}

// complete reports whether all Secrets or ConfigMaps of a namespace are in the input, so that others do not exist. Neither is read from
// clusters. Manifests show a namespace by its Namespace, a Service (gatewayapi G36) or an object of the kind; but Secrets are often kept
// out of them, so that at least one must be there (G58).
func (c certificates) complete(gk model.GroupKind, namespace string) bool {
	all := c.in.Of(gk)
	if c.covers.cluster != nil || gk == secretKind && len(all) == 0 {
		return false
	}
	_, shown := c.covers.shown[namespace]
	if !shown {
		_, shown = slices.BinarySearchFunc(all, namespace, func(o *model.Object, ns string) int { return cmp.Compare(o.Ref.Namespace, ns) })
	}
	return shown
}

// Authority looks for a flaw of an object that should hold certificates of authorities in a key ca.crt (gatewayapi G58). The text says
// what it is. A missing key is one whatever the settings say, a value that is not PEM only with CheckCertificates.
func (g *Graph) Authority(ref model.Ref) (Flaw, string) {
	flaw, what := g.certificates.authority(ref)
	if flaw == MalformedCertificate && !g.certificates.check {
		return NoFlaw, ""
	}
	return flaw, what
}

// withheld is what a cluster withholds of a reference: the object, or even whether a grant permits it.
type withheld int

const (
	noGap withheld = iota
	objectGap
	grantGap
)

// use is what a list of references to certificates is for: how they are looked at, and the API's reasons.
type use struct {
	look          func(certificates, model.Ref) (Flaw, string)
	kind          string // used where a reference leaves its kind out
	wrong, broken string
}

var (
	serverUse    = use{look: certificates.keyPair, kind: "Secret", wrong: string(gatewayv1.ListenerReasonInvalidCertificateRef), broken: string(gatewayv1.ListenerReasonInvalidCertificateRef)}
	clientUse    = use{look: certificates.keyPair, kind: "Secret", wrong: string(gatewayv1.GatewayReasonInvalidClientCertificateRef), broken: string(gatewayv1.GatewayReasonInvalidClientCertificateRef)}
	authorityUse = use{look: certificates.authority, wrong: string(gatewayv1.ListenerReasonInvalidCACertificateKind), broken: string(gatewayv1.ListenerReasonInvalidCACertificateRef)}
)

// certifier judges references to certificates.
type certifier struct {
	*draft
	certificates certificates
}

// refer judges a reference from owner, the object that holds it: a grant for one kind of owner is none for another (gatewayapi G33).
// The order is that of G58: grant, kind, existence, content. Zero is a good one; one without a Reason is not known to be good.
func (c *certifier) refer(owner model.Ref, v model.Body, at fieldPosition, u use) Unresolved {
	f := c.entry(v, at)
	to := f.reference(model.Ref{Kind: u.kind, Namespace: owner.Namespace})
	if f.bad || to.Name == "" {
		return Unresolved{Reason: u.broken, Message: at.String() + " names no object"}
	}
	if !c.grants.allow(owner.GroupKind(), owner.Namespace, to) {
		if c.covers.withheld(grantKind, to.Namespace) {
			return Unresolved{Message: "the ReferenceGrants in namespace " + to.Namespace + " may not be read", gap: grantGap}
		}
		p := model.Problem{
			Severity: model.Warning, Code: model.RefNotPermitted,
			Message: at.String() + " refers to " + to.String() + ", and no ReferenceGrant permits that",
			Hint:    grantHint(owner.GroupKind(), owner.Namespace, to),
		}
		c.problem(p, at.object, at.path()...)
		return Unresolved{Reason: string(gatewayv1.ListenerReasonRefNotPermitted), Message: p.Message}
	}
	flaw, what := u.look(c.certificates, to)
	switch flaw {
	case NoFlaw:
		return Unresolved{}
	case WithheldCertificate:
		name := to.String()
		if by, made := c.certificates.maker(to); made {
			name += " (made by " + by.String() + ")"
		}
		c.noteName(topic{what: certificateWithheld}, name, nil)
		if c.covers.withheld(to.GroupKind(), to.Namespace) {
			return Unresolved{Message: what, gap: objectGap}
		}
		return Unresolved{Message: what}
	case WrongCertificateKind:
		return Unresolved{Reason: u.wrong, Message: what}
	case IncompleteCertificate, MalformedCertificate:
		if !c.certificates.check {
			c.noteName(topic{what: contentNotChecked}, to.String(), nil)
			return Unresolved{}
		}
	}
	return Unresolved{Reason: u.broken, Message: what}
}

// references is what became of a list of references to certificates: one bad one is enough, and the first of those in document order has
// the say.
type references struct {
	Unresolved
	given, good bool   // there is one; one of them is known to be good
	unknown     string // why one of them is not known to be good or bad; "" if all are
}

// broken reports whether there are references and all of them are known to be bad.
func (r references) broken() bool { return r.given && !r.good && r.unknown == "" }

func (c *certifier) referAll(owner model.Ref, list model.Body, at fieldPosition, u use) references {
	rs := references{given: list.Len() > 0}
	for i, v := range list.Items {
		one := c.refer(owner, v, at.entry(i), u)
		rs.Unresolved = rs.or(one)
		rs.good = rs.good || one == (Unresolved{})
		if one.Reason == "" && rs.unknown == "" {
			rs.unknown = one.Message
		}
	}
	return rs
}

// or is u, or else what also is not resolved: known trouble comes before what is not known.
func (u Unresolved) or(also Unresolved) Unresolved {
	out := u
	if u.Reason == "" && (also.Reason != "" || u.Message == "") {
		out = also
	}
	out.gap = max(u.gap, also.gap)
	return out
}
