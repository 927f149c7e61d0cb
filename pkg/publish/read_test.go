package publish

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// object is a report as it is read.
func object(t *testing.T, text string) *model.Object {
	t.Helper()
	var o map[string]any
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatal(err)
	}
	words := func(v any) map[string]string {
		out := map[string]string{}
		m, _ := v.(map[string]any)
		for key, value := range m {
			out[key], _ = value.(string)
		}
		return out
	}
	return &model.Object{Ref: refOf(o), Labels: words(model.Get(o, "metadata", "labels")),
		Annotations: words(model.Get(o, "metadata", "annotations")), Body: model.Pack(o, nil)}
}

const (
	head  = `{"apiVersion": "wgpolicyk8s.io/v1alpha2", "kind": "PolicyReport", "metadata": {"namespace": "app", "name": "`
	ours1 = `", "labels": {"app.kubernetes.io/managed-by": "kubectl-dopolicy"}, "annotations": {"dopolicy.dev/read-at": "2026-01-02T03:04:05Z", "dopolicy.dev/complete": "true", "dopolicy.dev/generation": "2"}}`
	route = `, "scope": {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "name": "r", "namespace": "app"}`
	lines = `, "results": [{"category": "policy", "policy": "A.x.io/infra/a", "rule": "rule-1", "result": "skip",
		"properties": {"state": "overridden", "level": "gateway", "reason": "Age", "overriddenBy": "A.x.io/infra/b, C.x.io/c", "owner": "team", "via": "infra/gw/web"}},
		{"category": "policy", "policy": "none", "rule": "rule-2", "properties": {"state": "none"}}, {"category": "finding", "policy": "X"}]}`
)

func TestRead(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 14, 5, 0, time.UTC)
	any := func(model.Ref) bool { return true }
	in := model.NewSnapshot([]*model.Object{object(t, head+"one"+ours1+route+lines)}, nil)
	got := ReadReports(in, any, now)
	if len(got) != 2 {
		t.Fatalf("%+v", got)
	}
	first := got[0]
	if first.Target != (model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "app", Name: "r",
		Section: "rule-1"}) || first.Policy.String() != "a/infra/a" ||
		first.PolicyKind != "A.x.io" || first.State != "overridden" || first.Reason != "Age" || first.Age != "10m" ||
		first.Owner != "team" || !first.Complete || first.Outdated {
		t.Errorf("%+v", first)
	}
	if want := []model.Ref{{Group: "x.io", Kind: "A", Namespace: "infra", Name: "b"}, {Group: "x.io", Kind: "C",
		Name: "c"}}; !reflect.DeepEqual(first.OverriddenBy, want) {
		t.Errorf("%+v", first.OverriddenBy)
	}
	if got[1].Policy != nil || got[1].State != "none" || got[1].Target.Section != "rule-2" {
		t.Errorf("%+v", got[1])
	}
	if got := ReadReports(in, func(model.Ref) bool { return false }, now); got != nil {
		t.Errorf("of other routes: %+v", got)
	}
}

// A report is about its own namespace whatever it says, is of this program by its label, and is old
// if the namespace was read again since.
func TestReadOthers(t *testing.T) {
	now := time.Date(2026, 1, 2, 4, 4, 5, 0, time.UTC)
	any := func(model.Ref) bool { return true }
	const other = `, "scope": {"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "name": "r", "namespace": "shop"}`
	if got := ReadReports(model.NewSnapshot([]*model.Object{object(t, head+"one"+ours1+other+lines)}, nil), any,
		now); len(got) != 2 || got[0].Target.Namespace != "app" {
		t.Errorf("%+v", got)
	}
	if got := ReadReports(model.NewSnapshot([]*model.Object{object(t, head+`one"}`+route+lines)}, nil), any,
		now); got != nil {
		t.Errorf("without our label: %+v", got)
	}
	beat := object(t, `{"apiVersion": "wgpolicyk8s.io/v1alpha2", "kind": "PolicyReport", "metadata": {"namespace": "app", "name": "dopolicy", "labels": {"app.kubernetes.io/managed-by": "kubectl-dopolicy"},
		"annotations": {"dopolicy.dev/read-at": "2026-01-02T04:00:05Z"}}}`)
	changed := object(t,
		`{"apiVersion": "gateway.networking.k8s.io/v1", "kind": "HTTPRoute", "metadata": {"namespace": "app", "name": "r", "generation": 3}}`)
	changed.Ref = model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Namespace: "app", Name: "r"}
	second := object(t, head+"two"+ours1+route+lines)
	second.Ref.Group, second.Ref.Kind = "openreports.io", "Report"
	got := ReadReports(model.NewSnapshot([]*model.Object{object(t, head+"one"+ours1+route+lines), beat, changed,
		second}, nil), any, now)
	if len(got) != 2 || got[0].Age != "4m" || got[0].ReadAt != "2026-01-02T04:00:05Z" || got[0].Outdated != true {
		t.Errorf("%+v", got)
	}
}

// Of values stay numbers, times and sizes.
func TestShown(t *testing.T) {
	got := showQuantities(map[string]any{"limit": int64(5), "window": "1m30s", "share": "99.5%", "size": "10Mi",
		"on": true, "none": nil, "key": "sk-123", "long": "12345678901", "when": []any{"a == 'b'"}})
	want := map[string]any{"limit": int64(5), "window": "1m30s", "share": "99.5%", "size": "10Mi", "on": true,
		"none": nil, "key": "…", "long": "…", "when": []any{"…"}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
}

// The names of reports are names that a server takes, and differ where their routes do.
func TestRouteReport(t *testing.T) {
	long := make([]byte, 250)
	for i := range long {
		long[i] = 'a'
	}
	a := model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Name: string(long) + "b"}
	b := a
	b.Name = string(long) + "c"
	other := model.Ref{Group: "x.io", Kind: "HTTPRoute", Name: "r"}
	for _, c := range []struct{ got, want string }{
		{routeReportName(model.Ref{Group: "gateway.networking.k8s.io", Kind: "HTTPRoute", Name: "r"}),
			"dopolicy-httproute-r"},
		{routeReportName(other), "dopolicy-httproute.x.io-r"},
	} {
		if c.got != c.want {
			t.Errorf("%s, not %s", c.got, c.want)
		}
	}
	if len(routeReportName(a)) > maxNameLength || routeReportName(a) == routeReportName(b) {
		t.Errorf("%s and %s", routeReportName(a), routeReportName(b))
	}
}
