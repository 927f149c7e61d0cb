package build

import (
	"fmt"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

type m = map[string]any

// large makes n routes of two rules each on 10 gateways of two listeners, with a Service for every
// ten routes.
func large(n int) *model.Snapshot {
	var out []*model.Object
	add := func(apiVersion, kind, ns, name string, spec m) {
		out = append(out, object(m{"apiVersion": apiVersion, "kind": kind, "metadata": m{"namespace": ns,
			"name": name}, "spec": spec}, model.Origin{}))
	}
	for i := range 10 {
		add("gateway.networking.k8s.io/v1", "Gateway", "infra", fmt.Sprintf("gw-%d", i), m{"gatewayClassName": "class",
			"listeners": []any{
				m{"name": "http", "port": int64(80), "protocol": "HTTP",
					"allowedRoutes": m{"namespaces": m{"from": "All"}}},
				m{"name": "https", "port": int64(443), "protocol": "HTTPS", "hostname": "*.example.com",
					"allowedRoutes": m{"namespaces": m{"from": "All"}}},
			}})
	}
	for i := range n {
		ns, svc := fmt.Sprintf("ns-%d", i%100), fmt.Sprintf("svc-%d", i/1000)
		if i/1000 == (i+100)/1000-1 || i < 100 {
			add("v1", "Service", ns, svc, m{"ports": []any{m{"name": "http", "port": int64(80)},
				m{"name": "alt", "port": int64(8080)}}})
		}
		add("gateway.networking.k8s.io/v1", "HTTPRoute", ns, fmt.Sprintf("route-%06d", i), m{
			"parentRefs": []any{m{"name": fmt.Sprintf("gw-%d", i%10), "namespace": "infra"}},
			"hostnames":  []any{fmt.Sprintf("host-%d.example.com", i)},
			"rules": []any{
				m{"name": "read", "backendRefs": []any{m{"name": svc, "port": int64(80)}}},
				m{"backendRefs": []any{m{"name": svc, "port": int64(8080)}}},
			},
		})
	}
	return model.NewSnapshot(out, nil)
}

func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{1_000, 10_000, 100_000} {
		b.Run(fmt.Sprintf("%d routes", n), func(b *testing.B) {
			in := large(n)
			b.ReportAllocs()
			for b.Loop() {
				Graph(in, model.Settings{})
			}
		})
	}
}
