package cluster

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	rbacv1 "k8s.io/api/rbac/v1"
)

// across has references of every sort across namespaces, and policies at every level.
const across = "../../internal/vectortest/testdata/withheld.yaml"

// applyAcross applies that file, with definitions for kinds that nobody serves.
func (c *Cluster) applyAcross() {
	c.tb.Helper()
	text, err := os.ReadFile(across)
	if err != nil {
		c.tb.Fatal(err)
	}
	c.defineMissing([]string{string(text)})
	c.MustApply(string(text))
}

// groups are those of the kinds that are read; the core group has Services and Namespaces.
var groups = []string{"gateway.networking.k8s.io", "kuadrant.io", "policies.example.com", "cert-manager.io",
	"apiextensions.k8s.io", ""}

// lists are the resources of which one each is withheld, with their groups.
var lists = map[string]string{
	"gatewayclasses": "gateway.networking.k8s.io", "gateways": "gateway.networking.k8s.io",
	"httproutes": "gateway.networking.k8s.io",
	"grpcroutes": "gateway.networking.k8s.io", "referencegrants": "gateway.networking.k8s.io", "services": "",
	"namespaces":   "",
	"authpolicies": "kuadrant.io", "ratelimitpolicies": "kuadrant.io", "tlspolicies": "kuadrant.io",
	"dnspolicies":   "kuadrant.io",
	"colorpolicies": "policies.example.com", "issuers": "cert-manager.io",
	"customresourcedefinitions": "apiextensions.k8s.io",
}

// reading is a rule that allows to read all of a group, or some of its resources.
func reading(group string, resources ...string) rbacv1.PolicyRule {
	if resources == nil {
		resources = []string{"*"}
	}
	return rbacv1.PolicyRule{Verbs: []string{"get", "list", "watch"}, APIGroups: []string{group}, Resources: resources}
}

// allBut are the rules of somebody who may read everything but one resource.
func allBut(resource string) []rbacv1.PolicyRule {
	var out []rbacv1.PolicyRule
	for _, group := range groups {
		if group != lists[resource] {
			out = append(out, reading(group))
			continue
		}
		var others []string
		for name, of := range lists {
			if of == group && name != resource {
				others = append(others, name)
			}
		}
		slices.Sort(others)
		if group == "gateway.networking.k8s.io" {
			others = append(others, "listenersets", "tcproutes", "tlsroutes", "udproutes")
		}
		if len(others) > 0 {
			out = append(out, reading(group, others...))
		}
	}
	return append(out, reading("gateway.networking.x-k8s.io"))
}

// limited is a user, and what the server has to refuse.
type limited struct {
	name      string
	everyone  []rbacv1.PolicyRule // in all namespaces
	namespace string              // where everything may be read
	forbidden string              // what a Forbidden problem has to name, "" if nothing that matters is withheld
}

