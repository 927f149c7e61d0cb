package agentgateway

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// settingFields are the fields of a policy that are settings.
var settingFields = []string{"frontend", "traffic", "backend"}

// backendRef is a reference of a policy or an AgentgatewayBackend to a backend that it uses itself.
type backendRef struct {
	to   model.Ref
	port bool
	at   []string
}

// listBackendRefs lists the references to backends below a value.
func listBackendRefs(v model.Body, at []string, namespace string) []backendRef {
	var out []backendRef
	v.Walk(at, func(key string, v model.Body, at []string) bool {
		if key != "backendRef" || !v.IsObject() {
			return true
		}
		ref := backendRef{to: model.Ref{Group: v.Text("group"), Kind: "Service", Namespace: namespace,
			Name: v.Text("name")}, port: !v.Field("port").IsNull(), at: at}
		if kind := v.Text("kind"); kind != "" {
			ref.to.Kind = kind
		}
		if ns := v.Text("namespace"); ns != "" {
			ref.to.Namespace = ns
		}
		out = append(out, ref)
		return false
	})
	return out
}

// listUsedBackends are the references to backends in the settings of a policy.
func listUsedBackends(o *model.Object) []backendRef {
	var out []backendRef
	for _, field := range settingFields {
		out = append(out, listBackendRefs(o.Body.At("spec", field), []string{"spec", field}, o.Ref.Namespace)...)
	}
	return out
}
