package status

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

const (
	controllerX = "example.com/controller"
	fineRoute   = `{type: Accepted, status: "True", reason: Accepted}, {type: ResolvedRefs, status: "True", reason: ResolvedRefs}`
)

// withStatus is a manifest with a generation and a status, both in flow style.
func withStatus(manifest string, generation int, status string) string {
	text := strings.Replace(manifest, "metadata: {", fmt.Sprintf("metadata: {generation: %d, ", generation), 1)
	return text + "\nstatus: {" + status + "}"
}

// own are conditions of a policy of its own: each as type=status/reason, with an observed
// generation behind an @.
func own(conditions ...string) string { return "conditions: [" + listConditions(conditions) + "]" }

func listConditions(conditions []string) string {
	var out []string
	for _, c := range conditions {
		c, observed, found := strings.Cut(c, "@")
		kind, rest, _ := strings.Cut(c, "=")
		status, reason, _ := strings.Cut(rest, "/")
		text := fmt.Sprintf("{type: %s, status: %q, reason: %s, message: said", kind, status, reason)
		if found {
			text += ", observedGeneration: " + observed
		}
		out = append(out, text+"}")
	}
	return strings.Join(out, ", ")
}

// entry is an entry of a list of ancestors or parents.
func entryOf(list, ref, controller string, conditions ...string) string {
	return fmt.Sprintf("{%s: {%s}, controllerName: %s, conditions: [%s]}", strings.TrimSuffix(list, "s")+"Ref", ref,
		controller, listConditions(conditions))
}

// audited is every difference and note about an object, one a line: kind, ancestor, type, and
// predicted and reported as status/reason.
func audited(t *testing.T, r *resolve.Resolution, funcs Functions, object string) (AuditResult, []string, []string) {
	t.Helper()
	predictions := append(PredictPolicies(r, r.Kinds, funcs), PredictObjects(r, r.Kinds, funcs)...)
	a := NewAuditor(r, r.Kinds, predictions, r.Problems)
	for _, p := range predictions {
		if p.Object.String() == object {
			out := a.Audit(p)
			return out.Result, lines(t, out.Differences), lines(t, out.Notes)
		}
	}
	t.Fatalf("no prediction for %s", object)
	return "", nil, nil
}

func lines(t *testing.T, list []Difference) []string {
	t.Helper()
	var out []string
	for _, d := range list {
		if d.Message == "" {
			t.Errorf("%+v says nothing", d)
		}
		line := string(d.Kind)
		if d.Ref != nil {
			line += " " + refName(d.Ref, d.Port)
		}
		if d.Target != nil {
			line += " " + d.Target.String()
		}
		if d.Type != "" {
			line += " " + d.Type
		}
		if d.Predicted != nil {
			line += " <" + d.Predicted.Status + "/" + d.Predicted.Reason
		}
		if d.Reported != nil {
			line += " >" + d.Reported.Status + "/" + d.Reported.Reason
		}
		out = append(out, line)
	}
	return out
}

type auditCase struct {
	manifests []string
	object    string
	verdict   AuditResult
	differ    []string
	notes     []string
}

func checkAudits(t *testing.T, cases map[string]auditCase) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(cases)) {
		c := cases[name]
		verdict, differ, notes := audited(t, resolved(t, c.manifests...), Functions{}, c.object)
		if verdict != c.verdict || !slices.Equal(differ, c.differ) || !slices.Equal(notes, c.notes) {
			t.Errorf("%s: %s\n differ %q\n   want %q\n notes %q\n  want %q", name, verdict, differ, c.differ,
				notes, c.notes)
		}
	}
}

