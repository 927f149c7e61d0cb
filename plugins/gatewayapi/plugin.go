// Package gatewayapi describes the policy kinds of the Gateway API itself.
package gatewayapi

import (
	"embed"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

// Plugin describes the Gateway API's own kinds to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "gatewayapi", Kinds: kinds, Schemas: schemas,
		Types: map[string]any{"Service": corev1.Service{}, "ConfigMap": corev1.ConfigMap{},
			"Namespace": corev1.Namespace{}, "Ingress.networking.k8s.io": networkingv1.Ingress{},
			"IngressClass.networking.k8s.io": networkingv1.IngressClass{}},
		Status: status.Functions{Writers: map[string]status.Writer{"gatewayapi.BackendTLS": backendTLSAncestors,
			"gatewayapi.Direct": directAncestors, "gatewayapi.Telemetry": telemetryAncestors,
			"gatewayapi.Access": accessAncestors}},
		Reading: descriptor.Reading{Normalize: map[string]policy.Normalizer{"gatewayapi.Access": nameAccessPolicy}},
		Judging: descriptor.Judging{Sites: map[string]policy.CheckMaker{"gatewayapi.Access": newAccessCheck}}}
}
