package cluster

import (
	"testing"
	"time"
)

// BenchmarkEffectiveLive asks about one route of 2,000, and measures beside it what kubectl takes to get the routes alone. The ratio of the two
// is what counts: machines differ. It is to stay below 0.3.
func BenchmarkEffectiveLive(b *testing.B) {
	c := Shared(b)
	load := Load{Routes: 2000, Gateways: 10, Namespaces: 20, Policies: 400}
	c.Populate(load)
	namespace, name, _ := load.LoadRoute(1000)
	env := environment(c.Kubeconfig("admin", namespace))
	kubectl, plugin := Kubectl(b), Plugin(b)
	var get, effective time.Duration
	measure := func() {
		got := RunProgram(b, kubectl, []string{"get", "httproutes", "-A", "-o", "json"}, env)
		own := RunProgram(b, plugin, []string{"effective", name}, env)
		if got.Code != 0 || own.Code != 0 {
			b.Fatalf("kubectl: exit %d\n%s\nthe plugin: exit %d\n%s", got.Code, got.Stderr, own.Code, own.Stderr)
		}
		get, effective = get+got.Elapsed, effective+own.Elapsed
	}
	measure() // the server has served the kinds once, and the programs are in memory
	get, effective = 0, 0
	for b.Loop() {
		measure()
	}
	b.ReportMetric(float64(get.Milliseconds())/float64(b.N), "kubectl-ms/op")
	b.ReportMetric(float64(effective.Milliseconds())/float64(b.N), "effective-ms/op")
	b.ReportMetric(float64(effective)/float64(get), "ratio")
}
