package build

import (
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/manifest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/reference"
)

// invalidListenerFilterRef is the reason of ResolvedRefs=False for a filter of a listener (GEP-5224), unless
// it lacks a grant.
const invalidListenerFilterRef = "InvalidListenerFilterRef"

// checkListenerFilters judges what the request filters of listeners refer to.
func (bs *backendBuilder) checkListenerFilters(listeners *listenerTable) {
	for i := range listeners.all {
		l := &listeners.all[i]
		n := bs.nodes.Node(listeners.first + topology.NodeID(i))
		filters := n.ListenerFilters()
		if len(filters) > 0 && l.protocol != "HTTP" && l.protocol != "HTTPS" &&
			gatewayapi.IsListenerSet(n.Ref.GroupKind()) {
			bs.AddProblem(model.Problem{Severity: model.Warning, Code: model.NeverInForce, Message: n.Ref.String() +
				" has request filters, which only listeners for HTTP and HTTPS run: its protocol is " + l.protocol},
				n.Object, n.ListenerFilterPath()...)
			continue
		}
		for j, filter := range filters {
			l.refs = l.refs.OrElse(bs.checkListenerFilter(n, filter, j))
		}
	}
}

// checkListenerFilter judges what one filter refers to, and reports what cannot be used.
func (bs *backendBuilder) checkListenerFilter(n *topology.Node, filter model.Body, index int) reference.Unresolved {
	at := manifest.FormatInt(index)
	field := "filters.requests[" + at + "] of " + n.Ref.String()
	broken := func(code model.Code, reason, text, hint string) reference.Unresolved {
		bs.AddProblem(model.Problem{Severity: model.Warning, Code: code, Message: text, Hint: hint}, n.Object,
			append(n.ListenerFilterPath(), at)...)
		return reference.Unresolved{Reason: reason, Message: text}
	}
	if ref := filter.Field("extensionRef"); ref.Len() > 0 {
		to := model.Ref{Group: ref.Text("group"), Kind: ref.Text("kind"), Namespace: n.Ref.Namespace, Name: ref.Text("name")}
		if bs.references.IsKnownKind(to.GroupKind()) && !bs.references.HasObject(to) &&
			bs.references.FindExistence(to).Presence == model.Missing {
			return broken(model.TargetNotFound, invalidListenerFilterRef, field+" names "+to.String()+
				", which does not exist", "")
		}
		return reference.Unresolved{}
	}
	spec := bs.ReadEntry(filter.Field("externalAuth"), manifest.InSpec(n.Object))
	ref := spec.ReadObject("backendRef")
	to, ok := ref.ReadBackendRef()
	if !ok || !spec.HasField("backendRef") {
		return reference.Unresolved{}
	}
	_, v := bs.judgeRef(reference.Referrer{Kind: n.Ref.GroupKind(), Namespace: n.Ref.Namespace}, to.Ref)
	switch {
	case v.Reason != "":
		reason := invalidListenerFilterRef
		if v.Reason == string(gatewayv1.ListenerReasonRefNotPermitted) {
			reason = v.Reason
		}
		return broken(v.Code, reason, field+" asks for permission at "+to.Ref.String()+", "+v.Why, v.Hint)
	case v.Open != "":
		return reference.Unresolved{Message: field + " is not evaluated: " + v.Open}
	}
	return reference.Unresolved{}
}
