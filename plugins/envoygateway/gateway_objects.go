package envoygateway

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// nameInGatewayNamespace returns how the controller calls the proxy of a Gateway where it is told to
// run proxies beside their Gateways, which the input seldom says.
func nameInGatewayNamespace(gateway *model.Object, _ string) []string {
	return []string{gateway.Ref.Name}
}

// nameInOwnNamespace returns how it calls the proxy in its own namespace: of the Gateway, or of its
// class where the Gateways of the class are merged.
func nameInOwnNamespace(gateway *model.Object) []string {
	out := []string{hashProxyName(gateway.Ref.Namespace + "/" + gateway.Ref.Name)}
	if class := gateway.Text("spec", "gatewayClassName"); class != "" {
		out = append(out, hashProxyName(class))
	}
	return out
}

const maxProxyName = 48 // of the part before the hash

// hashProxyName returns the name of the proxy of a Gateway, or of the Gateways of a class.
func hashProxyName(of string) string {
	name, hash := strings.ReplaceAll(of, "/", "-"), sha256.Sum256([]byte(of))
	if len(name) > maxProxyName {
		name = strings.TrimSuffix(name[:maxProxyName], "-")
	}
	return "envoy-" + name + "-" + hex.EncodeToString(hash[:])[:8]
}

// findNamedByProxies tells which Services and workloads EnvoyProxies have the controller make under
// names of their own.
func findNamedByProxies(in *model.Snapshot, made func(object, by model.Ref)) {
	for _, o := range in.OfKind(model.GroupKind{Group: policyGroup, Kind: "EnvoyProxy"}) {
		kubernetes := o.Body.At("spec", "provider", "kubernetes")
		for field, gk := range map[string]model.GroupKind{"envoyService": {Kind: "Service"},
			"envoyServiceAccount": {Kind: "ServiceAccount"}, "envoyDeployment": {Group: "apps", Kind: "Deployment"},
			"envoyDaemonSet": {Group: "apps", Kind: "DaemonSet"}} {
			if name := kubernetes.At(field, "name").Text(); name != "" {
				made(model.Ref{Group: gk.Group, Kind: gk.Kind, Name: name}, o.Ref)
			}
		}
	}
}
