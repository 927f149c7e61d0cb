package metrics

import (
	"context"
	"encoding/json"
	"log/slog"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/common/model"
	"github.com/prometheus/prometheus/model/labels"
	"github.com/prometheus/prometheus/model/rulefmt"
	"github.com/prometheus/prometheus/promql"
	"github.com/prometheus/prometheus/promql/parser"
	"github.com/prometheus/prometheus/promql/promqltest"
	"github.com/prometheus/prometheus/rules"
	"sigs.k8s.io/yaml"
)

const deployed = root + "/deploy/metrics"

// alerts are the rules of deploy/metrics, read as Prometheus does.
func alerts(t *testing.T) []rulefmt.Rule {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployed, "rules.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	groups, problems := rulefmt.Parse(text, false, model.UTF8Validation, parser.NewParser(parser.Options{}), slog.New(slog.DiscardHandler))
	if len(problems) > 0 || len(groups.Groups) != 1 || len(groups.Groups[0].Rules) == 0 {
		t.Fatalf("%v", problems)
	}
	return groups.Groups[0].Rules
}

// TestPrometheusRule: the object for the operator has the groups of the file.
func TestPrometheusRule(t *testing.T) {
	alerts(t)
	var file, object map[string]any
	for name, into := range map[string]*map[string]any{"rules.yaml": &file, "prometheusrule.yaml": &object} {
		text, err := os.ReadFile(filepath.Join(deployed, name))
		if err == nil {
			err = yaml.UnmarshalStrict(text, into)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if object["kind"] != "PrometheusRule" || object["apiVersion"] != "monitoring.coreos.com/v1" || !reflect.DeepEqual(object["spec"], any(file)) {
		t.Errorf("the groups are %v, those of the file %v", object["spec"], file)
	}
}

// firing are the alerts that fire when these metrics have stood for half an hour, with their summaries.
func firing(t *testing.T, text string) map[string][]string {
	t.Helper()
	samples := strings.Builder{}
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" && !strings.HasPrefix(line, "#") {
			at := strings.LastIndexByte(line, ' ')
			samples.WriteString("  " + line[:at] + " " + line[at+1:] + "x40\n")
		}
	}
	storage := promqltest.LoadedStorage(t, "load 1m\n"+samples.String())
	defer storage.Close()
	engine := promqltest.NewTestEngine(t, false, 5*time.Minute, promqltest.DefaultMaxSamplesPerQuery)
	query := rules.EngineQueryFunc(engine, storage)
	out := map[string][]string{}
	for _, r := range alerts(t) {
		expression, err := parser.NewParser(parser.Options{}).ParseExpr(r.Expr)
		if err != nil {
			t.Fatal(err)
		}
		rule := rules.NewAlertingRule(r.Alert, expression, time.Duration(r.For), 0, labels.FromMap(r.Labels), labels.FromMap(r.Annotations),
			labels.EmptyLabels(), "", true, slog.New(slog.DiscardHandler))
		for minute := range 35 {
			var result promql.Vector
			result, err = rule.Eval(context.Background(), 0, time.Unix(int64(minute)*60, 0), query, nil, 0)
			if err != nil {
				t.Fatalf("%s: %v", r.Alert, err)
			}
			_ = result
		}
		for _, a := range rule.ActiveAlerts() {
			summary := a.Annotations.Get("summary")
			if strings.Contains(summary, "error") && !strings.Contains(r.Annotations["summary"], "error") || strings.Contains(summary, "{{") {
				t.Errorf("%s: the summary is %q", r.Alert, summary)
			}
			if a.State == rules.StateFiring {
				out[r.Alert] = append(out[r.Alert], summary)
			}
		}
	}
	return out
}

// fine is a cluster in which nothing is wrong, read at the time of the samples' last minutes.
const fine = `dopolicy_route_rules{namespace="shop",protection="open"} 0
dopolicy_route_rules{namespace="shop",protection="undecided"} 0
dopolicy_policies{namespace="shop",kind="AuthPolicy.kuadrant.io",state="error"} 0
dopolicy_answer_complete{answer="check"} 1
dopolicy_cluster_answered 1
dopolicy_read_timestamp_seconds 1000
`

// TestAlerts: each alert fires for what it is about, and for nothing else.
func TestAlerts(t *testing.T) {
	for _, c := range []struct{ metrics, alert, summary string }{
		{fine, "", ""},
		{strings.Replace(fine, `"open"} 0`, `"open"} 3`, 1), "DopolicyRouteRuleOpen", "Route rules without authentication in shop: 3"},
		{strings.Replace(fine, `namespace="shop",protection="open"} 0`, `protection="open"} 3`, 1), "DopolicyRouteRuleOpen",
			"Route rules without authentication in no namespace: 3"},
		{strings.Replace(fine, `"undecided"} 0`, `"undecided"} 1`, 1), "DopolicyRouteRuleUndecided",
			"Route rules of which it cannot be known whether requests have to authenticate in shop: 1"},
		{strings.Replace(fine, `"error"} 0`, `"error"} 2`, 1), "DopolicyPolicyInError", "Policies of kind AuthPolicy.kuadrant.io in error in shop: 2"},
		{strings.Replace(fine, `"check"} 1`, `"check"} 0`, 1), "DopolicyAnswerIncomplete", "kubectl dopolicy cannot tell all that it is asked: check"},
		{strings.Replace(fine, `answered 1`, `answered 0`, 1), "DopolicyAnswerIncomplete",
			"kubectl dopolicy cannot tell all that it is asked: the cluster does not answer"},
		{strings.Replace(fine, `seconds 1000`, `seconds -5000`, 1), "DopolicyStale", "The counts of kubectl dopolicy are not renewed"},
		{strings.Replace(fine, `dopolicy_read_timestamp_seconds 1000`, "", 1), "DopolicyStale", "The counts of kubectl dopolicy are not renewed"},
	} {
		want := map[string][]string{}
		if c.alert != "" {
			want[c.alert] = []string{c.summary}
		}
		if got := firing(t, c.metrics); !reflect.DeepEqual(got, want) {
			t.Errorf("%s\nfires %q, want %q", c.metrics, got, want)
		}
	}
}

