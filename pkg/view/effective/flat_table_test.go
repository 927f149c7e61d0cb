package effective

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// flatFixture is one setting of a Gateway on three routes, and one of the route a on its rules.
func flatFixture() *EffectivePolicyList {
	var items []view.EffectivePolicy
	gw := viewtest.SourceOf("infra", "gw", viewtest.Gateway(""), "gateway", "defaults")
	own := viewtest.SourceOf("bakery", "a", viewtest.HTTPRoute("a", ""), "route", "bare")
	for _, name := range []string{"a", "b", "c"} {
		items = append(items, in("LimitPolicy", viewtest.HTTPRoute(name, "rule-1"), "http", sets("cap", gw)))
	}
	items = append(items, in("AuthPolicy", viewtest.HTTPRoute("a", "rule-1"), "http", sets("key", own)),
		in("AuthPolicy", viewtest.HTTPRoute("a", "rule-2"), "http", sets("key", own)))
	return list(items...)
}

func TestEffectiveHasItsTargetInEveryRow(t *testing.T) {
	viewtest.Same(t, viewtest.TableText(flatFixture().Table(view.TableOptions{})),
		"bakery | httproute/a | rule-1 | infra/external (http) | AuthPolicy | key | 1 | bakery/a | why",
		"bakery | httproute/a | rule-1 | infra/external (http) | LimitPolicy | cap | 1 | authpolicy/infra/gw | why",
		"bakery | httproute/a | rule-2 | infra/external (http) | AuthPolicy | key | 1 | bakery/a | why",
		"bakery | httproute/b | rule-1 | infra/external (http) | LimitPolicy | cap | 1 | authpolicy/infra/gw | why",
		"bakery | httproute/c | rule-1 | infra/external (http) | LimitPolicy | cap | 1 | authpolicy/infra/gw | why")
}

func TestEffectiveSaysOnATerminalOnceWhatHoldsForMany(t *testing.T) {
	want := []string{
		"bakery | 3 routes | 3 rules | infra/external (http) | LimitPolicy | cap | 1 | authpolicy/infra/gw | why",
		"bakery | httproute/a | rule-1, rule-2 | infra/external (http) | AuthPolicy | key | 1 | bakery/a | why"}
	viewtest.Same(t, viewtest.TableText(flatFixture().Table(view.TableOptions{Terminal: true})), want...)
	if rows := flatFixture().Table(view.TableOptions{Terminal: true, ByRule: true}).Blocks[0].Rows; len(rows) != 5 {
		t.Errorf("with one row per rule there are %d", len(rows))
	}
}

func TestFlatRowsAreMarkedWhereTheyCouldChange(t *testing.T) {
	l := flatFixture()
	for i := range l.Items {
		l.Items[i].Unread = []string{*new(string)}
	}
	if got := l.Table(view.TableOptions{}).Blocks[0].Rows[0][0].Text; got != "? bakery" {
		t.Errorf("the row begins with %q", got)
	}
}

func TestFlatTargetsOfSeveralKinds(t *testing.T) {
	gw := viewtest.SourceOf("infra", "gw", viewtest.Gateway(""), "gateway", "defaults")
	service := model.Ref{Kind: "Service", Namespace: "bakery", Name: "oven"}
	b := list(in("A", service, "", sets("x", gw)), in("A", viewtest.Gateway(""), "", sets("x", gw))).Table(
		view.TableOptions{}).Blocks[0]
	if b.Columns[1].Name != "TARGET" || b.Columns[2].Name != "SECTION" {
		t.Errorf("the columns are called %v", b.Columns[:3])
	}
}
