package merge_test

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// The policy of a Gateway has a default that gives way rule by rule, and an override that does not
// give way. The policy of a route sets both, and a rule of its own. Layers are named by their
// position: 0 is the Gateway's, 1 the route's.
func ExampleFold() {
	// what is compared: each entry of limits
	rules := merge.Shape{{Path: merge.Path{{Name: "limits"}, {Form: merge.Any}}}}
	block := func(kind merge.BlockKind, wins merge.Side, settings any) merge.Block {
		units, _ := rules.CutSettings(settings)
		return merge.Block{Kind: kind, Units: units, Strategy: merge.Strategy{Wins: wins, Cut: merge.Rules}}
	}
	limits := func(of map[string]any) any { return map[string]any{"limits": of} }
	gateway := merge.Layer{Level: "gateway", Blocks: []merge.Block{
		block(merge.Defaults, merge.Lower, limits(map[string]any{"daily": 1000})),
		block(merge.Overrides, merge.Higher, limits(map[string]any{"burst": 10})),
	}}
	route := merge.Layer{Level: "route", Blocks: []merge.Block{
		block(merge.Bare, merge.Lower, limits(map[string]any{"daily": 5000, "burst": 99, "login": 3})),
	}}
	result := merge.Fold([]merge.Plan{{}}, rules, merge.Stack{Layers: []merge.Layer{gateway, route}})
	for _, rule := range result.Rules {
		fmt.Println(rule.Name, "is", merge.Unpack(rule.Value), "from layer", rule.From[0].Layer)
		for _, lost := range rule.Lost {
			fmt.Println("  not", merge.Unpack(lost.Value), "from layer", lost.From.Layer, "because", lost.Reason)
		}
	}
	// Output:
	// limits.burst is 10 from layer 0
	//   not 99 from layer 1 because LessSpecificOverrides
	// limits.daily is 5000 from layer 1
	//   not 1000 from layer 0 because MoreSpecificWins
	// limits.login is 3 from layer 1
}
