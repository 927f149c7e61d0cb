package publish

import (
	"encoding/json"
	"testing"
	"time"
)

// aReport is one as it is to be, read at a time.
func aReport(name string, at time.Time) *Report {
	r := &Report{APIVersion: "wgpolicyk8s.io/v1alpha2", Kind: "PolicyReport", Scope: &Object{APIVersion: "v1",
		Kind: "Namespace", Name: "app"},
		Metadata: Metadata{Name: name, Namespace: "app", Labels: map[string]string{managedLabel: Manager},
			Annotations: map[string]string{readAtAnnotation: at.Format(time.RFC3339), completeAnnotation: "true"}},
		Results: []Result{{Source: resultSource, Policy: "A.x.io/app/a", Rule: "rule-1", Category: categoryPolicy,
			Result: "pass", Message: "in force", Properties: map[string]string{"state": stateEffective}},
			{Source: resultSource, Policy: "A.x.io/app/b", Rule: "rule-1", Category: categoryPolicy, Result: "skip",
				Message: "overridden", Properties: map[string]string{"state": stateOverridden, "reason": "Age"}}}}
	r.countResults()
	return r
}

// stored is a report as a server sends it.
func stored(t *testing.T, r *Report, change func(o map[string]any)) map[string]any {
	t.Helper()
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var o map[string]any
	if err := json.Unmarshal(text, &o); err != nil {
		t.Fatal(err)
	}
	metadata := o["metadata"].(map[string]any)
	metadata["uid"], metadata["resourceVersion"], metadata["managedFields"] = "u-1", "7", []any{
		map[string]any{"manager": Manager}}
	if change != nil {
		change(o)
	}
	return o
}

func results(o map[string]any) []any { return o["results"].([]any) }

func TestPlan(t *testing.T) {
	then := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	properties := func(o map[string]any, i int) map[string]any {
		return results(o)[i].(map[string]any)["properties"].(map[string]any)
	}
	annotations := func(o map[string]any) map[string]any {
		return o["metadata"].(map[string]any)["annotations"].(map[string]any)
	}
	for name, c := range map[string]struct {
		report    string
		later     time.Duration
		heartbeat time.Duration
		change    func(o map[string]any)
		want      Action
	}{
		"the same": {report: namespaceReportName, want: Unchanged},
		"fields that a server fills in": {report: namespaceReportName, want: Unchanged,
			change: func(o map[string]any) {
				results(o)[0].(map[string]any)["scored"] = false
				o["scopeSelector"] = nil
			}},
		"labels of others": {report: namespaceReportName, want: Unchanged,
			change: func(o map[string]any) { o["metadata"].(map[string]any)["labels"].(map[string]any)["team"] = "a" }},
		"another time of reading": {report: namespaceReportName, later: time.Hour, want: Unchanged},
		"an old time of reading": {report: namespaceReportName, later: time.Hour, heartbeat: time.Hour,
			want: Refresh},
		"of a route, too": {report: "dopolicy-httproute-a", later: time.Hour,
			heartbeat: time.Hour, want: Unchanged},
		"before the heartbeat": {report: namespaceReportName, later: time.Minute, heartbeat: time.Hour,
			want: Unchanged},
		"a property that goes": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { properties(o, 0)["reason"] = "Age" }},
		"a property that comes": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { delete(properties(o, 1), "reason") }},
		"another property": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { properties(o, 1)["state"] = stateEffective }},
		"a result less": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { o["results"] = append(results(o), results(o)[0]) }},
		"no result": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { delete(o, "results") }},
		"somebody's own field": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { o["configuration"] = map[string]any{"limits": "x"} }},
		"it was not complete": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { annotations(o)[completeAnnotation] = "false" }},
		"the route has no generation any more": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { annotations(o)[generationAnnotation] = "3" }},
		"no time of reading": {report: namespaceReportName, want: Update,
			change: func(o map[string]any) { delete(annotations(o), readAtAnnotation) }},
	} {
		t.Run(name, func(t *testing.T) {
			have := stored(t, aReport(c.report, then), c.change)
			p := NewPlan([]map[string]any{have}, []*Report{aReport(c.report, then.Add(c.later))},
				c.heartbeat, false, nil)
			if len(p.Items) != 1 || p.Items[0].Action != c.want {
				t.Errorf("%+v, not %s", p.Items, c.want)
			}
		})
	}
}

// What is not to be there any more is removed, unless it is not known whether it should be.
func TestPlanRemoves(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	have := []map[string]any{stored(t, aReport("dopolicy-httproute-gone", now), nil)}
	want := []*Report{aReport(namespaceReportName, now)}
	p := NewPlan(have, want, 0, false, nil)
	if len(p.Items) != 2 || p.Items[0].Action != Create || p.Items[1].Action != Remove || p.Items[1].UID != "u-1" ||
		p.Items[1].Report.Name != "dopolicy-httproute-gone" {
		t.Errorf("%+v", p.Items)
	}
	if p := NewPlan(have, want, 0, true, nil); len(p.Items) != 1 {
		t.Errorf("%+v", p.Items)
	}
}