// TestAlertsOfDemo: what the program writes of the demo, where three rules are open, is what the alerts are about.
func TestAlertsOfDemo(t *testing.T) {
	text, _ := run(t, "check", "-A", "-f", filepath.Join(root, "testdata/demo"), "-o", "openmetrics")
	got := firing(t, text)
	if want := []string{"Route rules without authentication in shop: 3"}; !slices.Equal(got["DopolicyRouteRuleOpen"], want) {
		t.Errorf("%q", got)
	}
	if want := []string{"Policies of kind RateLimitPolicy.kuadrant.io in error in infra: 1"}; !slices.Equal(got["DopolicyPolicyInError"], want) {
		t.Errorf("%q", got)
	}
	if got["DopolicyStale"] == nil { // files have no time of reading
		t.Error("nothing says that files are no cluster")
	}
}

// variable is a variable of the dashboard.
var variable = regexp.MustCompile(`\$[a-z]+`)

// expressions are the queries of the dashboard and the alerts.
func expressions(t *testing.T) []string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(deployed, "dashboard.json"))
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Panels []struct {
			Title, Description string
			Targets            []struct{ Expr string }
		}
		Templating struct {
			List []struct {
				Name  string
				Query any
			}
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, p := range dashboard.Panels {
		if p.Title == "" || p.Description == "" || len(p.Targets) == 0 {
			t.Errorf("a panel says nothing: %+v", p)
		}
		for _, target := range p.Targets {
			out = append(out, variable.ReplaceAllString(target.Expr, ".*"))
		}
	}
	for _, v := range dashboard.Templating.List {
		if q, ok := v.Query.(map[string]any); ok {
			inner := strings.TrimSuffix(strings.TrimPrefix(q["query"].(string), "label_values("), ")")
			at := strings.LastIndexByte(inner, ',')
			out = append(out, "count by ("+inner[at+1:]+") ("+variable.ReplaceAllString(inner[:at], ".*")+")")
		}
	}
	for _, r := range alerts(t) {
		out = append(out, r.Expr)
	}
	return out
}

// TestExpressionsNameWhatIsWritten: each query of the dashboard and the alerts is valid, and the metrics, the labels and their values are such as
// the program writes.
func TestExpressionsNameWhatIsWritten(t *testing.T) {
	written := exposition{"dopolicy_read_timestamp_seconds": {{labels.FromStrings("cluster", "a"), 1}}} // of clusters only
	for _, args := range [][]string{{"check", "-A", "-f", filepath.Join(root, "testdata/demo")}, {"check", "-A", "--each",
		"-f", filepath.Join(root, "testdata/migration")}, {"check", "-A", "-f", filepath.Join(root, "testdata/findings/ConfigurationRefused/fails.yaml")}, {"matrix", "-A", "-f", filepath.Join(root, "testdata/demo"), "--missing", "authentication"}} {
		got, _ := countMetrics(t, args...)
		for name, samples := range got {
			written[name] = append(written[name], samples...)
		}
	}
	all := expressions(t)
	if len(all) < 20 {
		t.Fatalf("only %d expressions", len(all))
	}
	used := map[string]bool{}
	for _, text := range all {
		e, err := parser.NewParser(parser.Options{}).ParseExpr(text)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		var names []string // of labels that are grouped by
		metric := ""
		parser.Inspect(e, func(node parser.Node, _ []parser.Node) error {
			switch n := node.(type) {
			case *parser.AggregateExpr:
				names = append(names, n.Grouping...)
			case *parser.VectorSelector:
				metric = n.Name
				used[metric] = true
				for _, m := range n.LabelMatchers {
					if !slices.ContainsFunc(written[metric], func(s sample) bool {
						return m.Name == labels.MetricName || m.Matches(s.labels.Get(m.Name)) && (m.Name == "cluster" || s.labels.Has(m.Name))
					}) {
						t.Errorf("%s: no series of %s has %s", text, metric, m)
					}
				}
			}
			return nil
		})
		for _, name := range names {
			if name != "cluster" && !slices.ContainsFunc(written[metric], func(s sample) bool { return s.labels.Has(name) }) &&
				!strings.Contains(text, "dopolicy_cluster_answered") {
				t.Errorf("%s: %s has no label %s", text, metric, name)
			}
		}
		if len(written[metric]) == 0 {
			t.Errorf("%s: %s is not written", text, metric)
		}
	}
	for name := range written {
		page, err := os.ReadFile(filepath.Join(root, "docs/metrics.md"))
		if err != nil || !strings.Contains(string(page), "`"+name) {
			t.Errorf("docs/metrics.md does not say what %s is (%v)", name, err)
		}
	}
}