func TestAuditPolicies(t *testing.T) {
	stain := object("Stain", "p", 0, onGateway+"wall: red")
	other := object("Stain", "q", 0, onCart+"wall: green") // takes one rule of p
	const accepted, whole = "Accepted=True/Accepted", "Holds=True/Whole"
	second := "targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: shop}, {group: gateway.networking.k8s.io, kind: HTTPRoute, name: gone}], wall: red"
	twoTargets := object("Stain", "p", 0, second)
	checkAudits(t, map[string]auditCase{
		"as predicted, in any order, with other words and types": {manifests: []string{withStatus(stain, 2,
			own("Other=False/Any", whole+"@2", accepted+"@2"))}, object: "stain/demo/p", verdict: Agrees},
		"no generation is reported": {manifests: []string{withStatus(stain, 2,
			own(accepted, whole))}, object: "stain/demo/p", verdict: Agrees},
		"nothing is reported": {manifests: []string{withStatus(stain, 2, "")},
			object: "stain/demo/p", verdict: Differs, differ: []string{"Missing"}},
		"a condition is not reported": {manifests: []string{withStatus(stain, 2,
			own(accepted))}, object: "stain/demo/p", verdict: Differs, differ: []string{"Missing Holds <True/Whole"}},
		"a manifest": {manifests: []string{stain}, object: "stain/demo/p",
			verdict: NotCompared, notes: []string{"Unpredictable"}},
		"refused": {manifests: []string{withStatus(stain, 1, own("Accepted=False/Invalid"))}, object: "stain/demo/p",
			verdict: Differs,
			differ:  []string{"Different Accepted <True/Accepted >False/Invalid"}, notes: []string{
				"Unpredictable Holds <True/Whole"}},
		"another reason": {manifests: []string{withStatus(stain, 1, own(accepted, "Holds=True/Entirely"))},
			object: "stain/demo/p", verdict: Agrees,
			notes: []string{"ReasonDifferent Holds <True/Whole >True/Entirely"}},
		"stale": {manifests: []string{withStatus(stain, 3, own("Accepted=False/Invalid@2", "Holds=False/Beaten@2"))},
			object: "stain/demo/p", verdict: Differs,
			differ: []string{"Stale"}},
		"stale, and therefore without a condition": {manifests: []string{withStatus(stain, 3,
			own("Accepted=True/Accepted@2"))}, object: "stain/demo/p", verdict: Differs,
			differ: []string{"Stale Accepted >True/Accepted"}},
		"stale, as the status says of all its conditions": {manifests: []string{withStatus(stain, 3,
			"observedGeneration: 2, "+own("Accepted=False/Invalid", "Holds=False/Beaten"))}, object: "stain/demo/p",
			verdict: Differs, differ: []string{"Stale"}},
		"one condition knows better than the status": {manifests: []string{withStatus(stain, 3,
			"observedGeneration: 2, "+own(accepted, whole+"@3"))}, object: "stain/demo/p",
			verdict: Differs, differ: []string{"Stale Accepted >True/Accepted"}},
		"of an earlier object": {manifests: []string{withStatus(stain, 1, own(accepted+"@7", whole+"@1"))},
			object: "stain/demo/p", verdict: Differs,
			differ: []string{"Stale Accepted >True/Accepted"}},
		"in force in part": {manifests: []string{withStatus(stain, 1, own(accepted, whole)), other},
			object: "stain/demo/p", verdict: Differs,
			differ: []string{"Overridden Holds <True/Partly >True/Whole"}},
		"beaten everywhere": {manifests: []string{object("Stain", "top", 0, onGateway+"overrides: {wall: blue}"),
			withStatus(object("Stain", "p", 0, onRoute+"wall: red"), 1, own(accepted, whole))},
			object: "stain/demo/p", verdict: Differs, differ: []string{"Overridden Holds <False/Beaten >True/Whole"}},
		"in force nowhere": {manifests: []string{object("Paint", "top", 0, onGateway+"overrides: {wall: blue}"),
			withStatus(object("Paint", "p", 0, onRoute+"wall: red"), 1, own(accepted, "Programmed=True/Programmed"))},
			object: "paint/demo/p", verdict: Differs, differ: []string{
				"Overridden Programmed <False/Overridden >True/Programmed"}},
		"in force in part, in GEP words": {manifests: []string{withStatus(object("Paint", "p", 0,
			onGateway+"wall: red"), 1, own(accepted, "Programmed=True/Programmed")), object("Paint", "q", 0, onCart+
			"wall: blue")},
			object: "paint/demo/p", verdict: Differs, differ: []string{
				"Overridden Programmed <True/PartiallyProgrammed >True/Programmed"}},
		"a data plane is behind": {manifests: []string{withStatus(object("Paint", "p", 0, onGateway+"wall: red"), 1,
			own(accepted, "Programmed=False/Reconciling"))},
			object: "paint/demo/p", verdict: Agrees, notes: []string{
				"Unpredictable Programmed <True/Programmed >False/Reconciling"}},
		"somebody else is said to have it": {manifests: []string{withStatus(object("Paint", "p", 0,
			onGateway+"wall: red"), 1, own(accepted, "Programmed=False/Overridden"))},
			object: "paint/demo/p", verdict: Differs, differ: []string{
				"Different Programmed <True/Programmed >False/Overridden"}},
		"the usual words are nobody's promise": {manifests: []string{withStatus(object("Paint", "p", 0,
			onGateway+"wall: red"), 1, own(accepted))},
			object: "paint/demo/p", verdict: Agrees, notes: []string{"Unpredictable Programmed <True/Programmed"}},
		"nobody reports on the kind": {manifests: []string{withStatus(object("Paint", "p", 0, onGateway+"wall: red"),
			1, "")}, object: "paint/demo/p", verdict: NotCompared, notes: []string{"Unpredictable"}},
		"somebody reports on the kind": {manifests: []string{withStatus(object("Paint", "p", 0, onGateway+"wall: red"),
			1, ""), withStatus(object("Paint", "q", 0, onGateway+"wall: red"), 1, own(accepted))},
			object: "paint/demo/p", verdict: Differs, differ: []string{"Missing"}},
		"reported by ancestor": {manifests: []string{withStatus(stain, 1, "ancestors: ["+entryOf("ancestors",
			"name: gw", controllerX, accepted, whole)+"]")}, object: "stain/demo/p", verdict: Agrees},
		"one of several ancestors agrees": {manifests: []string{withStatus(stain, 1, "ancestors: ["+
			entryOf("ancestors", "name: a", controllerX, "Accepted=False/Nope", whole)+", "+
			entryOf("ancestors", "name: gw", controllerX, accepted, whole)+"]")}, object: "stain/demo/p",
			verdict: Agrees},
		"no ancestor agrees": {manifests: []string{withStatus(stain, 1, "ancestors: ["+entryOf("ancestors", "name: gw",
			controllerX, "Accepted=False/Nope", whole)+"]")}, object: "stain/demo/p", verdict: Differs,
			differ: []string{"Different gateway/demo/gw Accepted <True/Accepted >False/Nope"}},
		"a second target is not there": {manifests: []string{withStatus(twoTargets, 1, own(accepted, whole))},
			object: "stain/demo/p", verdict: Differs,
			differ: []string{"DanglingTarget httproute/demo/gone Accepted >True/Accepted"}},
		"a second target is not there, and that is told": {manifests: []string{withStatus(twoTargets, 1,
			"ancestors: ["+entryOf("ancestors", "name: gw", controllerX, accepted, whole)+", "+
				entryOf("ancestors", "kind: HTTPRoute, name: gone", controllerX, "Accepted=False/TargetNotFound")+"]")},
			object: "stain/demo/p", verdict: Agrees},
		"a second target is not there, in a stale status": {manifests: []string{withStatus(twoTargets, 2,
			own(accepted+"@1", whole+"@1"))}, object: "stain/demo/p", verdict: Differs, differ: []string{"Stale"}},
		"no target is there": {manifests: []string{withStatus(object("Stain", "p", 0,
			"targetRef: {group: gateway.networking.k8s.io, kind: Gateway, name: gone}, wall: red"), 1,
			own(accepted, whole))},
			object: "stain/demo/p", verdict: Differs, differ: []string{
				"Different Accepted <False/TargetNotFound >True/Accepted"}},
	})
}

