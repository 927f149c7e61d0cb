package istio

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// membership is whether a workload is in the mesh, as far as manifests tell.
type membership int

const (
	unknownMember  membership = iota
	sidecarMember             // its Pods have a proxy
	ztunnelMember             // they have none, and ztunnel takes their traffic
	excludedMember            // it is left out on purpose
)

// Labels and annotations about who is in the mesh.
const (
	injectNamespace   = "istio-injection"
	injectPod         = "sidecar.istio.io/inject"
	injectedStatus    = "sidecar.istio.io/status"
	revision          = "istio.io/rev"
	dataplane         = "istio.io/dataplane-mode"
	redirectionStatus = "ambient.istio.io/redirection"
	proxyContainer    = "istio-proxy"
)

// findMembership tells whether the Pods of a workload are in the mesh, by what the webhook for
// sidecars and the node agent of ambient mode ask.
func findMembership(in *model.Snapshot, o *model.Object, labels, notes map[string]string) membership {
	pod := findPodSpec(o)
	switch {
	case notes[injectedStatus] != "" || runsProxy(pod):
		return sidecarMember
	case notes[redirectionStatus] == "enabled":
		return ztunnelMember
	case pod.Field("hostNetwork").Value() == true:
		return excludedMember
	}
	ns := in.Get(model.Ref{Kind: "Namespace", Name: o.Ref.Namespace})
	var space map[string]string
	if ns != nil {
		space = ns.Labels
	}
	sidecar, ambient := sidecarMembership(space, labels, notes), ambientMembership(space, labels)
	switch {
	case sidecar == sidecarMember:
		return sidecarMember
	case ambient == ztunnelMember:
		return ztunnelMember
	case ns != nil && (sidecar == excludedMember || ambient == excludedMember), sidecar == excludedMember &&
		ambient == excludedMember:
		return excludedMember
	}
	return unknownMember
}

// sidecarMembership tells whether Pods get a sidecar: the namespace asks for it and the Pods do not
// refuse, or the Pods ask and the namespace says nothing.
func sidecarMembership(space, labels, notes map[string]string) membership {
	wish := cmp.Or(labels[injectPod], notes[injectPod])
	_, told := space[injectNamespace]
	switch {
	case wish == "false" || told && space[injectNamespace] != "enabled":
		return excludedMember
	case told || space[revision] != "" || labels[injectPod] == "true" || labels[revision] != "":
		return sidecarMember
	}
	return unknownMember
}

// ambientMembership tells whether ztunnel takes the traffic of Pods.
func ambientMembership(space, labels map[string]string) membership {
	switch cmp.Or(labels[dataplane], space[dataplane]) {
	case "ambient":
		return ztunnelMember
	case "none":
		return excludedMember
	}
	return unknownMember
}

// findPodSpec is the spec of a workload's Pods.
func findPodSpec(o *model.Object) model.Body {
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

// excludeZtunnel leaves the workloads of ztunnel to the kinds that ztunnel knows: no other has an
// effect there.
func excludeZtunnel(find targetFinder) targetFinder {
	return func(w *proxyIndex, p *policy.Policy) (attachPoints, []model.Problem) {
		out, problems := find(w, p)
		n := len(out.targets)
		out.targets = slices.DeleteFunc(out.targets, func(t target) bool { return t.membership == ztunnelMember })
		if n > 0 && len(out.targets) == 0 {
			problems = append(problems, model.Problem{Severity: model.Warning, Code: model.NotReached,
				Message: fmt.Sprintf(
					"its workloads have no proxy of their own, and ztunnel, which takes their traffic, knows nothing of a %s: it holds nowhere", p.Ref().Kind),
				Hint: "name a Gateway or a Service behind a waypoint in targetRefs"}.At(p.Object))
		}
		return out, problems
	}
}
