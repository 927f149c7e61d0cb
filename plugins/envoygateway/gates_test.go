package envoygateway

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/protect"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology/build"
	"github.com/dopolicy/kubectl-dopolicy/plugins/gatewayapi"
)

const guarded = `
apiVersion: gateway.networking.k8s.io/v1
kind: GatewayClass
metadata: {name: c}
spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}
---
apiVersion: gateway.networking.k8s.io/v1
kind: Gateway
metadata: {name: gw, namespace: a}
spec: {gatewayClassName: c, listeners: [{name: http, port: 80, protocol: HTTP}]}
---
apiVersion: gateway.networking.k8s.io/v1
kind: HTTPRoute
metadata: {name: r, namespace: a}
spec: {parentRefs: [{name: gw}], rules: [{backendRefs: [{name: s, port: 80}]}]}
---
apiVersion: gateway.envoyproxy.io/v1alpha1
kind: SecurityPolicy
metadata: {name: p, namespace: a}
spec:
  targetRefs: [{group: gateway.networking.k8s.io, kind: HTTPRoute, name: r}]
  authorization:
    defaultAction: Deny
    rules:
    - {action: Allow, principal: {headers: [{name: x-user, values: [ann]}]}}
`

// TestRefusals: a request that no rule allows gets 403 for certain; one that a rule allows gets
// through.
func TestRefusals(t *testing.T) {
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"}, Stdin: strings.NewReader(guarded)})
	if err != nil {
		t.Fatal(err)
	}
	c, err := plugin.NewCatalog([]plugin.Plugin{gatewayapi.Plugin(), Plugin()}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := resolve.Run(in, build.Graph(in, c.Settings(), c.Links()...), c)
	for want, headers := range map[string][]string{"certain [403]": nil, "through []": {"x-user: ann"}} {
		q, err := request.New("GET", "http://h/", request.Options{Headers: headers})
		if err != nil {
			t.Fatal(err)
		}
		a, err := request.NewMatcher(r.Graph, r.Settings).Find(q, request.Destination{Gateway: topology.None})
		if err != nil {
			t.Fatal(err)
		}
		o := protect.NewJudge(r, gateFunctions(), protect.Assumptions{}).FindGates(a).Outcome()
		got := "through"
		if o.Certain {
			got = "certain"
		}
		if got += " " + fmt.Sprint(o.Statuses); got != want {
			t.Errorf("headers %v: %s, want %s", headers, got, want)
		}
	}
}
