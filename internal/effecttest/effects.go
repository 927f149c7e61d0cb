// Package effecttest finds what policies and filters of one vendor do to a request, for tests of
// vendors.
package effecttest

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/plugins/gatewayapi"
)

// Case is a request to a route with some filters and policies.
type Case struct {
	Name    string
	Filters string // of the route's only rule, as a YAML list; "": none
	Objects string // more documents
	// of that rule, likewise; "": a Service
	Backends string
	URL      string // that is asked for; "": http://h/api/x?q=1
	Want     string // as describe writes it
}

// Run tests what a vendor says of each case.
func Run(t *testing.T, p plugin.Plugin, controller string, cases []Case) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			e, a := c.find(t, p, controller)
			if got := describeEffects(e, a); got != strings.TrimPrefix(c.Want, "\n") {
				t.Errorf("got:\n%s\nwant:\n%s", got, c.Want)
			}
		})
	}
}

func (c *Case) find(t *testing.T, p plugin.Plugin, controller string) (*ingress.Effects, *request.Answer) {
	t.Helper()
	if c.Backends == "" {
		c.Backends = "[{name: s, port: 80}]"
	}
	if c.Filters == "" {
		c.Filters = "[]"
	}
	text := fmt.Sprintf(`
{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: c}, spec: {controllerName: %s}}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: a}
spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: a}
spec: {parentRefs: [{name: gw}], rules: [{filters: %s, backendRefs: %s}]}
---
{apiVersion: v1, kind: Service, metadata: {name: s, namespace: a}, spec: {ports: [{port: 80}]}}
---
%s`, controller, c.Filters, c.Backends, c.Objects)
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(text)})
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := plugin.NewCatalog([]plugin.Plugin{gatewayapi.Plugin(), p}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := resolve.Run(in, build.Graph(in, catalog.Settings(), catalog.Links()...), catalog)
	if c.URL == "" {
		c.URL = "http://h/api/x?q=1"
	}
	q, err := request.New("GET", c.URL, request.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := request.NewMatcher(r.Graph, r.Settings).Find(q, request.Destination{Gateway: topology.None})
	if err != nil {
		t.Fatal(err)
	}
	return p.Effects(r, a), a
}

// describeEffects writes effects and the path that backends get, a line for each.
func describeEffects(e *ingress.Effects, a *request.Answer) string {
	if e == nil {
		return "nothing"
	}
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	for _, l := range e.Lists {
		text := "list:"
		for _, r := range l.Rules {
			text += fmt.Sprintf(" %s %v,", verb(r.Allow), r.Ranges)
		}
		add("%s %s the rest", text, verb(l.Allow))
	}
	if path := pathOf(e, a); path != a.Request.Path {
		add("path: %s", path)
	}
	if e.Redirect != nil {
		status, location := e.Redirect(&a.Request)
		add("redirect: %d %s first=%v", status, location, e.RedirectsFirst)
	}
	if e.Status != 0 {
		add("answers: %d", e.Status)
	}
	if e.BodyLimit != 0 {
		add("body: %d", e.BodyLimit)
	}
	for _, s := range e.Settings {
		add("%s: %s (%s %s)", s.Name, s.Value, s.Source.Name, s.Field)
	}
	for _, c := range e.Covers {
		add("covers: %s %s", c.Object.Name, c.Field)
	}
	for _, u := range e.Unknown {
		add("unknown: %s", u)
	}
	return strings.Join(out, "\n")
}

// pathOf is the path that backends get.
func pathOf(e *ingress.Effects, a *request.Answer) string {
	if a.Sends == nil {
		return a.Request.Path
	}
	if e.Rewrite == nil {
		return a.Sends.Path
	}
	path, _ := e.Rewrite(a.Sends.Path)
	return path
}

func verb(allow bool) string {
	if allow {
		return "allow"
	}
	return "deny"
}