func TestAuditObjects(t *testing.T) {
	route := func(status string) []string {
		return []string{strings.NewReplacer("name: shop", "name: mine").Replace(withStatus(strings.Split(base,
			"\n---\n")[2], 4, status))}
	}
	parents := func(entries ...string) []string { return route("parents: [" + strings.Join(entries, ", ") + "]") }
	const accepted, resolved = "Accepted=True/Accepted", "ResolvedRefs=True/ResolvedRefs"
	good := entryOf("parents", "name: gw", controllerX, resolved, accepted+"@4")
	gateway := func(status string) []string {
		return []string{
			withStatus(
				"apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: mine, namespace: demo}\n"+
					"spec: {gatewayClassName: class, listeners: [{name: web, port: 90, protocol: HTTP}]}", 2, status)}
	}
	listeners := func(text string) []string {
		return gateway(own(accepted) + ", listeners: [" + text + "]")
	}
	checkAudits(t, map[string]auditCase{
		"a route as predicted": {manifests: parents(good), object: "httproute/demo/mine", verdict: Agrees},
		"with all defaults written, beside others": {manifests: parents(entryOf("parents", "name: gw",
			"example.org/other", "Accepted=False/Nope"),
			entryOf("parents", "group: gateway.networking.k8s.io, kind: Gateway, namespace: demo, name: gw",
				controllerX, accepted, resolved, "Extra=True/Any"),
			entryOf("parents", "name: elsewhere", "example.org/other", accepted)), object: "httproute/demo/mine",
			verdict: Agrees},
		"a route that nobody has seen": {manifests: route(""), object: "httproute/demo/mine", verdict: Differs,
			differ: []string{"Missing gateway/demo/gw"}},
		"a route that another controller has seen": {manifests: parents(entryOf("parents", "name: gw",
			"example.org/other", accepted, resolved)), object: "httproute/demo/mine", verdict: Differs,
			differ: []string{"Missing gateway/demo/gw"}},
		"another section is another parent": {manifests: parents(entryOf("parents", "name: gw, sectionName: web",
			controllerX, accepted, resolved)), object: "httproute/demo/mine", verdict: Differs,
			differ: []string{"Missing gateway/demo/gw", "Unexpected gateway/demo/gw/web"}},
		"a parent that it does not name any more": {manifests: parents(good, entryOf("parents", "name: old",
			controllerX, accepted)), object: "httproute/demo/mine", verdict: Differs,
			differ: []string{"Unexpected gateway/demo/old"}},
		"turned over": {manifests: parents(entryOf("parents", "name: gw", controllerX, accepted,
			"ResolvedRefs=False/BackendNotFound")), object: "httproute/demo/mine", verdict: Differs,
			differ: []string{"Different gateway/demo/gw ResolvedRefs <True/ResolvedRefs >False/BackendNotFound"}},
		"refused, without a word about the rest": {manifests: parents(entryOf("parents", "name: gw", controllerX,
			"Accepted=False/Nope")), object: "httproute/demo/mine", verdict: Differs,
			differ: []string{"Different gateway/demo/gw Accepted <True/Accepted >False/Nope"}, notes: []string{
				"Unpredictable gateway/demo/gw ResolvedRefs <True/ResolvedRefs"}},
		"stale towards a parent": {manifests: parents(entryOf("parents", "name: gw", controllerX,
			"Accepted=False/Nope@3", "ResolvedRefs=False/Nope@3")), object: "httproute/demo/mine", verdict: Differs,
			differ: []string{"Stale gateway/demo/gw"}},
		"a Gateway": {manifests: gateway(own(accepted, "Programmed=False/AddressNotAssigned")),
			object: "gateway/demo/mine", verdict: Agrees},
		"a Gateway that waits for its controller": {manifests: gateway(own("Accepted=Unknown/Pending")),
			object: "gateway/demo/mine", verdict: Differs,
			differ: []string{"Missing Accepted <True/Accepted >Unknown/Pending"}},
		"listeners of a Gateway that waits": {manifests: gateway(own("Accepted=Unknown/Pending")),
			object: "gateway/demo/mine/web", verdict: NotCompared, notes: []string{"Unpredictable"}},
		"a listener without an entry": {manifests: listeners(""), object: "gateway/demo/mine/web",
			verdict: Differs, differ: []string{"Missing"}},
		"a listener, without what data planes know": {manifests: listeners(
			"{name: web, attachedRoutes: 0, conditions: [" + listConditions([]string{resolved, accepted,
				"Conflicted=False/NoConflicts", "Programmed=False/Invalid"}) + "]}"),
			object: "gateway/demo/mine/web", verdict: Agrees},
		"a listener that counts otherwise": {manifests: listeners(
			"{name: web, attachedRoutes: 3, supportedKinds: [{kind: HTTPRoute}], conditions: [" +
				listConditions([]string{resolved, accepted}) + "]}"),
			object: "gateway/demo/mine/web", verdict: Agrees, notes: []string{"Different attachedRoutes <0/ >3/",
				"Different supportedKinds <GRPCRoute.gateway.networking.k8s.io, HTTPRoute.gateway.networking.k8s.io/ >HTTPRoute.gateway.networking.k8s.io/"}},
		"a listener with a conflict that nobody sees": {manifests: listeners("{name: web, conditions: [" +
			listConditions([]string{resolved, accepted, "Conflicted=True/HostnameConflict"}) + "]}"),
			object: "gateway/demo/mine/web", verdict: Differs, differ: []string{
				"Unexpected Conflicted >True/HostnameConflict"}},
	})
}

