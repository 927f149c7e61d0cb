//go:build linux

package hostiletest

import (
	"bytes"
	"fmt"
)

// answerAttacks are small inputs of which answers would be large, or take long.
var answerAttacks = []attack{
	{name: "settings times rules", args: "effective -A -o json -f @file", file: limits(1, 5000, 4000), exit: 3,
		want: "more than 1000000 settings"},
	{name: "policies times rules", args: "check -f @file", file: limits(2000, 1, 2000), exit: 3,
		want: "more than 1000000 settings"},
	{name: "settings times rules on both sides", args: "diff @file @route", file: limits(1, 5000, 4000), exit: 3,
		want: "more than 1000000 settings"},
	{name: "many settings of one policy", args: "check -f @file", file: limits(1, 10_000, 10), exit: 0, want: "1 note in 4 objects"},
	{name: "many settings of one policy, for a request", args: "request http://a/0 -f @file", file: limits(1, 10_000, 10),
		exit: 0, want: "limits.l9999"},
}

// limits is a Gateway with policies of so many limits each that add up, and routes with rules.
func limits(policies, settings, rules int) func() []byte {
	return func() []byte {
		var b bytes.Buffer
		b.WriteString("apiVersion: gateway.networking.k8s.io/v1\nkind: GatewayClass\nmetadata: {name: c}\n" +
			"spec: {controllerName: kuadrant.io/c}\n---\n" +
			"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: g, namespace: a}\n" +
			"spec: {gatewayClassName: c, listeners: [{name: l, port: 80, protocol: HTTP}]}\n")
		const rulesOfRoute = 10
		for i := range rules {
			if i%rulesOfRoute == 0 {
				fmt.Fprintf(&b, "---\napiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\n"+
					"metadata: {name: r%d, namespace: a}\nspec:\n  parentRefs: [{name: g}]\n  rules:\n", i)
			}
			fmt.Fprintf(&b, "  - matches: [{path: {value: /%d}}]\n    backendRefs: [{name: b, port: 80}]\n", i)
		}
		for i := range policies {
			fmt.Fprintf(&b, "---\napiVersion: kuadrant.io/v1\nkind: RateLimitPolicy\nmetadata: {name: p%d, namespace: a}\n"+
				"spec:\n  targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: g}\n"+
				"  defaults:\n    strategy: merge\n    limits:\n", i)
			for j := range settings {
				fmt.Fprintf(&b, "      l%d: {rates: [{limit: %d, window: 1s}]}\n", i*settings+j, j)
			}
		}
		return b.Bytes()
	}
}