// TestRBAC asks as users who may read less: what their answers do not mark as unsure is what the administrator's have.
func TestRBAC(t *testing.T) {
	c := Shared(t)
	c.applyAcross()
	users := []limited{
		{name: "own-namespace", namespace: "app", forbidden: "AuthPolicy edge"},
		{name: "own-namespace-and-classes", namespace: "app",
			everyone: []rbacv1.PolicyRule{reading("gateway.networking.k8s.io", "gatewayclasses"),
				reading("", "namespaces")}, forbidden: "AuthPolicy inner"},
		{name: "gateways-namespace", namespace: "edge", forbidden: "HTTPRoute "},
		{name: "backends-namespace", namespace: "data", forbidden: "Gateway inner"},
	}
	for resource := range lists {
		users = append(users, limited{name: "no-" + resource, everyone: allBut(resource)})
	}
	slices.SortFunc(users, func(a, b limited) int { return strings.Compare(a.name, b.name) })
	admin := c.Kubeconfig("admin", "")
	whole := map[string]*answer{}
	for _, q := range questions {
		whole[q[0]] = askJSON(t, admin, q...)
	}
	for _, u := range users {
		t.Run(u.name, func(t *testing.T) {
			user := "rbac-" + u.name
			c.User(user)
			if u.everyone != nil {
				c.Allow(user, "", u.everyone...)
			}
			if u.namespace != "" {
				var all []rbacv1.PolicyRule
				for _, group := range groups {
					all = append(all, reading(group))
				}
				c.Allow(user, u.namespace, all...)
			}
			kubeconfig := c.Kubeconfig(user, u.namespace)
			for _, q := range questions {
				got := askJSON(t, kubeconfig, q...)
				differs := false
				for _, wrong := range unmarked(t, whole[q[0]], got) {
					t.Errorf("%s: not marked, and not what the administrator sees: %s", q[0], wrong)
				}
				differs = len(differences(t, whole[q[0]].Items, got.Items)) > 0
				if differs && got.Complete {
					t.Errorf("%s: another answer than the administrator's says that it is complete", q[0])
				}
				if u.forbidden != "" && !slices.Contains(got.forbidden(), u.forbidden) {
					t.Errorf("%s: Forbidden are %q, not %q", q[0], got.forbidden(), u.forbidden)
				}
				strict := Run(t, append(slices.Clone(q), "--strict"), environment(kubeconfig))
				if want := map[bool]int{true: 0, false: 3}[got.Complete]; strict.Code != want {
					t.Errorf("%s --strict: exit %d, want %d", q[0], strict.Code, want)
				}
			}
		})
	}
}

// forbidden are the kinds and namespaces of the problems about refused lists.
func (a *answer) forbidden() []string {
	var out []string
	for _, p := range a.Problems {
		if p["code"] == "Forbidden" {
			ref := p["ref"].(map[string]any)
			namespace, _ := ref["namespace"].(string)
			out = append(out, fmt.Sprintf("%s %s", ref["kind"], namespace))
		}
	}
	return out
}

// unmarked are the items and conditions of an answer that are not in the whole one, nor marked as unsure.
func unmarked(t *testing.T, whole, got *answer) []string {
	t.Helper()
	have := map[string]bool{}
	for _, item := range whole.Items {
		for _, part := range certain(t, item) {
			have[part] = true
		}
	}
	var out []string
	for _, item := range got.Items {
		for _, part := range certain(t, item) {
			if !have[part] {
				out = append(out, part)
			}
		}
	}
	return out
}

// certain are the parts of an item that can be wrong alone: itself, or its conditions. Those that are marked are not among them.
func certain(t *testing.T, item map[string]any) []string {
	t.Helper()
	ancestors, ok := item["ancestors"].([]any)
	if !ok {
		if item["unread"] != nil {
			return nil
		}
		return []string{asJSON(t, item)}
	}
	var out []string
	if n, ok := item["attachedRoutes"]; ok {
		out = append(out, asJSON(t, item["object"])+fmt.Sprint(" attached routes ", n))
	}
	for _, a := range ancestors {
		for _, c := range a.(map[string]any)["conditions"].([]any) {
			condition := c.(map[string]any)
			if condition["status"] == "Unknown" {
				continue
			}
			if condition["type"] == "Accepted" && condition["status"] == "True" {
				delete(condition, "message") // says whether traffic comes at all, which may not be known
			}
			out = append(out, asJSON(t, item["object"])+asJSON(t, a.(map[string]any)["ancestorRef"])+
				asJSON(t, condition))
		}
	}
	return out
}

// TestRBACNothing: who may read nothing gets no answer.
func TestRBACNothing(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	c.User("rbac-nobody")
	got := Run(t, []string{"effective", "-A"}, environment(c.Kubeconfig("rbac-nobody", "shop")))
	if got.Code != 3 || got.Stdout != "" || !strings.Contains(got.Stderr, "nothing may be listed (Forbidden)") {
		t.Errorf("%+v", got)
	}
}

