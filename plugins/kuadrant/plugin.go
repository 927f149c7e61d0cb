// Package kuadrant describes the policy kinds of Kuadrant.
package kuadrant

import (
	_ "embed" // kinds.json

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

//go:embed kinds.json
var kinds []byte

// Plugin hands the vendor over.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "kuadrant", Kinds: kinds, Gates: gates(),
		Reading: descriptor.Reading{
			Auto:    map[string]descriptor.Auto{"kuadrant.Profile": profile},
			Readers: map[string]policy.BlockReader{"kuadrant.Designs": readDesign}},
		Attaching: descriptor.Attaching{
			Links: []topology.Linker{link},
			Path:  map[string]policy.Step{"kuadrant.ValidPath": validStep}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"kuadrant.Issuer": issuer},
			Advice: map[string]policy.Advice{"kuadrant.Advice": advice},
			Lints: map[string]policy.Lint{"kuadrant.OperatorIgnores": ignored, "kuadrant.SameTarget": sameTarget,
				"kuadrant.RulePolicyInvisible": invisible, "kuadrant.SameName": sameName}},
		Findings: []plugin.Finding{{Rule: spilledPredicate, Find: spilledPredicates}, {Rule: danglingPatternRef, Find: patternRefs}, {Rule: tokenPartial, Find: partialTokens},
			{Rule: invalidExpression, Find: unreadable}, {Rule: operatorIgnores}, {Rule: rulePolicyInvisible}, {Rule: sameNameRoutes}, {Rule: defaultLost}, {Rule: orderMatters},
			{Rule: hostnameNarrower}, {Rule: experimentalDesign}, {Rule: twoStrategies}, {Rule: constraintInDefaults}},
		Status: status.Functions{Writers: map[string]status.Writer{"kuadrant.Conditions": conditions},
			Markers: map[string]status.Marker{"kuadrant.Marks": marks, "kuadrant.RFCMarks": rfcMarks}}}
}
