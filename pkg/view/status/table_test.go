package status

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/internal/viewtest"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

func statuses(items ...ObjectStatus) *StatusList {
	l := &StatusList{Items: items}
	l.Finish("StatusList", nil)
	return l
}

// predicted is a policy of namespace infra with its own conditions.
func predicted(name string, target model.Ref, conditions ...Condition) ObjectStatus {
	item := ObjectStatus{Object: *viewtest.AuthPolicy("infra", name), Targets: []model.Ref{target}, isPolicy: true,
		refused: conditions == nil}
	item.InForce = &PolicyForce{State: "Nowhere", Targets: 3, Level: "rule"}
	for _, c := range conditions {
		switch c {
		case everywhere:
			item.InForce = &PolicyForce{State: "Everywhere", Targets: 1, Wholly: 1, Level: "rule"}
		case somewhere:
			item.InForce = &PolicyForce{State: "Partly", Targets: 3, Wholly: 1, Partly: 1, Level: "rule"}
		case theirWords:
			item.InForce = &PolicyForce{State: "Partly", Targets: 3, Partly: 3, Level: "dataplane"}
		}
	}
	if conditions != nil {
		item.Ancestors = []AncestorStatus{{Conditions: conditions}}
	}
	return item
}

// attached is a route with conditions towards a parent.
func attached(name string, parent AncestorRef, conditions ...Condition) ObjectStatus {
	return ObjectStatus{Object: viewtest.HTTPRoute(name, ""), Ancestors: []AncestorStatus{{AncestorRef: &parent,
		ControllerName: "example.com/controller", Conditions: conditions}}}
}

var (
	fine       = Condition{"Accepted", "True", "Accepted", "the policy has been accepted"}
	everywhere = Condition{"Programmed", "True", "Programmed", "in force on all paths"}
	somewhere  = Condition{"Programmed", "True", "PartiallyProgrammed", "overridden by bakery/cart"}
	nowhere    = Condition{"Programmed", "False", "Overridden", "overridden by infra/other"}
	notFound   = Condition{"Accepted", "False", "TargetNotFound", "gateway/infra/externall not found"}
	theirWords = Condition{"Enforced", "True", "Enforced", "AuthPolicy has been partially enforced"}
)

func TestStatusOfPolicies(t *testing.T) {
	l := statuses(
		predicted("gw-auth", viewtest.Gateway(""), fine, everywhere),
		predicted("half", viewtest.Gateway("https"), fine, somewhere),
		predicted("lost", viewtest.HTTPRoute("baker", "rule-1"), fine, nowhere),
		predicted("typo", viewtest.Gateway(""), notFound),
		predicted("idle", viewtest.Gateway(""), fine),
		predicted("their-words", viewtest.Gateway(""), fine, theirWords),
		predicted("broken", viewtest.Gateway("")))
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{})),
		"AuthPolicy | infra/gw-auth | gateway/infra/external | True | yes (1 rule) | ",
		"AuthPolicy | infra/half | gateway/infra/external/https | True | partly (2 of 3 rules) | Programmed PartiallyProgrammed: overridden by bakery/cart",
		"AuthPolicy | infra/lost | httproute/bakery/baker/rule-1 | True | no | Programmed False Overridden: overridden by infra/other",
		"AuthPolicy | infra/typo | gateway/infra/external | False TargetNotFound | no | gateway/infra/externall not found",
		"AuthPolicy | infra/idle | gateway/infra/external | True | no | ",
		"AuthPolicy | infra/their-words | gateway/infra/external | True | partly (3 proxies) | Enforced: AuthPolicy has been partially enforced",
		"AuthPolicy | infra/broken | gateway/infra/external | refused | no | ")
	var columns string
	for _, c := range l.Table(view.TableOptions{}).Blocks[0].Columns {
		columns += c.Name + " "
	}
	if columns != "KIND POLICY TARGET ACCEPTED IN FORCE NOTE " {
		t.Errorf("columns %s", columns)
	}
}

func TestStatusTones(t *testing.T) {
	rows := statuses(predicted("a", viewtest.Gateway(""), fine, everywhere), predicted("b", viewtest.Gateway(""), fine,
		somewhere), predicted("c", viewtest.Gateway(""), fine, theirWords),
		predicted("d", viewtest.Gateway(""), fine, nowhere), predicted("e", viewtest.Gateway(""),
			notFound), predicted("f", viewtest.Gateway(""))).Table(view.TableOptions{}).Blocks[0].Rows
	for i, want := range [][2]view.Tone{{view.Good, view.Good}, {view.Good, view.Partly}, {view.Good, view.Partly},
		{view.Good, view.Bad}, {view.Bad, view.Bad}, {view.Bad, view.Bad}} {
		if got := [2]view.Tone{rows[i][3].Tone, rows[i][4].Tone}; got != want {
			t.Errorf("%s: tones %v, want %v", rows[i][1].Text, got, want)
		}
	}
}

// What is not known is neither good nor bad.
func TestStatusTonesOfObjects(t *testing.T) {
	rows := statuses(attached("cart", AncestorRef{Ref: viewtest.Gateway("")}, Condition{"Accepted", "Unknown",
		"NoMatchingParent", ""},
		Condition{"example.com/ColorPolicyAffected", "True", "PartiallyAffected", ""}, Condition{"ResolvedRefs",
			"False", "BackendNotFound", ""})).Table(view.TableOptions{}).Blocks[0].Rows
	for i, want := range []view.Tone{view.Plain, view.Partly, view.Bad} {
		if got := [2]view.Tone{rows[i][3].Tone, rows[i][4].Tone}; got != [2]view.Tone{want, want} {
			t.Errorf("%s: tones %v, want %v", rows[i][2].Text, got, want)
		}
	}
}