func TestAuditWithoutController(t *testing.T) {
	orphan := "apiVersion: gateway.networking.k8s.io/v1\nkind: Gateway\nmetadata: {name: orphan, namespace: demo, uid: a}\nspec: {gatewayClassName: nobody, listeners: [{name: web, port: 90, protocol: HTTP}]}"
	route := "apiVersion: gateway.networking.k8s.io/v1\nkind: HTTPRoute\nmetadata: {name: mine, namespace: demo, uid: b}\nspec: {parentRefs: [{name: orphan}], rules: [{name: only}]}"
	good := []string{"Accepted=True/Accepted", "ResolvedRefs=True/ResolvedRefs"}
	bad := []string{"Accepted=False/NotAllowedByListeners", "ResolvedRefs=True/ResolvedRefs"}
	parents := func(entries ...string) string {
		return route + "\nstatus: {parents: [" + strings.Join(entries, ", ") + "]}"
	}
	checkAudits(t, map[string]auditCase{
		"a Gateway of no known class": {manifests: []string{orphan}, object: "gateway/demo/orphan",
			verdict: NotCompared, notes: []string{"Unpredictable"}},
		"its route": {manifests: []string{orphan, route}, object: "httproute/demo/mine",
			verdict: NotCompared, notes: []string{"Unpredictable gateway/demo/orphan"}},
		"whoever reports": {manifests: []string{orphan,
			parents(entryOf("parents", "name: orphan", "example.org/any", good...))}, object: "httproute/demo/mine",
			verdict: Agrees},
		"one of those who report": {manifests: []string{orphan,
			parents(entryOf("parents", "name: orphan", "example.org/any", bad...), entryOf("parents", "name: orphan",
				"example.org/other", good...))},
			object: "httproute/demo/mine", verdict: Agrees},
		"all who report": {manifests: []string{orphan, parents(entryOf("parents", "name: orphan", "example.org/any",
			bad...))}, object: "httproute/demo/mine", verdict: Differs,
			differ: []string{"Different gateway/demo/orphan Accepted <True/Accepted >False/NotAllowedByListeners"}},
	})
}

