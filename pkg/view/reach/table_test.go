package reach

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// reach is the answer about infra/gw-auth, sealed.
func reach(items ...ReachItem) *PolicyReach {
	r := &PolicyReach{Policy: *viewtest.AuthPolicy("infra", "gw-auth"), Rule: "rules.geo", Items: items}
	r.Finish("PolicyReach", nil)
	return r
}

func became(state string, target model.Ref, gatewayName string, by ...view.Source) ReachItem {
	item := ReachItem{Target: target, Paths: []view.Path{{Gateway: "infra/" + gatewayName, Listener: "http"}},
		Rule: "rules.geo", State: state, By: by}
	if state != StateEffective {
		item.Why, item.Reason = "short for "+state, "a sentence"
	}
	return item
}

func TestReachAggregatesRules(t *testing.T) {
	cart := viewtest.SourceOf("bakery", "cart-auth", viewtest.HTTPRoute("cart", ""), "route", "defaults")
	override := viewtest.SourceOf("infra", "cap", viewtest.Gateway("http"), "listener", "overrides")
	r := reach(
		became("Effective", viewtest.HTTPRoute("baker", "rule-1"), "external"),
		became("Effective", viewtest.HTTPRoute("baker", "rule-2"), "external"),
		became("Overridden", viewtest.HTTPRoute("cart", "checkout"), "external", cart),
		became("Overridden", viewtest.HTTPRoute("cart", "refund"), "external", cart),
		became("Effective", viewtest.HTTPRoute("cart", "rule-3"), "external"),
		became("Unset", viewtest.HTTPRoute("search", "rule-1"), "external", cart),
		became("ConditionFalse", viewtest.HTTPRoute("seasonal", "rule-1"), "external"),
		became("Partial", viewtest.HTTPRoute("stock", "rule-1"), "external", override),
	)
	viewtest.Same(t, viewtest.TableText(r.Table(view.TableOptions{})),
		"# authpolicy/infra/gw-auth · setting rules.geo",
		"# in force on 4 of 8 route rules · 3 of 5 routes · 1 namespace",
		"bakery | httproute/baker | 2 of 2 | in force | ",
		"bakery | httproute/cart | 1 of 3 | partly | checkout, refund: short for Overridden",
		"bakery | httproute/search | 0 of 1 | overridden | short for Unset",
		"bakery | httproute/seasonal | 0 of 1 | overridden | short for ConditionFalse",
		"bakery | httproute/stock | 1 of 1 | partly | short for Partial",
		"> to see what was overridden: kubectl dopolicy overridden authpolicy/infra/gw-auth/rules.geo")
	viewtest.Same(t, viewtest.TableText(r.Table(view.TableOptions{ByRule: true, Limit: 3})),
		"# authpolicy/infra/gw-auth · setting rules.geo",
		"# in force on 4 of 8 route rules · 3 of 5 routes · 1 namespace",
		"bakery | httproute/baker | rule-1 | in force | ",
		"bakery | httproute/baker | rule-2 | in force | ",
		"bakery | httproute/cart | checkout | overridden | short for Overridden",
		"> … and 5 more lines, 4 of them not wholly in force (--limit 0 shows all)",
		"> to see what was overridden: kubectl dopolicy overridden authpolicy/infra/gw-auth/rules.geo")
}

// What differs by path is said for each path: a rule that is open on one Gateway must not look
// closed.
func TestReachKeepsPathsApart(t *testing.T) {
	override := viewtest.SourceOf("infra", "cap", viewtest.Gateway(""), "gateway", "overrides")
	r := reach(
		became("Effective", viewtest.HTTPRoute("baker", "rule-1"), "external"),
		became("Overridden", viewtest.HTTPRoute("baker", "rule-1"), "internal", override),
		became("Effective", viewtest.HTTPRoute("baker", "rule-2"), "external"),
	)
	viewtest.Same(t, viewtest.TableText(r.Table(view.TableOptions{})),
		"# authpolicy/infra/gw-auth · setting rules.geo",
		"# in force on 2 of 2 route rules · 1 of 1 route · 1 namespace",
		"bakery | httproute/baker | 2 of 2 | partly | rule-1 via gateway/infra/internal (http): short for Overridden",
		"> to see what was overridden: kubectl dopolicy overridden authpolicy/infra/gw-auth/rules.geo")
}

func TestReachOfOtherTargets(t *testing.T) {
	missing := ReachItem{Target: viewtest.Gateway(""), Rule: "rules.geo", State: "Ignored",
		Reason: "gateway/infra/external is not found"}
	viewtest.Same(t, viewtest.TableText(reach(missing).Table(view.TableOptions{})),
		"# authpolicy/infra/gw-auth · setting rules.geo",
		"# in force nowhere: none of its targets is in view",
		"infra | gateway/external | - | ignored | gateway/infra/external is not found")
	viewtest.Same(t, viewtest.TableText(reach().Table(view.TableOptions{})),
		"# authpolicy/infra/gw-auth · setting rules.geo",
		"# in force nowhere: none of its targets is in view")
	table := reach(became("Effective", viewtest.Gateway("http"), "external"),
		became("Effective", viewtest.Gateway("https"), "external")).Table(view.TableOptions{})
	viewtest.Same(t, viewtest.TableText(table),
		"# authpolicy/infra/gw-auth · setting rules.geo",
		"# in force on 2 of 2 listeners · 1 of 1 gateway · 1 namespace",
		"infra | gateway/external | 2 of 2 | in force | ")
	if name := table.Blocks[0].Columns[2].Name; name != "LISTENERS" {
		t.Errorf("column is %q", name)
	}
}
