package cluster

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

// publisher is the user that has the rights of the ServiceAccount that publishes.
const publisher = "publisher"

// publishing is a server of its own with the demo, the API for reports that a file defines, and the publisher.
func publishing(t *testing.T, definitions string) *Cluster {
	t.Helper()
	c := Start(t)
	c.InstallGatewayAPI()
	c.InstallPolicyKinds()
	c.ApplyFiles(definitions, demo)
	c.User(publisher)
	c.Allow(publisher, "",
		append(deployedRules(t),
			reading("policies.example.com"))...) // a kind without a descriptor takes a rule of its own
	return c
}

// deployedRules are the rights of the ServiceAccount, as they are shipped.
func deployedRules(t *testing.T) []rbacv1.PolicyRule {
	t.Helper()
	var out []rbacv1.PolicyRule
	for _, file := range []string{"../../deploy/publish/reader.yaml", "../../deploy/publish/writer.yaml"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var role rbacv1.ClusterRole
		if err := yaml.UnmarshalStrict(text, &role); err != nil {
			t.Fatal(err)
		}
		out = append(out, role.Rules...)
	}
	return out
}

// published is what publishing did, by action.
func published(t *testing.T, kubeconfig string, args ...string) map[string]int {
	t.Helper()
	got := Run(t, append([]string{"publish", "-o", "json"}, args...), environment(kubeconfig))
	if got.Code != 0 {
		t.Fatalf("publish %s: exit %d: %s", args, got.Code, got.Stderr)
	}
	var plan struct {
		Complete bool
		Items    []struct{ Action string }
	}
	if err := json.Unmarshal([]byte(got.Stdout), &plan); err != nil {
		t.Fatal(err)
	}
	if !plan.Complete {
		t.Errorf("publish %s is incomplete: %s", args, got.Stderr)
	}
	out := map[string]int{}
	for _, i := range plan.Items {
		out[i.Action]++
	}
	return out
}

// writes are the requests of a user that change something.
func (c *Cluster) writes(user string, since time.Time) []string {
	var out []string
	for _, r := range c.Requests(user, since) {
		if !slices.Contains([]string{"get", "list", "watch"}, r.Verb) {
			out = append(out, r.Verb+" "+r.Path)
		}
	}
	return out
}

// TestPublish writes reports with the rights that are shipped, and nothing where nothing changed.
func TestPublish(t *testing.T) {
	for _, api := range []string{"policyreports", "reports"} {
		t.Run(api, func(t *testing.T) {
			c := publishing(t, "testdata/"+api+".yaml")
			kubeconfig := c.Kubeconfig(publisher, "")
			start := time.Now()
			if dry := published(t, kubeconfig, "--dry-run"); dry["create"] == 0 || len(c.writes(publisher, start)) > 0 {
				t.Errorf("a dry run has %v and writes %q", dry, c.writes(publisher, start))
			}
			first := published(t, kubeconfig)
			if first["create"] < 5 || len(first) > 1 {
				t.Fatalf("the first run has %v", first)
			}
			start = time.Now()
			if again := published(t, kubeconfig); again["unchanged"] != first["create"] || len(again) > 1 ||
				len(c.writes(publisher, start)) > 0 {
				t.Errorf("the second run has %v and writes %q", again, c.writes(publisher, start))
			}
			time.Sleep(1100 * time.Millisecond) // times are told to the second
			if beat := published(t, kubeconfig, "--heartbeat", "1s"); beat["refresh"] == 0 ||
				beat["refresh"]+beat["unchanged"] != first["create"] {
				t.Errorf("with a heartbeat there is %v", beat)
			}
			if api == "policyreports" {
				t.Run("the other API", func(t *testing.T) { publishedElsewhere(t, c, kubeconfig, first["create"]) })
			}
			t.Run("a change", func(t *testing.T) { publishedChange(t, c, api, kubeconfig, first["create"]) })
		})
	}
}

