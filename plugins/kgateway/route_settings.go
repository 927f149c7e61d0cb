package kgateway

import (
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// readRule is what an HTTPRoute says about a rule, and where; not ok for rules of other routes.
func readRule(n *topology.Node) (rule model.Body, at []string, ok bool) {
	at = []string{"spec", "rules", strconv.Itoa(n.Index)}
	return n.Object.Body.At(at...), at, n.Ref.Kind == "HTTPRoute"
}

// readTimeout is the timeout of requests by a rule's own timeouts: that of a backend where no retry
// repeats it, else that of the whole.
func readTimeout(n *topology.Node) (any, []string) {
	rule, at, ok := readRule(n)
	if !ok {
		return nil, nil
	}
	field := "request"
	if !rule.At("timeouts", "backendRequest").IsNull() && rule.Field("retry").IsNull() {
		field = "backendRequest"
	}
	v := rule.At("timeouts", field)
	if v.IsNull() {
		return nil, nil
	}
	return v.ScalarOrBody(), append(at, "timeouts", field)
}

// readFilter is a field of the first filter of a type.
func readFilter(n *topology.Node, kind string, path ...string) (any, []string) {
	rule, at, ok := readRule(n)
	if !ok {
		return nil, nil
	}
	for i, f := range rule.Field("filters").Items {
		if f.Text("type") != kind {
			continue
		}
		if v := f.At(path...); !v.IsNull() {
			return v.ScalarOrBody(), append(append(at, "filters", strconv.Itoa(i)), path...)
		}
	}
	return nil, nil
}

func readPathRewrite(n *topology.Node) (any, []string) {
	return readFilter(n, "URLRewrite", "urlRewrite", "path")
}

func readHostRewrite(n *topology.Node) (any, []string) {
	return readFilter(n, "URLRewrite", "urlRewrite", "hostname")
}

func readCORS(n *topology.Node) (any, []string) { return readFilter(n, "CORS", "cors") }

// newIdlePlan drops settings that only a rule that forwards requests has a use for.
func newIdlePlan(model.Settings) merge.PlanFunc {
	return func(s merge.Stack) ([]merge.Unit, []merge.Effect) {
		var f settingFold
		for _, l := range s.Layers {
			for _, b := range l.Blocks {
				for _, u := range b.Units {
					f.addLost(u, merge.NoEffect, nil)
				}
			}
		}
		return nil, f.effects
	}
}