func TestAuditTruncated(t *testing.T) {
	writer := func(n int) Functions {
		return Functions{Writers: map[string]Writer{"": func(Input) []Ancestor {
			var out []Ancestor
			for i := range n {
				out = append(out, Ancestor{Ref: &model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway",
					Namespace: "demo", Name: fmt.Sprintf("gw-%02d", i)}, Controller: controllerX,
					Conditions: []Condition{{"Accepted", "True", "Accepted", "good"}}})
			}
			return out
		}}}
	}
	reported := func(n int) string {
		var out []string
		for i := range n {
			out = append(out, entryOf("ancestors", fmt.Sprintf("name: gw-%02d", i), controllerX,
				"Accepted=True/Accepted"))
		}
		return withStatus(object("Stain", "p", 0, onGateway+"wall: red"), 1, "ancestors: ["+strings.Join(out, ", ")+"]")
	}
	for _, tc := range []struct {
		predicted, reported int
		want                []string
	}{
		{16, 16, nil}, {18, 16, []string{"Truncated"}}, {18, 15, []string{"Missing gateway/demo/gw-15",
			"Missing gateway/demo/gw-16", "Missing gateway/demo/gw-17"}},
	} {
		verdict, differ, _ := audited(t, resolved(t, reported(tc.reported)), writer(tc.predicted), "stain/demo/p")
		if !slices.Equal(differ, tc.want) || (verdict == Differs) != (tc.want != nil) {
			t.Errorf("%d predicted, %d reported: %s %q, want %q", tc.predicted, tc.reported, verdict, differ, tc.want)
		}
	}
}