// publishedElsewhere has the other API served as well, with a report of ours from a time when it was alone: it is removed, unless an API is chosen.
func publishedElsewhere(t *testing.T, c *Cluster, kubeconfig string, all int) {
	c.ApplyFiles("testdata/reports.yaml")
	c.MustApply(
		"{apiVersion: openreports.io/v1alpha1, kind: Report, metadata: {name: dopolicy, namespace: shop, labels: {app.kubernetes.io/managed-by: kubectl-dopolicy}}}")
	if got := published(t, kubeconfig, "--api", "policyreport"); got["remove"] != 0 || got["unchanged"] != all {
		t.Errorf("with a chosen API there is %v", got)
	}
	if got := published(t, kubeconfig); got["remove"] != 1 || got["unchanged"] != all {
		t.Errorf("with both APIs there is %v", got)
	}
}

// publishedChange changes a policy and removes a route: only what this concerns is written.
func publishedChange(t *testing.T, c *Cluster, api, kubeconfig string, all int) {
	admin := environment(c.Kubeconfig(admin, ""))
	kubectl := func(args ...string) string {
		t.Helper()
		got := RunProgram(t, Kubectl(t), args, admin)
		if got.Code != 0 {
			t.Fatalf("kubectl %s: %s", args, got.Stderr)
		}
		return got.Stdout
	}
	kubectl("-n", "bakery", "delete", "authpolicies.kuadrant.io", "baker")
	kubectl("-n", "shop", "delete", "httproute", "search")
	version, kind := "wgpolicyk8s.io/v1alpha2", "PolicyReport"
	if api == "reports" {
		version, kind = "openreports.io/v1alpha1", "Report"
	}
	c.MustApply("{apiVersion: " + version + ", kind: " + kind +
		", metadata: {name: others, namespace: bakery, labels: {app.kubernetes.io/managed-by: others}}}")
	start := time.Now()
	got := published(t, kubeconfig)
	if got["update"] == 0 || got["remove"] != 1 || got["unchanged"] == 0 ||
		got["update"]+got["remove"]+got["unchanged"] != all {
		t.Errorf("after a change there is %v: %q", got, c.writes(publisher, start))
	}
	for _, w := range c.writes(publisher, start) {
		if strings.Contains(w, "others") || strings.Contains(w, "dopolicy-httproute-cart") {
			t.Errorf("written for no reason: %s", w)
		}
	}
	left := kubectl("get", api, "-A", "-o", "name")
	if strings.Contains(left, "dopolicy-httproute-search") || !strings.Contains(left, "others") {
		t.Errorf("there are %s", left)
	}
	if report := kubectl("-n", "bakery", "get", api, "dopolicy-httproute-baker", "-o", "yaml",
		"--show-managed-fields"); strings.Contains(report, "AuthPolicy.kuadrant.io/bakery/baker") ||
		!strings.Contains(report, "manager: kubectl-dopolicy") {
		t.Errorf("the report is not of the policies that there are, or not ours:\n%s", report)
	}
}

