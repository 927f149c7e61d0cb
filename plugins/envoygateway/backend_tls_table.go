package envoygateway

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/gatewayapi"
)

// tlsTable tells which BackendTLSPolicy the controller takes for a backend: the first in its order,
// whether or not the policy is in conflict about another target.
type tlsTable map[model.Ref]*model.Object

// newTLSTable reads the targets of policies, which come in the controller's order.
func newTLSTable(policies []*model.Object) tlsTable {
	out := tlsTable{}
	for _, o := range policies {
		for _, ref := range listTargets(o) {
			if out[ref] == nil {
				out[ref] = o
			}
		}
	}
	return out
}

// policyFor is the policy for a backend and its port: one for the port goes before one for the
// object. It is nil if there is none.
func (t tlsTable) policyFor(to model.Ref) *model.Object {
	if o := t[to]; o != nil {
		return o
	}
	return t[to.WithoutSection()]
}

// judgeBackend finds out whether the controller has the certificates of authorities by which a
// backend is verified: those that a Backend names itself, and those of its policy.
func (t tlsTable) judgeBackend(in *model.Snapshot, b topology.BackendRef) authorityFault {
	var out authorityFault
	if o := in.Get(b.Ref.WithoutSection()); o != nil && o.Ref.GroupKind() == backendKind {
		tls := o.Body.At("spec", "tls")
		if tls.Field("caCertificateRefs").Len() > 0 && tls.Field("insecureSkipVerify").Value() != true {
			out = judgeAuthorities(o.Ref.Namespace, tls, in)
		}
	}
	if policy := t.policyFor(namePort(in, b.Ref, int64(b.Port), b.Port != 0)); policy != nil && out.reason == "" {
		if fault := judgeAuthorities(policy.Ref.Namespace, policy.Body.At("spec", "validation"), in); fault.message != "" {
			out = fault
		}
	}
	return out
}

// namePort is what a reference to a backend with a port means, with the name of the port for a
// section; a Backend's ports have numbers.
func namePort(in *model.Snapshot, ref model.Ref, port int64, numbered bool) model.Ref {
	ref.Section = ""
	if !numbered {
		return ref
	}
	if !gatewayapi.ListsPorts(ref.GroupKind()) {
		ref.Section = strconv.FormatInt(port, 10)
		return ref
	}
	if o := in.Get(ref); o != nil {
		for _, p := range o.Body.At("spec", "ports").Items {
			if p.Field("port").Value() == port && ref.Section == "" {
				ref.Section = p.Text("name")
			}
		}
	}
	return ref
}

// authorityFault is what the controller holds against the certificates of authorities of a
// BackendTLSPolicy.
type authorityFault struct {
	reason  string // of ResolvedRefs; "": there is nothing against them
	message string
	unknown bool // whether there is something cannot be told
}

// judgeAuthorities finds out whether the controller has the certificates that the settings of a
// BackendTLSPolicy or a Backend name: all of those of kinds that it knows have to be there, and one has to be of such a kind. It
// takes the key ca.crt, else tls.crt, else the only one, and does not look at what is there.
func judgeAuthorities(namespace string, validation model.Body, in *model.Snapshot) authorityFault {
	if validation.Text("wellKnownCACertificates") == "System" {
		return authorityFault{}
	}
	supported := false
	var open authorityFault
	for _, ref := range validation.Field("caCertificateRefs").Items {
		to := model.Ref{Kind: ref.Text("kind"), Namespace: namespace, Name: ref.Text("name")}
		where := fmt.Sprintf(" %s not found in namespace %s", to.Name, to.Namespace)
		word := ""
		switch to.Kind {
		case "ConfigMap":
			word = "configmap"
		case "Secret":
			word = "secret"
		case "ClusterTrustBundle":
			word, where = "cluster trust bundle", fmt.Sprintf(" %s not found", to.Name)
			to.Group, to.Namespace = "certificates.k8s.io", ""
		default:
			continue
		}
		supported = true
		found := in.Get(to)
		if found == nil {
			switch e := in.FindExistence(to); {
			case e.Presence == model.Missing, e.Presence == model.NotShown && (to.Kind != "Secret" ||
				len(in.OfKind(to.GroupKind())) > 0): // Secrets are often kept out
				if to.Kind == "ConfigMap" && to.Name == "kube-root-ca.crt" {
					continue // Kubernetes puts it into every namespace
				}
				return authorityFault{reason: "InvalidCACertificateRef", message: word + where}
			case e.Presence != model.Present && open.message == "":
				open = authorityFault{message: e.Why, unknown: true}
			}
			continue
		}
		data := found.Body.Field("data")
		if word != "cluster trust bundle" && !data.Has("ca.crt") && !data.Has("tls.crt") && countFields(data) != 1 {
			return authorityFault{reason: "InvalidCACertificateRef",
				message: fmt.Sprintf("no ca found in %s %s", word, to.Name)}
		}
	}
	if !supported {
		return authorityFault{reason: "InvalidKind",
			message: "Unsupported reference kind, supported kinds are ConfigMap, Secret, and ClusterTrustBundle in caCertificateRefs"}
	}
	return open
}

func countFields(b model.Body) int {
	n := 0
	for range b.Fields {
		n++
	}
	return n
}

// checkBackendTLS finds fault with a BackendTLSPolicy without certificates of authorities: the
// routes to its backends answer 500, and no other policy takes its place.
func checkBackendTLS(p *policy.Policy, in *model.Snapshot) (string, []model.Problem) {
	if fault := judgeAuthorities(p.Ref().Namespace, p.Object.Body.At("spec", "validation"), in); fault.reason != "" {
		return fault.message, nil
	}
	return "", nil
}

// listBackendTLS lists the BackendTLSPolicies that the API server takes, in the controller's order.
func listBackendTLS(in *model.Snapshot) []*model.Object {
	return sortByAge(slices.DeleteFunc(slices.Clone(in.OfKind(backendTLSKind)),
		func(o *model.Object) bool { return in.IsRefused(o.Ref) }))
}

var backendTLSKind = model.GroupKind{Group: gatewayGroup, Kind: "BackendTLSPolicy"}
