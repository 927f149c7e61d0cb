package build

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// certificateUse is what a list of references to certificates is for: how they are checked, and the
// API's reasons.
type certificateUse struct {
	check                         func(reference.Certificates, model.Ref) (reference.CertificateFlaw, string)
	kind                          string // used where a reference leaves its kind out
	wrongKindReason, brokenReason string
}

var (
	serverUse = certificateUse{check: reference.Certificates.CheckKeyPair, kind: "Secret",
		wrongKindReason: string(gatewayv1.ListenerReasonInvalidCertificateRef), brokenReason: string(
			gatewayv1.ListenerReasonInvalidCertificateRef)}
	clientUse = certificateUse{check: reference.Certificates.CheckKeyPair, kind: "Secret",
		wrongKindReason: string(gatewayv1.GatewayReasonInvalidClientCertificateRef), brokenReason: string(
			gatewayv1.GatewayReasonInvalidClientCertificateRef)}
	authorityUse = certificateUse{check: reference.Certificates.CheckAuthority,
		wrongKindReason: string(gatewayv1.ListenerReasonInvalidCACertificateKind), brokenReason: string(
			gatewayv1.ListenerReasonInvalidCACertificateRef)}
)

// certificateJudge judges references to certificates.
type certificateJudge struct {
	*draft
	certificates reference.Certificates
	readingOf    func(owner model.Ref) gatewayapi.RefReading // of a Gateway or a ListenerSet
}

// judgeCertificate judges a reference from owner, the object that holds it: a grant for one kind of
// owner is none for another (gatewayapi G33). The order is that of G58: grant, kind, existence,
// content. Zero is a good one; one without a Reason is not known to be good.
func (c *certificateJudge) judgeCertificate(owner model.Ref, v model.Body, at manifest.Position,
	u certificateUse) reference.Unresolved {
	f := c.ReadEntry(v, at)
	to := f.ReadReference(model.Ref{Kind: u.kind, Namespace: owner.Namespace})
	if c.readingOf != nil {
		to = c.readingOf(owner).Apply(to)
	}
	if f.Bad || to.Name == "" {
		return reference.Unresolved{Reason: u.brokenReason, Message: at.String() + " names no object"}
	}
	if !c.grants.Allow(owner.GroupKind(), owner.Namespace, to) {
		if why := c.references.ExplainUnreadGrants(to.Namespace); why != "" {
			return reference.Unresolved{Message: why, Gap: reference.GrantGap}
		}
		p := model.Problem{
			Severity: model.Warning, Code: model.RefNotPermitted,
			Message: at.String() + " refers to " + to.String() + ", and no ReferenceGrant permits that",
			Hint:    reference.GrantHint(owner.GroupKind(), owner.Namespace, to),
		}
		c.AddProblem(p, at.Object, at.FromRoot()...)
		return reference.Unresolved{Reason: string(gatewayv1.ListenerReasonRefNotPermitted), Message: p.Message}
	}
	flaw, what := u.check(c.certificates, to)
	switch flaw {
	case reference.NoFlaw:
		return reference.Unresolved{}
	case reference.WithheldCertificate:
		name := to.String()
		if by, made := c.in.FindMaker(to); made {
			name += " (made by " + by.String() + ")"
		}
		c.addNamedNote(noteTopic{kind: certificateWithheld}, name, nil)
		if c.in.Cluster.IsUnread(to.GroupKind(), to.Namespace) {
			return reference.Unresolved{Message: what, Gap: reference.ObjectGap}
		}
		return reference.Unresolved{Message: what}
	case reference.WrongCertificateKind:
		return reference.Unresolved{Reason: u.wrongKindReason, Message: what}
	case reference.IncompleteCertificate, reference.MalformedCertificate:
		if !c.certificates.ChecksContent {
			c.addNamedNote(noteTopic{kind: contentNotChecked}, to.String(), nil)
			return reference.Unresolved{}
		}
	}
	return reference.Unresolved{Reason: u.brokenReason, Message: what}
}

// certificateRefs is what became of a list of references to certificates: one bad one is enough,
// and the first of those in document order decides.
type certificateRefs struct {
	reference.Unresolved
	given, good bool   // there is one; one of them is known to be good
	unknown     string // why one of them is not known to be good or bad; "" if all are
}

// isBroken reports whether there are references and all of them are known to be bad.
func (r certificateRefs) isBroken() bool { return r.given && !r.good && r.unknown == "" }

func (c *certificateJudge) judgeCertificates(owner model.Ref, list model.Body, at manifest.Position,
	u certificateUse) certificateRefs {
	rs := certificateRefs{given: list.Len() > 0}
	for i, v := range list.Items {
		one := c.judgeCertificate(owner, v, at.AtEntry(i), u)
		rs.Unresolved = rs.OrElse(one)
		rs.good = rs.good || one == (reference.Unresolved{})
		if one.Reason == "" && rs.unknown == "" {
			rs.unknown = one.Message
		}
	}
	return rs
}
