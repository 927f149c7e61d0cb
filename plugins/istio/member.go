package istio

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// member is whether a workload is in the mesh, as far as manifests tell.
type member int

const (
	untold   member = iota
	within          // its Pods have a proxy
	tunneled        // they have none, and ztunnel takes their traffic
	without         // it is left out on purpose
)

// Labels and annotations about who is in the mesh.
const (
	injectNamespace = "istio-injection"
	injectPod       = "sidecar.istio.io/inject"
	injected        = "sidecar.istio.io/status"
	revision        = "istio.io/rev"
	dataplane       = "istio.io/dataplane-mode"
	redirected      = "ambient.istio.io/redirection"
	proxyContainer  = "istio-proxy"
)

// memberOf tells whether the Pods of a workload are in the mesh, by what the webhook for sidecars and the node agent of ambient mode ask.
func memberOf(in *model.Snapshot, o *model.Object, labels, notes map[string]string) member {
	pod := podSpec(o)
	switch {
	case notes[injected] != "" || runsProxy(pod):
		return within
	case notes[redirected] == "enabled":
		return tunneled
	case pod.Field("hostNetwork").Value() == true:
		return without
	}
	ns := in.Get(model.Ref{Kind: "Namespace", Name: o.Ref.Namespace})
	var space map[string]string
	if ns != nil {
		space = ns.Labels
	}
	sidecar, ambient := injects(space, labels, notes), redirects(space, labels)
	switch {
	case sidecar == within:
		return within
	case ambient == tunneled:
		return tunneled
	case ns != nil && (sidecar == without || ambient == without), sidecar == without && ambient == without:
		return without
	}
	return untold
}

// injects tells whether Pods get a sidecar: the namespace asks for it and the Pods do not refuse, or the Pods ask and the namespace says nothing.
func injects(space, labels, notes map[string]string) member {
	wish := cmp.Or(labels[injectPod], notes[injectPod])
	_, told := space[injectNamespace]
	switch {
	case wish == "false" || told && space[injectNamespace] != "enabled":
		return without
	case told || space[revision] != "" || labels[injectPod] == "true" || labels[revision] != "":
		return within
	}
	return untold
}

// redirects tells whether ztunnel takes the traffic of Pods.
func redirects(space, labels map[string]string) member {
	switch cmp.Or(labels[dataplane], space[dataplane]) {
	case "ambient":
		return tunneled
	case "none":
		return without
	}
	return untold
}

// podSpec is what a workload's Pods are made of.
func podSpec(o *model.Object) model.Body {
	switch o.Ref.Kind {
	case "Pod":
		return o.Body.Field("spec")
	case "CronJob":
		return o.Body.At("spec", "jobTemplate", "spec", "template", "spec")
	}
	return o.Body.At("spec", "template", "spec")
}

// runsProxy reports whether a Pod has Istio's proxy already.
func runsProxy(pod model.Body) bool {
	return slices.ContainsFunc([]string{"containers", "initContainers"}, func(field string) bool {
		for _, c := range pod.Field(field).Items {
			if c.Text("name") == proxyContainer {
				return true
			}
		}
		return false
	})
}

// proxied leaves ztunnel's workloads to the kinds that ztunnel knows: no other has an effect there.
func proxied(find finder) finder {
	return func(w *world, p *policy.Policy) (found, []model.Problem) {
		out, problems := find(w, p)
		n := len(out.targets)
		out.targets = slices.DeleteFunc(out.targets, func(t target) bool { return t.member == tunneled })
		if n > 0 && len(out.targets) == 0 {
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached,
				Message: fmt.Sprintf("its workloads have no proxy of their own, and ztunnel, which takes their traffic, knows nothing of a %s: it holds nowhere", p.Ref().Kind),
				Hint:    "name a Gateway or a Service behind a waypoint in targetRefs"}.At(p.Object))
		}
		return out, problems
	}
}
