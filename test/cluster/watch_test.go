package cluster

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// watched is a watching plugin, with the answers it prints.
type watched struct {
	t       *testing.T
	cmd     *exec.Cmd
	answers chan effectiveAnswer
	ended   chan error
}

// effectiveAnswer is as much of an EffectivePolicyList as the tests look at.
type effectiveAnswer struct {
	Items []struct {
		PolicyKind string
		Rules      []struct{ Name string }
	}
}

// settings are the names of all settings in force, with their kinds.
func (a effectiveAnswer) settings() string {
	var out []string
	for _, i := range a.Items {
		for _, r := range i.Rules {
			out = append(out, r.Name)
		}
	}
	return strings.Join(out, " ")
}

func watch(t *testing.T, kubeconfig string, args ...string) *watched {
	t.Helper()
	cmd := exec.Command(Plugin(t), append([]string{"effective", "-w", "-o", "json"}, args...)...)
	cmd.Env = []string{"KUBECONFIG=" + kubeconfig, "HOME=" + t.TempDir(), "PATH=" + os.Getenv("PATH")}
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	w := &watched{t: t, cmd: cmd, answers: make(chan effectiveAnswer, 100), ended: make(chan error, 1)}
	go func() {
		d := json.NewDecoder(stdout)
		for {
			var a effectiveAnswer
			if err := d.Decode(&a); err != nil {
				if !errors.Is(err, io.EOF) {
					t.Errorf("reading what is watched: %v", err)
				}
				break
			}
			w.answers <- a
		}
		w.ended <- cmd.Wait()
	}()
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	return w
}

// next is the next answer.
func (w *watched) next() string {
	w.t.Helper()
	select {
	case a := <-w.answers:
		return a.settings()
	case err := <-w.ended:
		w.t.Fatalf("the program ended: %v", err)
	case <-time.After(20 * time.Second):
		w.t.Fatal("no answer within 20 seconds")
	}
	return ""
}

const watchedRoute = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: watched}
spec: {controllerName: example.com/gateway}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: external, namespace: watched}
spec: {gatewayClassName: watched, listeners: [{name: web, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: cart, namespace: watched}
spec: {parentRefs: [{name: external}], rules: [{name: checkout}]}
`

// watchedPolicy is a policy on the route with limits of the given names.
func watchedPolicy(limits ...string) string {
	var list []string
	for _, l := range limits {
		list = append(list, l+": {rates: [{limit: 1, window: 1s}]}")
	}
	return `
apiVersion: kuadrant.io/v1
kind: RateLimitPolicy
metadata: {name: limits, namespace: watched}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}, limits: {` + strings.Join(list, ", ") + `}}
`
}

// TestWatch changes a policy under a watching program: each change of the answer is printed once, and what changes no answer is not.
func TestWatch(t *testing.T) {
	c := Shared(t)
	c.MustApply(watchedRoute, watchedPolicy("one"))
	w := watch(t, c.Kubeconfig("admin", "watched"), "cart")
	if got := w.next(); got != "limits.one" {
		t.Fatalf("at first: %s", got)
	}
	time.Sleep(2 * time.Second) // so that the watches are there, and what is applied is what they see
	c.MustApply(watchedPolicy("one", "two"))
	if got := w.next(); got != "limits.one limits.two" {
		t.Errorf("after a setting was added: %s", got)
	}
	c.MustApply(strings.Replace(watchedPolicy("one", "two"), "namespace: watched",
		"namespace: watched, labels: {a: b}", 1))
	time.Sleep(2 * time.Second)
	c.MustApply(watchedPolicy("two"))
	if got := w.next(); got != "limits.two" {
		t.Errorf("after a label was added, which changes no answer, and a setting removed: %s", got)
	}
	if err := w.cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-w.ended:
		if err != nil {
			t.Errorf("interrupted, it ends with %v", err)
		}
	case <-time.After(time.Second):
		t.Error("interrupted, it does not end within a second")
	}
}

// TestWatchReadsOnce changes a policy under a watching program several times: each list is read once, however much changes, and a list whose watch
// expires is read once more.
func TestWatchReadsOnce(t *testing.T) {
	c := Shared(t)
	c.MustApply(watchedRoute, watchedPolicy("one"))
	list, expired := "/apis/"+routes, false
	p := c.Proxy("admin", func(r *http.Request, _ int) Fault {
		if r.URL.Query().Get("watch") == "" || r.URL.Path != list || expired {
			return Fault{}
		}
		expired = true
		return Expired()
	})
	w := watch(t, p.Kubeconfig("watched"), "cart")
	if got := w.next(); got != "limits.one" {
		t.Fatalf("at first: %s", got)
	}
	for _, names := range [][]string{{"one", "two"}, {"two"}, {"three"}} {
		c.MustApply(watchedPolicy(names...)) // at once: what happens between the list and the watch is not lost
		want := "limits." + strings.Join(names, " limits.")
		if got := w.next(); got != want {
			t.Errorf("after a change: %s, want %s", got, want)
		}
	}
	lists, watched := map[string]int{}, map[string]int{}
	for _, r := range p.Requests() {
		if r.Path == "/version" { // whether the server is there
			continue
		}
		if r.Query.Get("watch") == "" {
			lists[r.Path]++
		} else {
			watched[r.Path]++
			if r.Query.Get("resourceVersion") == "" {
				t.Errorf("%s is watched from no version", r.Path)
			}
		}
	}
	for list, n := range lists {
		want := 1
		if strings.HasSuffix(list, routes) {
			want = 2
		}
		if list != "/api" && list != "/apis" && n != want {
			t.Errorf("%s is listed %d times, want %d", list, n, want)
		}
		if list != "/api" && list != "/apis" && watched[list] == 0 {
			t.Errorf("%s is not watched", list)
		}
	}
}

// TestWatchFindsNewKinds applies the definition of a policy kind, and a policy of it, under a watching program.
func TestWatchFindsNewKinds(t *testing.T) {
	c := Shared(t)
	c.MustApply(watchedRoute)
	w := watch(t, c.Kubeconfig("admin", "watched"), "cart")
	if got := w.next(); got != "" {
		t.Fatalf("at first: %s", got)
	}
	time.Sleep(2 * time.Second)
	c.MustApply(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: watchedpolicies.test.example.com, labels: {gateway.networking.k8s.io/policy: Inherited}}
spec:
  group: test.example.com
  scope: Namespaced
  names: {kind: WatchedPolicy, plural: watchedpolicies, singular: watchedpolicy}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, x-kubernetes-preserve-unknown-fields: true}}}}}
`, `
apiVersion: test.example.com/v1
kind: WatchedPolicy
metadata: {name: new, namespace: watched}
spec: {targetRef: {group: gateway.networking.k8s.io, kind: HTTPRoute, name: cart}, color: blue}
`)
	if got := w.next(); got != "color" {
		t.Errorf("after the kind and its policy came: %s", got)
	}
}
