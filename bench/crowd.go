package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// The crowds: inputs in which much is at one place, where a loop within a loop would show. In an even topology it hides.
var crowds = []struct {
	name, command string
	write         func(w io.Writer, n int)
}{
	{"policies on the routes of one Gateway that has one", "status -A", func(w io.Writer, n int) {
		writeAuthPolicy(w, "infra", "top", "Gateway", "gw")
		for i := range n {
			name := fmt.Sprint("r", i)
			writeCrowdRoute(w, name, "/"+name)
			writeAuthPolicy(w, "shop", name, "HTTPRoute", name)
		}
	}},
	{"policies on one route", "status -A", func(w io.Writer, n int) {
		writeCrowdRoute(w, "r", "/")
		for i := range n {
			writeAuthPolicy(w, "shop", fmt.Sprint("p", i), "HTTPRoute", "r")
		}
	}},
	{"routes with one match", "kinds", func(w io.Writer, n int) {
		for i := range n {
			writeCrowdRoute(w, fmt.Sprint("r", i), "/")
		}
	}},
	{"policies that select a route each", "kinds", func(w io.Writer, n int) {
		for i := range n {
			name := fmt.Sprint("r", i)
			writeCrowdRoute(w, name, "/"+name)
			writeSelecting(w, name, "app: "+name)
		}
	}},
	{"routes that one policy selects", "check", func(w io.Writer, n int) {
		writeSelecting(w, "all", "team: shop")
		for i := range n {
			name := fmt.Sprint("r", i)
			writeCrowdRoute(w, name, "/"+name)
		}
	}},
}

const (
	crowdGrowth = 4 // times as much at one place in the larger input
	crowdAtMost = 6 // times as long
)

// writeCrowdGateway writes the one Gateway of a crowd.
func writeCrowdGateway(w io.Writer) {
	fmt.Fprintf(w, "apiVersion: %s\nkind: GatewayClass\nmetadata: {name: prod}\nspec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}\n", gatewayAPIVersion)
	fmt.Fprintf(w, "---\napiVersion: %s\nkind: Gateway\nmetadata: {name: gw, namespace: infra}\nspec:\n  gatewayClassName: prod\n"+
		"  listeners: [{name: http, port: 80, protocol: HTTP, allowedRoutes: {namespaces: {from: All}}}]\n", gatewayAPIVersion)
}

func writeCrowdRoute(w io.Writer, name, path string) {
	fmt.Fprintf(w, "---\napiVersion: %s\nkind: HTTPRoute\nmetadata: {name: %s, namespace: shop, labels: {app: %s, team: shop}}\nspec:\n"+
		"  parentRefs: [{name: gw, namespace: infra}]\n  rules: [{matches: [{path: {type: PathPrefix, value: %s}}], backendRefs: [{name: app, port: 80}]}]\n",
		gatewayAPIVersion, name, name, path)
}

func writeAuthPolicy(w io.Writer, namespace, name, kind, target string) {
	writePolicy(w, policySpec{name: name, namespace: namespace, kind: kind, target: target, block: "defaults", strategy: "atomic", authentication: name, authorization: "shared"})
}

func writeSelecting(w io.Writer, name, label string) {
	fmt.Fprintf(w, "---\napiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata: {name: %s, namespace: shop}\nspec:\n"+
		"  targetSelectors: [{group: gateway.networking.k8s.io, kind: HTTPRoute, matchLabels: {%s}}]\n  timeout: {http: {requestTimeout: 1s}}\n", name, label)
}

// crowdRun is what one command took on two sizes of a crowd.
type crowdRun struct{ less, more commandRun }

// runCrowds runs a command on every crowd, with n things at one place and with more, in turns.
func (b *bench) runCrowds(ctx context.Context, n int) ([]crowdRun, error) {
	out := make([]crowdRun, len(crowds))
	for i, input := range crowds {
		b.say("running %s on %d %s, best of %d", input.command, n, input.name, b.runs)
		var files []string
		for _, count := range []int{n, crowdGrowth * n} {
			file := filepath.Join(b.folder, fmt.Sprintf("crowd-%d-%d.yaml", i, count))
			var text bytes.Buffer
			writeCrowdGateway(&text)
			input.write(&text, count)
			if err := os.WriteFile(file, text.Bytes(), 0o600); err != nil {
				return nil, err
			}
			files = append(files, file)
		}
		for range b.runs {
			for j, run := range []*commandRun{&out[i].less, &out[i].more} {
				if err := b.spend(ctx, run, append(strings.Fields(input.command), "-f", files[j])); err != nil {
					return nil, err
				}
			}
		}
	}
	return out, nil
}

// crowds reports how the time of a command grows with what is at one place.
func (r report) crowds(runs []crowdRun, n, best int) {
	r.line("\nMuch at one place: processor time of the whole program for %s and %s, best of %d runs, alternately", grouped(n), grouped(crowdGrowth*n), best)
	for i, run := range runs {
		r.line("  %-66s %8s %8s", crowds[i].name+": "+crowds[i].command, duration(run.less.cpu), duration(run.more.cpu))
		r.limit(fmt.Sprintf("  %d times as many", crowdGrowth), run.more.cpu/run.less.cpu, "≤", crowdAtMost)
	}
}
