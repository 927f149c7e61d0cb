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

// CertificateFlaw is what is wrong with an object that a reference takes for a certificate
// (gatewayapi G58). The API's reasons are made from it: they differ between listeners, Gateways and
// policies.
type CertificateFlaw string

// The flaws, in the order in which they are looked for. Of one with WithheldCertificate it is not known whether it has another.
const (
	NoFlaw                CertificateFlaw = ""
	WithheldCertificate   CertificateFlaw = "withheld"
	WrongCertificateKind  CertificateFlaw = "wrong kind"
	MissingCertificate    CertificateFlaw = "missing"
	IncompleteCertificate CertificateFlaw = "incomplete" // a key is not there
	MalformedCertificate  CertificateFlaw = "malformed"  // what is there is not PEM
)

// certificateStore tells what the input has of Secrets and other objects with certificates.
type certificateStore struct {
	in       *model.Snapshot
	coverage coverage
	makers   map[model.Ref]model.Ref // objects that need not be in the input, and what makes them
	check    bool                    // whether what is no PEM is a flaw for Authority
}

// checkKeyPair looks for a flaw of what should be a certificate with its key. The text says what it
// is.
func (c certificateStore) checkKeyPair(ref model.Ref) (CertificateFlaw, string) {
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

// checkAuthority looks for a flaw of what should be the certificates of authorities. A Secret or a
// bundle of the cluster may do for an implementation; others are no place for certificates.
func (c certificateStore) checkAuthority(ref model.Ref) (CertificateFlaw, string) {
	switch gk := ref.GroupKind(); gk {
	case configMapKind:
	case secretKind, trustBundleKind:
		return WithheldCertificate, "whether kind " + gk.String() + " may hold certificates of authorities is up to the implementation"
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

// clusterCA is a ConfigMap that Kubernetes puts into every namespace.
const clusterCA = "kube-root-ca.crt"

// findObject returns the object, or why there is none.
func (c certificateStore) findObject(ref model.Ref) (*model.Object, CertificateFlaw, string) {
	o := c.in.Get(ref)
	switch {
	case o != nil:
		return o, NoFlaw, ""
	case ref.GroupKind() == configMapKind && ref.Name == clusterCA:
		return nil, NoFlaw, ""
	}
	if by, made := c.makerOf(ref); made {
		return nil, WithheldCertificate, by.String() + " makes " + ref.String()
	}
	if c.isComplete(ref.GroupKind(), ref.Namespace) {
		return nil, MissingCertificate, ref.String() + " does not exist"
	}
	return nil, WithheldCertificate, ref.String() + " is not in the input"
}

// isComplete reports whether all Secrets or ConfigMaps of a namespace are in the input, so that
// others do not exist. Neither is read from clusters. Manifests show a namespace by its Namespace,
// a Service (gatewayapi G36) or an object of the kind; but Secrets are often kept out of them, so
// that at least one must be there (G58).
func (c certificateStore) isComplete(gk model.GroupKind, namespace string) bool {
	all := c.in.OfKind(gk)
	if c.coverage.cluster != nil || gk == secretKind && len(all) == 0 {
		return false
	}
	_, shown := c.coverage.namespaces[namespace]
	if !shown {
		_, shown = slices.BinarySearchFunc(all, namespace, func(o *model.Object, ns string) int { return cmp.Compare(o.Ref.Namespace, ns) })
	}
	return shown
}

// CheckAuthority looks for a flaw of an object that should hold certificates of authorities in a
// key ca.crt (gatewayapi G58). The text says what it is. A missing key is one whatever the settings
// say, a value that is not PEM only with CheckCertificates.
func (g *Graph) CheckAuthority(ref model.Ref) (CertificateFlaw, string) {
	flaw, what := g.parts.Certificates.checkAuthority(ref)
	if flaw == MalformedCertificate && !g.parts.Certificates.check {
		return NoFlaw, ""
	}
	return flaw, what
}

// gapKind is what a cluster withholds of a reference: the object, or even whether a grant permits
// it.
type gapKind int

const (
	noGap gapKind = iota
	objectGap
	grantGap
)

// certificateUse is what a list of references to certificates is for: how they are checked, and the
// API's reasons.
type certificateUse struct {
	check                         func(certificateStore, model.Ref) (CertificateFlaw, string)
	kind                          string // used where a reference leaves its kind out
	wrongKindReason, brokenReason string
}

var (
	serverUse    = certificateUse{check: certificateStore.checkKeyPair, kind: "Secret", wrongKindReason: string(gatewayv1.ListenerReasonInvalidCertificateRef), brokenReason: string(gatewayv1.ListenerReasonInvalidCertificateRef)}
	clientUse    = certificateUse{check: certificateStore.checkKeyPair, kind: "Secret", wrongKindReason: string(gatewayv1.GatewayReasonInvalidClientCertificateRef), brokenReason: string(gatewayv1.GatewayReasonInvalidClientCertificateRef)}
	authorityUse = certificateUse{check: certificateStore.checkAuthority, wrongKindReason: string(gatewayv1.ListenerReasonInvalidCACertificateKind), brokenReason: string(gatewayv1.ListenerReasonInvalidCACertificateRef)}
)

// certificateJudge judges references to certificates.
type certificateJudge struct {
	*draft
	certificates certificateStore
}

// judgeCertificate judges a reference from owner, the object that holds it: a grant for one kind of
// owner is none for another (gatewayapi G33). The order is that of G58: grant, kind, existence,
// content. Zero is a good one; one without a Reason is not known to be good.
func (c *certificateJudge) judgeCertificate(owner model.Ref, v model.Body, at fieldPosition, u certificateUse) Unresolved {
	f := c.readEntry(v, at)
	to := f.readReference(model.Ref{Kind: u.kind, Namespace: owner.Namespace})
	if f.bad || to.Name == "" {
		return Unresolved{Reason: u.brokenReason, Message: at.String() + " names no object"}
	}
	if !c.grants.isAllowed(owner.GroupKind(), owner.Namespace, to) {
		if c.coverage.isWithheld(grantKind, to.Namespace) {
			return Unresolved{Message: "the ReferenceGrants in namespace " + to.Namespace + " may not be read", gap: grantGap}
		}
		p := model.Problem{
			Severity: model.Warning, Code: model.RefNotPermitted,
			Message: at.String() + " refers to " + to.String() + ", and no ReferenceGrant permits that",
			Hint:    grantHint(owner.GroupKind(), owner.Namespace, to),
		}
		c.addProblem(p, at.object, at.fromRoot()...)
		return Unresolved{Reason: string(gatewayv1.ListenerReasonRefNotPermitted), Message: p.Message}
	}
	flaw, what := u.check(c.certificates, to)
	switch flaw {
	case NoFlaw:
		return Unresolved{}
	case WithheldCertificate:
		name := to.String()
		if by, made := c.certificates.makerOf(to); made {
			name += " (made by " + by.String() + ")"
		}
		c.addNamedNote(noteTopic{kind: certificateWithheld}, name, nil)
		if c.coverage.isWithheld(to.GroupKind(), to.Namespace) {
			return Unresolved{Message: what, gap: objectGap}
		}
		return Unresolved{Message: what}
	case WrongCertificateKind:
		return Unresolved{Reason: u.wrongKindReason, Message: what}
	case IncompleteCertificate, MalformedCertificate:
		if !c.certificates.check {
			c.addNamedNote(noteTopic{kind: contentNotChecked}, to.String(), nil)
			return Unresolved{}
		}
	}
	return Unresolved{Reason: u.brokenReason, Message: what}
}

// certificateRefs is what became of a list of references to certificates: one bad one is enough,
// and the first of those in document order decides.
type certificateRefs struct {
	Unresolved
	given, good bool   // there is one; one of them is known to be good
	unknown     string // why one of them is not known to be good or bad; "" if all are
}

// isBroken reports whether there are references and all of them are known to be bad.
func (r certificateRefs) isBroken() bool { return r.given && !r.good && r.unknown == "" }

func (c *certificateJudge) judgeCertificates(owner model.Ref, list model.Body, at fieldPosition, u certificateUse) certificateRefs {
	rs := certificateRefs{given: list.Len() > 0}
	for i, v := range list.Items {
		one := c.judgeCertificate(owner, v, at.atEntry(i), u)
		rs.Unresolved = rs.orElse(one)
		rs.good = rs.good || one == (Unresolved{})
		if one.Reason == "" && rs.unknown == "" {
			rs.unknown = one.Message
		}
	}
	return rs
}

// orElse returns u, or else what also is not resolved: known trouble comes before what is not
// known.
func (u Unresolved) orElse(also Unresolved) Unresolved {
	out := u
	if u.Reason == "" && (also.Reason != "" || u.Message == "") {
		out = also
	}
	out.gap = max(u.gap, also.gap)
	return out
}