// With -o wide the message is shown also where all is well.
func TestStatusWide(t *testing.T) {
	viewtest.Same(t, viewtest.TableText(statuses(predicted("gw-auth", viewtest.Gateway(""), fine,
		everywhere)).Table(view.TableOptions{Wide: true})),
		"AuthPolicy | infra/gw-auth | gateway/infra/external | True | yes (1 rule) | the policy has been accepted; Programmed: in force on all paths")
}

func TestStatusOfSeveralTargets(t *testing.T) {
	item := predicted("many", viewtest.Gateway(""), fine, everywhere)
	item.Targets = append(item.Targets, viewtest.HTTPRoute("baker", ""), model.Ref{Group: "gateway.networking.k8s.io",
		Kind: "GatewayClass", Name: "shop"})
	viewtest.Same(t, viewtest.TableText(statuses(item).Table(view.TableOptions{})),
		"AuthPolicy | infra/many | gateway/infra/external, httproute/bakery/baker, gatewayclass/shop | True | yes (1 rule) | ")
}

// Other objects stand below the policies, a line for each condition and parent.
func TestStatusOfObjects(t *testing.T) {
	parent := AncestorRef{Ref: viewtest.Gateway("http"), Port: 8080}
	routeAccepted := Condition{"Accepted", "False", "NotAllowedByListeners", "no namespace fits"}
	resolvedRefs := Condition{"ResolvedRefs", "True", "ResolvedRefs", "all references are resolved"}
	own := ObjectStatus{Object: viewtest.Gateway("https"),
		Ancestors: []AncestorStatus{{Conditions: []Condition{{"Accepted", "True", "Accepted",
			"the listener is accepted"}}}}}
	l := statuses(predicted("gw-auth", viewtest.Gateway(""), fine, everywhere), attached("baker", parent,
		routeAccepted, resolvedRefs), own, attached("cart", AncestorRef{Ref: viewtest.Gateway("")}, resolvedRefs))
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{})),
		"AuthPolicy | infra/gw-auth | gateway/infra/external | True | yes (1 rule) | ",
		"httproute/bakery/baker | gateway/infra/external/http port 8080 | Accepted | False | NotAllowedByListeners",
		"httproute/bakery/baker | gateway/infra/external/http port 8080 | ResolvedRefs | True | ResolvedRefs",
		"gateway/infra/external/https | - | Accepted | True | Accepted",
		"httproute/bakery/cart | gateway/infra/external | ResolvedRefs | True | ResolvedRefs")
	rows := l.Table(view.TableOptions{}).Blocks[1].Rows
	if rows[0][3].Tone != view.Bad || rows[1][3].Tone != view.Good || rows[0][5].Text != "no namespace fits" {
		t.Errorf("%+v", rows)
	}
	viewtest.Same(t, viewtest.TableText(statuses(own).Table(view.TableOptions{})),
		"gateway/infra/external/https | - | Accepted | True | Accepted")
}

func TestStatusLimit(t *testing.T) {
	l := statuses(predicted("a", viewtest.Gateway(""), fine, everywhere), predicted("b", viewtest.Gateway(""), fine,
		everywhere), predicted("c", viewtest.Gateway(""), fine, everywhere),
		attached("baker", AncestorRef{Ref: viewtest.Gateway("")}, fine, everywhere))
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{Limit: 1})),
		"AuthPolicy | infra/a | gateway/infra/external | True | yes (1 rule) | ",
		"httproute/bakery/baker | gateway/infra/external | Accepted | True | Accepted",
		"> … and 2 more lines (--limit 0 shows all)",
		"> … and 1 more line (--limit 0 shows all)")
}

func TestStatusOfNothing(t *testing.T) {
	viewtest.Same(t, viewtest.TableText(statuses().Table(view.TableOptions{})), "> no policies")
	l := &StatusList{}
	l.Finish("StatusList", []model.Problem{{Severity: model.Error, Code: model.InvalidYAML, Message: "broken"}})
	viewtest.Same(t, viewtest.TableText(l.Table(view.TableOptions{})), "> no policies", "> incomplete: 1 error")
}

// An object with items for its sections is named once.
func TestStatusNames(t *testing.T) {
	own := []AncestorStatus{{Conditions: []Condition{fine}}}
	l := statuses(predicted("gw-auth", viewtest.Gateway(""), fine), ObjectStatus{Object: viewtest.Gateway(""),
		Ancestors: own}, ObjectStatus{Object: viewtest.Gateway("http"), Ancestors: own})
	got := l.FilterNames()
	if len(got) != 2 || got[0] != "authpolicy.example.com/gw-auth" ||
		got[1] != "gateway.gateway.networking.k8s.io/external" {
		t.Errorf("names %q", got)
	}
}

// Of many targets the first are named, and with -o wide all; a policy of which nothing is known has
// no cell.
func TestStatusOfManyTargets(t *testing.T) {
	item := predicted("many", viewtest.Gateway(""), fine)
	item.Targets = append(item.Targets, viewtest.HTTPRoute("a", ""), viewtest.HTTPRoute("b", ""),
		viewtest.HTTPRoute("c", ""), viewtest.HTTPRoute("d", ""))
	item.InForce = &PolicyForce{State: "Unknown"}
	viewtest.Same(t, viewtest.TableText(statuses(item).Table(view.TableOptions{})),
		"AuthPolicy | infra/many | gateway/infra/external, httproute/bakery/a, httproute/bakery/b and 2 more | True | unknown | ")
	item.Targets, item.InForce = nil, nil
	viewtest.Same(t, viewtest.TableText(statuses(item).Table(view.TableOptions{})),
		"AuthPolicy | infra/many | - | True | - | ")
}
