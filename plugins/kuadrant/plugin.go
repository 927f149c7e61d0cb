// Package kuadrant describes the policy kinds of Kuadrant.
package kuadrant

import (
	"embed"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
)

//go:embed kinds.json
var kinds []byte

//go:embed schemas/*/*.zip
var schemas embed.FS

// Plugin describes the vendor to the program.
func Plugin() plugin.Plugin {
	return plugin.Plugin{Name: "kuadrant", Kinds: kinds, Schemas: schemas, Gates: gateFunctions(),
		Reading: descriptor.Reading{
			Auto:    map[string]descriptor.AutoFunc{"kuadrant.Profile": chooseProfile},
			Readers: map[string]policy.BlockReader{"kuadrant.Designs": readDesign}},
		Attaching: descriptor.Attaching{
			Links: []build.Linker{addToGraph},
			Path:  map[string]policy.StepFunc{"kuadrant.ValidPath": checkStep}},
		Judging: descriptor.Judging{
			Checks: map[string]policy.Check{"kuadrant.Issuer": checkIssuer},
			Advice: map[string]policy.AdviceFunc{"kuadrant.Advice": adviseProfile},
			Lints: map[string]policy.Lint{"kuadrant.OperatorIgnores": findIgnoredListeners,
				"kuadrant.SameTarget":          findSameTarget,
				"kuadrant.RulePolicyInvisible": findInvisible, "kuadrant.SameName": findSameNames}},
		Findings: []plugin.Finding{{Rule: spilledPredicate, Find: findSpilledPredicates}, {Rule: danglingPatternRef,
			Find: findDanglingPatterns}, {Rule: tokenPartial, Find: findPartialTokens},
			{Rule: invalidExpression, Find: findInvalidExpressions}, {Rule: operatorIgnores},
			{Rule: rulePolicyInvisible}, {Rule: sameNameRoutes}, {Rule: defaultLost}, {Rule: orderMatters},
			{Rule: hostnameNarrower}, {Rule: experimentalDesign}, {Rule: twoStrategies}, {Rule: constraintInDefaults}},
		Status: status.Functions{Writers: map[string]status.Writer{"kuadrant.Conditions": policyConditions},
			Markers: map[string]status.Marker{"kuadrant.Marks": affectedConditions,
				"kuadrant.RFCMarks": rfcConditions}}}
}