// TestPublishedAnswer: somebody with the rights of one namespace is told from its reports what shapes its routes, with the age of what is said, and
// nothing about another namespace.
func TestPublishedAnswer(t *testing.T) {
	c := publishing(t, "testdata/policyreports.yaml")
	const dev = "bakery-dev"
	c.User(dev)
	rules := []rbacv1.PolicyRule{reading("gateway.networking.k8s.io"), reading("kuadrant.io"), reading("", "services"),
		reading("wgpolicyk8s.io")}
	c.Allow(dev, "bakery", rules...)
	kubeconfig := c.Kubeconfig(dev, "bakery")
	before := askJSON(t, kubeconfig, "effective", "baker")
	if len(before.Reported) > 0 {
		t.Errorf("without reports there is %v", before.Reported)
	}
	if plain := Run(t, []string{"effective", "baker"}, environment(kubeconfig)); !strings.Contains(plain.Stdout+
		plain.Stderr, "infra") {
		t.Errorf("the Gateway's namespace is not named: %s", plain.Stdout+plain.Stderr)
	}
	published(t, c.Kubeconfig(publisher, ""))

	got := askJSON(t, kubeconfig, "effective", "baker")
	if got.Complete {
		t.Error("the answer says that it is complete")
	}
	states := map[string]string{}
	for _, r := range got.Reported {
		policy := r.Policy.Kind + " " + r.Policy.Namespace + "/" + r.Policy.Name
		states[r.Target.Section+" "+policy] = r.State
		if r.Source != "report" || r.Age == "" || r.ReadAt == "" || r.Outdated || !r.Complete ||
			r.Target.Namespace != "bakery" || r.Owner == "" {
			t.Errorf("a line is %+v", r)
		}
	}
	whole := askJSON(t, c.Kubeconfig(admin, "bakery"), "effective", "baker")
	uses := 0
	for _, item := range whole.Items {
		section := item["target"].(map[string]any)["section"].(string)
		for _, use := range item["policies"].([]any) {
			use := use.(map[string]any)
			ref := use["policy"].(map[string]any)
			want := map[string]string{"contributing": "effective", "partial": "partial", "lost": "overridden",
				"ignored": "ignored"}[use["role"].(string)]
			key := section + " " + ref["kind"].(string) + " " + ref["namespace"].(string) + "/" + ref["name"].(string)
			if uses++; states[key] != want {
				t.Errorf("%s is reported as %q, and it is %s", key, states[key], want)
			}
		}
	}
	if uses == 0 || uses != len(states) {
		t.Errorf("%d policies are reported, and there are %d", len(states), uses)
	}
	table := Run(t, []string{"effective"}, environment(kubeconfig))
	for _, want := range []string{"published reports in bakery", "ago", "infra/gw-auth"} {
		if !strings.Contains(table.Stdout, want) {
			t.Errorf("the table does not say %q:\n%s", want, table.Stdout)
		}
	}
	if !strings.Contains(table.Stderr, "the published reports above tell") || strings.Count(table.Stderr, "\n") != 2 {
		t.Errorf("beside the reports it says:\n%s", table.Stderr)
	}
	everything := Run(t, []string{"effective", "-A", "-o", "yaml"}, environment(kubeconfig)).Stdout + table.Stdout
	for _, other := range []string{"shop/", "cart", "inventory", "assistant"} {
		if strings.Contains(everything, other) {
			t.Errorf("the answer speaks of %s", other)
		}
	}
	t.Run("snapshot", func(t *testing.T) {
		file := filepath.Join(t.TempDir(), "dev.yaml")
		ask(t, kubeconfig, "snapshot", "-o", file)
		from := askJSON(t, "", "effective", "baker", "-n", "bakery", "-f", file)
		for i := range from.Reported {
			from.Reported[i].Age = got.Reported[i].Age
		}
		if !reflect.DeepEqual(from.Reported, got.Reported) {
			t.Errorf("from a snapshot %+v, not %+v", from.Reported, got.Reported)
		}
	})
	if all := askJSON(t, kubeconfig, "effective", "-A"); len(all.Reported) != len(got.Reported) {
		t.Errorf("with -A there are %d lines, not %d", len(all.Reported), len(got.Reported))
	}
	t.Run("outdated", func(t *testing.T) {
		change := RunProgram(t, Kubectl(t), []string{"-n", "bakery", "patch", "httproute", "baker", "--type=json",
			"-p", `[{"op":"add","path":"/spec/hostnames/-","value":"new.example.com"}]`}, environment(
			c.Kubeconfig(admin, "")))
		if change.Code != 0 {
			t.Fatal(change.Stderr)
		}
		for _, r := range askJSON(t, kubeconfig, "effective", "baker").Reported {
			if !r.Outdated {
				t.Errorf("the route has changed, and the line does not say so: %+v", r)
			}
		}
	})
}