// A controller that says itself that entries are left out is right, and still does not tell all.
func TestAuditAggregated(t *testing.T) {
	gw := &model.Ref{Group: "gateway.networking.k8s.io", Kind: "Gateway", Namespace: "demo", Name: "gw"}
	funcs := Functions{Writers: map[string]Writer{"": func(Input) []Ancestor {
		return []Ancestor{{Ref: gw, Controller: controllerX, Conditions: []Condition{{"Accepted", "True", "Accepted",
			"good"}, {"Aggregated", "True", "Aggregated", "too many"}}}}
	}}}
	manifest := withStatus(object("Stain", "p", 0, onGateway+"wall: red"), 1, "ancestors: ["+entryOf("ancestors",
		"name: gw", controllerX, "Accepted=True/Accepted", "Aggregated=True/Aggregated")+"]")
	verdict, differ, notes := audited(t, resolved(t, manifest), funcs, "stain/demo/p")
	if want := []string{"Truncated gateway/demo/gw"}; verdict != Agrees || differ != nil || !slices.Equal(notes, want) {
		t.Errorf("%s %q %q, want %q", verdict, differ, notes, want)
	}
}

func TestAuditInDoubt(t *testing.T) {
	r := resolved(t, withStatus(object("Stain", "p", 0, onGateway+"wall: red"), 2, own("Accepted=False/Invalid",
		"Holds=True/Whole@1")))
	ref := model.Ref{Group: "x.io", Kind: "Stain", Namespace: "demo", Name: "p"}
	for name, p := range map[string]model.Problem{
		"a document is lost": {Severity: model.Error, Code: model.InvalidYAML, Message: "lost"},
		"the policy is not judged": {Severity: model.Warning, Code: model.NotEvaluated, Ref: &ref,
			Message: "not judged"},
		"a part of the API is silent": {Severity: model.Warning, Code: model.NotEvaluated,
			Message: "some groups are not served"},
	} {
		predictions := PredictPolicies(r, r.Kinds, Functions{})
		out := NewAuditor(r, r.Kinds, predictions, []model.Problem{p}).Audit(predictions[0])
		if got := lines(t, out.Differences); out.Result != Differs ||
			!slices.Equal(got, []string{"Stale Holds >True/Whole"}) {
			t.Errorf("%s: %s %q", name, out.Result, got)
		}
		if got := lines(t, out.Notes); !slices.Equal(got,
			[]string{"Unpredictable Accepted <True/Accepted >False/Invalid"}) {
			t.Errorf("%s: notes %q", name, got)
		}
	}
}
