// Package nginx describes the policy kinds of NGINX Gateway Fabric.
package nginx

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
)

//go:embed kinds.json
var kinds []byte

const (
	group        = "gateway.nginx.org"
	gatewayGroup = "gateway.networking.k8s.io"
	controller   = "gateway.nginx.org/nginx-gateway-controller"
)

var grantKind = model.GroupKind{Group: gatewayGroup, Kind: "ReferenceGrant"}

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "nginx", Kinds: kinds, Gates: gates(),
		Reading:   descriptor.Reading{Normalize: map[string]policy.Normalizer{"nginx.CoreGroup": coreGroup, "nginx.Named": named}},
		Attaching: descriptor.Attaching{Path: map[string]policy.Step{"nginx.Valid": validStep}},
		Merging: descriptor.Merging{Plans: map[string]func(model.Settings) merge.PlanFunc{
			"nginx.Limits":   func(model.Settings) merge.PlanFunc { return limits },
			"nginx.Snippets": func(model.Settings) merge.PlanFunc { return snippets }}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"nginx.Buffers": buffers, "nginx.Methods": methods},
			Sites:  map[string]policy.SiteCheck{"nginx.Overlap": overlap, "nginx.Telemetry": telemetry, "nginx.Firewall": firewall, "nginx.Backends": backends, "nginx.Unused": unused},
			Lints:  map[string]policy.Lint{"nginx.LimitsInferred": limitsInferred}},
		Status: status.Functions{Writers: map[string]status.Writer{"nginx.Conditions": conditions}, Markers: map[string]status.Marker{"nginx.Marks": marks}}}
}
