package point

import (
	"maps"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// ProxyTemplate is what the proxies of a Gateway are as their controller deploys them.
type ProxyTemplate struct {
	Namespace string            // "": it is known only of Pods in the input
	Selects   map[string]string // the labels that tell their Pods apart
	Labels    map[string]string // further labels of the Pods
	Account   string            // the service account; "": it is not known
	// DialsService reports whether they connect to the address of a Service; nil: to Pods.
	DialsService func(proxy *End, service *model.Object) bool
}

// NewProxies returns the proxies of a Gateway: the Pods of the input that a template selects, else Pods
// as each template has them, as alternatives. Of a Gateway without templates it is an end of which
// nothing is known.
func NewProxies(r *resolve.Resolution, gateway *model.Object, templates ...ProxyTemplate) []End {
	var found, assumed []End
	add := func(to *[]End, e End, t *ProxyTemplate) {
		e.Gateway, e.Stands = gateway, gateway.Ref
		if t.DialsService != nil {
			self := e
			e.DialsService = func(service *model.Object) bool { return t.DialsService(&self, service) }
		}
		*to = append(*to, e)
	}
	for i := range templates {
		t := &templates[i]
		for _, o := range FindWorkloads(r, t.Namespace, t.Selects) {
			add(&found, NewEnd(r, o), t)
			break // its Pods are alike
		}
		if t.Namespace == "" {
			continue
		}
		labels := maps.Clone(t.Labels)
		if labels == nil {
			labels = map[string]string{}
		}
		for key, value := range gateway.Body.At("spec", "infrastructure", "labels").Fields {
			labels[key] = value.Text()
		}
		maps.Copy(labels, t.Selects)
		add(&assumed, End{Object: NewAssumedPod(t.Namespace, gateway.Ref.Name, t.Account, labels), Node: topology.None,
			AccountUnknown: t.Account == ""}, t)
	}
	switch {
	case len(found) > 0:
		return found[:1]
	case len(assumed) > 0:
		return assumed
	}
	return []End{{Node: topology.None, Gateway: gateway, Stands: gateway.Ref, PodsUnknown: true}}
}
