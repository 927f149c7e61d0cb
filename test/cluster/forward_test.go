package cluster

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/streaming/pkg/httpstream"
)

// runningProxy is a pod of the Gateway of testdata/audit.
const runningProxy = `
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: proxies, labels: {gateway.envoyproxy.io/owning-gateway-namespace: infra, gateway.envoyproxy.io/owning-gateway-name: eg}}
spec: {containers: [{name: envoy, image: envoy}]}
status: {phase: Running}
---
`

// dumps answers with a dump, in pieces with a pause before each.
func dumps(dump []byte, pieces int, pause time.Duration) func(httpstream.Stream) {
	return func(stream httpstream.Stream) {
		if _, err := http.ReadRequest(bufio.NewReader(stream)); err != nil {
			return
		}
		fmt.Fprintf(stream, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(dump))
		for i := range pieces {
			time.Sleep(pause)
			if _, err := stream.Write(dump[i*len(dump)/pieces : (i+1)*len(dump)/pieces]); err != nil {
				return
			}
		}
	}
}

// TestProxies: with the server's own pods, labels and permissions, a proxy that hangs, is slow or dies costs its own answer only, and who may not
// forward ports is told so.
func TestProxies(t *testing.T) {
	c := Start(t)
	c.InstallGatewayAPI()
	c.InstallPolicyKinds()
	dump, err := os.ReadFile("../../testdata/audit/proxy-1.json")
	if err != nil {
		t.Fatal(err)
	}
	c.ApplyFiles("../../testdata/audit/manifests.yaml")
	for _, name := range []string{"dies", "good", "hangs", "slow"} {
		c.MustApply(fmt.Sprintf(runningProxy, name))
	}
	hang := make(chan struct{})
	defer close(hang)
	answers := map[string]func(httpstream.Stream){
		"good":  dumps(dump, 1, 0),
		"slow":  dumps(append(bytes.Repeat([]byte(" "), 10<<20), dump...), 20, 50*time.Millisecond),
		"hangs": func(httpstream.Stream) { <-hang },
		"dies": func(stream httpstream.Stream) {
			fmt.Fprintf(stream, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n", len(dump))
			_, _ = stream.Write(dump[:len(dump)/2])
		},
	}
	all := []rbacv1.PolicyRule{reading("gateway.networking.k8s.io"), reading("gateway.envoyproxy.io"),
		reading("", "pods", "services", "namespaces")}
	c.User("operator")
	c.Allow("operator", "", append(all, rbacv1.PolicyRule{Verbs: []string{"create", "get"}, APIGroups: []string{""},
		Resources: []string{"pods/portforward"}})...)
	c.User("developer")
	c.Allow("developer", "", all...)
	ask := func(user string) (Result, []string) {
		t.Helper()
		got := Run(t, []string{"audit", "--proxies", "-A", "-o", "json", "--request-timeout", "8s"},
			"KUBECONFIG="+c.forwarder(user, answers))
		var report struct {
			Complete bool
			Proxies  []struct{ Name string }
			Summary  struct{ Rules, Matched, Same, Missing, Different, Unexplained, RouteMissing int }
			Problems []struct{ Code, Message string }
		}
		if err := json.Unmarshal([]byte(got.Stdout), &report); err != nil {
			t.Fatalf("%v\n%s\n%s", err, got.Stdout, got.Stderr)
		}
		var told []string
		for _, p := range report.Proxies {
			told = append(told, "read "+p.Name)
		}
		for _, p := range report.Problems {
			if strings.Contains(p.Message, "proxies/") {
				told = append(told, p.Code+" "+p.Message)
			}
		}
		s := report.Summary
		if report.Complete {
			t.Errorf("%s: complete, though proxies are not known", user)
		}
		return got, append(told, fmt.Sprintf("%d of %d rules, %d the same, %d differences", s.Matched, s.Rules, s.Same,
			s.Missing+s.Different+s.Unexplained+s.RouteMissing))
	}
	expect := func(user string, code int, words ...string) {
		t.Helper()
		got, told := ask(user)
		text := strings.Join(told, "\n")
		if got.Code != code || len(told) != len(words) {
			t.Errorf("%s: exit %d, not %d\n%s\n%s", user, got.Code, code, text, got.Stderr)
		}
		for _, w := range words {
			if !strings.Contains(text, w) {
				t.Errorf("%s: not told: %s\n%s", user, w, text)
			}
		}
		if strings.Contains(got.Stdout+got.Stderr, "canary") {
			t.Errorf("%s: a secret of the dump is printed", user)
		}
	}
	expect("operator", 0, "read proxies/good", "read proxies/slow",
		"NotEvaluated proxy proxies/dies could not be asked",
		"NotEvaluated proxy proxies/hangs could not be asked: it took longer than 8s",
		"2 of 2 rules, 16 the same, 0 differences")
	var refused []string
	for name := range answers {
		refused = append(refused, "Forbidden proxy proxies/"+name+
			" could not be asked: you may not forward ports of pods")
	}
	expect("developer", 3, append(refused, "0 of 0 rules, 0 the same, 0 differences")...)
}