// TestRBACOneLine: a developer with the rights of one namespace sees her answer, one line about the rest, and what to do about it. With the rights
// that --print-rbac prints the answer is complete.
func TestRBACOneLine(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	const dev = "rbac-one-line"
	c.User(dev)
	c.Allow(dev, "bakery", reading("gateway.networking.k8s.io"), reading("kuadrant.io"), reading("", "services"))
	kubeconfig := c.Kubeconfig(dev, "bakery")
	got := Run(t, []string{"effective", "baker"}, environment(kubeconfig))
	for _, want := range []string{"you cannot read namespace infra (gateway/infra/external and the policies there)",
		"kubectl dopolicy publish -n bakery", "--print-rbac"} {
		if !strings.Contains(got.Stderr, want) {
			t.Errorf("it does not say %q:\n%s", want, got.Stderr)
		}
	}
	if n := strings.Count(got.Stderr, "\n"); n != 2 || !strings.Contains(got.Stdout, "bakery/baker-limits") {
		t.Errorf("%d lines beside the answer:\n%s%s", n, got.Stdout, got.Stderr)
	}
	for _, request := range []string{"https://bakery.example.com/orders", "https://shop.example.com/cart",
		"http://nowhere.example.org/"} {
		answer := Run(t, []string{"request", request, "-o", "json"}, environment(kubeconfig))
		if answer.Code != 0 || !strings.Contains(answer.Stdout, `"outcome": "Conditional"`) ||
			!strings.Contains(answer.Stdout, `"complete": false`) || !strings.Contains(answer.Stdout, "forbidden") {
			t.Errorf("request %s: %+v", request, answer)
		}
	}
	rights := Run(t, []string{"effective", "baker", "--print-rbac"}, environment(kubeconfig))
	if rights.Code != 0 || rights.Stderr != "" {
		t.Fatalf("--print-rbac: %+v", rights)
	}
	nobody := Run(t, []string{"effective", "baker", "-n", "shop", "--print-rbac"}, environment(kubeconfig))
	if nobody.Code != 0 || !strings.Contains(nobody.Stdout, "namespace: shop") {
		t.Errorf("who may read nothing gets no rights printed: %+v", nobody)
	}
	c.MustApply(rights.Stdout)
	err := eventually("the printed rights in force", func(context.Context) (bool, error) {
		return askJSON(t, kubeconfig, "effective", "baker").Complete, nil
	})
	if err != nil {
		t.Errorf("%v: %s", err, Run(t, []string{"effective", "baker"}, environment(kubeconfig)).Stderr)
	}
	again := Run(t, []string{"effective", "baker", "--print-rbac"}, environment(kubeconfig))
	if again.Code != 0 || again.Stdout != "" || !strings.Contains(again.Stderr, "no rights are missing") {
		t.Errorf("with all rights: %+v", again)
	}
}

// TestRBACAs: --as and --as-group are somebody else's eyes.
func TestRBACAs(t *testing.T) {
	c := Shared(t)
	c.ApplyFiles(demo)
	var all []rbacv1.PolicyRule
	for _, group := range groups {
		all = append(all, reading(group))
	}
	c.User("rbac-dev")
	c.Allow("rbac-dev", "shop", all...)
	own := ask(t, c.Kubeconfig("rbac-dev", "shop"), "effective", "-A", "-o", "json")
	as := ask(t, c.Kubeconfig("admin", "shop"), "effective", "-A", "-o", "json", "--as", "rbac-dev")
	if own.Stdout != as.Stdout {
		t.Errorf("--as gives another answer:\n%s\n%s", own.Stdout, as.Stdout)
	}
	if readAnswer(t, as.Stdout).Complete {
		t.Error("the answer says that it is complete")
	}
	group := askJSON(t, c.Kubeconfig("admin", "shop"), "effective", "-A", "--as", "rbac-dev", "--as-group", masters)
	if !group.Complete {
		t.Errorf("as one of the group: %v", group.Problems)
	}
	refused := Run(t, []string{"effective", "-A", "--as", "somebody"}, environment(c.Kubeconfig("rbac-dev", "shop")))
	if refused.Code != 3 || refused.Stdout != "" || !strings.Contains(refused.Stderr, "impersonate") {
		t.Errorf("who may not impersonate: %+v", refused)
	}
}
