package load

import (
	"slices"

	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"
	gatewayxv1alpha1 "sigs.k8s.io/gateway-api/apisx/v1alpha1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// newScopeLookup returns a function that tells which kinds have no namespace: those built in, those
// the caller names, and those whose definitions are among the objects.
func newScopeLookup(objects []*model.Object, named []model.GroupKind) func(model.GroupKind) bool {
	cluster := map[model.GroupKind]bool{}
	for _, gk := range named {
		cluster[gk] = true
	}
	for _, gk := range ClusterScopedKinds(objects) {
		cluster[gk] = true
	}
	return func(gk model.GroupKind) bool { return cluster[gk] || isBuiltinClusterScoped(gk) }
}

// ClusterScopedKinds lists the kinds without namespace that the CustomResourceDefinitions among the
// objects define, in their order.
func ClusterScopedKinds(objects []*model.Object) []model.GroupKind {
	var out []model.GroupKind
	for _, o := range objects {
		if gk, ok := o.DefinedKind(); ok && o.Text("spec", "scope") == "Cluster" {
			out = append(out, gk)
		}
	}
	return out
}

// isBuiltinClusterScoped reports whether a kind of Kubernetes or of the Gateway API has no
// namespace.
func isBuiltinClusterScoped(gk model.GroupKind) bool {
	var kinds []string
	switch gk.Group {
	case "":
		kinds = []string{"Namespace", "Node", "PersistentVolume"}
	case gatewayv1.GroupName:
		kinds = []string{"GatewayClass"}
	case gatewayxv1alpha1.GroupName:
		kinds = []string{"XMesh"}
	case "apiextensions.k8s.io":
		kinds = []string{"CustomResourceDefinition"}
	case "apiregistration.k8s.io":
		kinds = []string{"APIService"}
	case "rbac.authorization.k8s.io":
		kinds = []string{"ClusterRole", "ClusterRoleBinding"}
	case "storage.k8s.io":
		kinds = []string{"CSIDriver", "CSINode", "StorageClass", "VolumeAttachment", "VolumeAttributesClass"}
	case "admissionregistration.k8s.io":
		kinds = []string{
			"MutatingAdmissionPolicy", "MutatingAdmissionPolicyBinding", "MutatingWebhookConfiguration",
			"ValidatingAdmissionPolicy", "ValidatingAdmissionPolicyBinding", "ValidatingWebhookConfiguration",
		}
	case "cert-manager.io":
		kinds = []string{"ClusterIssuer"}
	case "scheduling.k8s.io":
		kinds = []string{"PriorityClass"}
	case "node.k8s.io":
		kinds = []string{"RuntimeClass"}
	case "networking.k8s.io":
		kinds = []string{"IPAddress", "IngressClass", "ServiceCIDR"}
	case "certificates.k8s.io":
		kinds = []string{"CertificateSigningRequest", "ClusterTrustBundle"}
	case "flowcontrol.apiserver.k8s.io":
		kinds = []string{"FlowSchema", "PriorityLevelConfiguration"}
	}
	return slices.Contains(kinds, gk.Kind)
}

// assignNamespace gives o the namespace it belongs to, and reports whether that was assumed.
func assignNamespace(o *model.Object, cluster bool, namespace string) (assumed bool) {
	switch {
	case cluster:
		o.Ref.Namespace = ""
		return false
	case o.Ref.Namespace != "":
		return false
	}
	o.Ref.Namespace = namespace
	return true
}
