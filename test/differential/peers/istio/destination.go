package main

import (
	"google.golang.org/protobuf/proto"

	"istio.io/istio/pilot/pkg/model"
	"istio.io/istio/pkg/config/host"
)

// destinations notes the DestinationRule that a client takes for each Service, in the Service's namespace and in the root namespace.
func (w *world) destinations(out facts, objects []manifest) {
	for _, o := range objects {
		if o.kind() != "Service" {
			continue
		}
		for _, client := range []string{o.namespace(), w.push.Mesh.RootNamespace} {
			proxy := w.proxy(model.SidecarProxy, manifest{"metadata": map[string]any{"name": "client", "namespace": client}}, nil, nil)
			if rule := proxy.SidecarScope.DestinationRuleConfig(model.TrafficDirectionOutbound, proxy, host.Name(hostname(o.name(), o.namespace()))); rule != nil {
				out["destination "+ref(o)+" from "+client] = text(rule.Spec.(proto.Message))
			}
		}
	}
}
