package request

import (
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// TestNearMisses: of what nothing takes, the rules and listeners that one part alone kept from it,
// nearest first, at most three.
func TestNearMisses(t *testing.T) {
	const shop = `hostnames: [shop.example.com]
rules:
- {name: cart, matches: [{path: {value: /cart}, method: POST, headers: [{name: x-tier, value: gold}]}]}
- {name: list, matches: [{path: {value: /list}}]}
- {name: item, matches: [{path: {type: Exact, value: /list/item}, queryParams: [{name: v, value: "2"}]}]}`
	w := newWorld(t, plainGateway+routeOf("HTTPRoute", "shop", shop), nil)
	for name, c := range map[string]struct {
		ask
		want string
	}{
		"the method": {ask{method: "GET", url: "http://shop.example.com/cart",
			Options: Options{Headers: []string{"x-tier: gold"}}}, "method shop/cart"},
		"a header": {ask{method: "POST", url: "http://shop.example.com/cart",
			Options: Options{Headers: []string{"x-tier: silver"}}}, "header shop/cart"},
		"two parts are not": {ask{method: "GET", url: "http://shop.example.com/cart"}, "path shop/list"},
		"the path":          {ask{method: "GET", url: "http://shop.example.com/lists"}, "path shop/list"},
		"the host":          {ask{method: "GET", url: "http://shop.example.org/list"}, "host shop/list"},
		"taken":             {ask{method: "GET", url: "http://shop.example.com/list"}, ""},
		"no listener":       {ask{method: "GET", url: "http://shop.example.com:8080/list"}, "port shop/list"},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, n := range w.ask(t, c.ask).NearMisses {
				about := n.Rule
				if about == topology.None {
					about = n.Listener
				}
				ref := w.graph.Node(about).Ref
				got = append(got, fmt.Sprintf("%s %s/%s", n.Part, ref.Name, ref.Section))
			}
			if text := strings.Join(got, ", "); text != c.want {
				t.Errorf("got %s, want %s", text, c.want)
			}
		})
	}
}

// TestMostNearMisses: there are never more than three, and a rule comes once, by its nearest part.
func TestMostNearMisses(t *testing.T) {
	var rules []string
	for i := range 6 {
		rules = append(rules,
			fmt.Sprintf("- {name: r%d, matches: [{path: {value: /a}, method: PUT}, {path: {value: /b%d}}]}", i, i))
	}
	w := newWorld(t, plainGateway+routeOf("HTTPRoute", "shop", "rules:\n"+strings.Join(rules, "\n")), nil)
	near := w.get(t, "http://h/a").NearMisses
	seen := map[topology.NodeID]bool{}
	for _, n := range near {
		if n.Part != PartMethod || seen[n.Rule] {
			t.Errorf("%+v", n)
		}
		seen[n.Rule] = true
	}
	if len(near) != mostNearMisses {
		t.Errorf("%d near misses", len(near))
	}
}
