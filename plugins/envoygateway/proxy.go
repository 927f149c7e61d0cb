package envoygateway

import (
	"cmp"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/point"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
)

// defaultHome is the namespace of the controller as its chart is installed.
const defaultHome = "envoy-gateway-system"

// findProxies finds the proxies of a Gateway: in the namespace of the controller, or with
// provider.kubernetes.deploy.type GatewayNamespace in that of the Gateway
// (internal/gatewayapi/translator.go:655-662). Without the controller's configuration it is either.
func findProxies(r *resolve.Resolution, gateway *model.Object, controller string) ([]point.End, bool) {
	class := gateway.Text("spec", "gatewayClassName")
	if controller != r.Settings.Text("envoygateway.controllerName") && (controller != "" || class != "eg") {
		return nil, false
	}
	labels := map[string]string{"app.kubernetes.io/component": "proxy", "app.kubernetes.io/managed-by": "envoy-gateway",
		"app.kubernetes.io/name": "envoy"}
	selects := map[string]string{"gateway.envoyproxy.io/owning-gateway-name": gateway.Ref.Name,
		"gateway.envoyproxy.io/owning-gateway-namespace": gateway.Ref.Namespace}
	if isMerged(r.Snapshot, class) {
		selects = map[string]string{"gateway.envoyproxy.io/owning-gatewayclass": class}
	}
	account, dials := "", false
	own := gateway.Body.At("spec", "infrastructure", "parametersRef")
	for _, proxy := range []*model.Object{findProxy(r.Snapshot, class), r.Snapshot.Get(model.Ref{Group: own.Text("group"),
		Kind: own.Text("kind"), Namespace: gateway.Ref.Namespace, Name: own.Text("name")})} {
		if proxy == nil {
			continue
		}
		account = cmp.Or(proxy.Text("spec", "provider", "kubernetes", "envoyServiceAccount", "name"), account)
		if word := proxy.Text("spec", "routingType"); word != "" {
			dials = word == "Service"
		}
	}
	template := point.ProxyTemplate{Selects: selects, Labels: labels, Account: account,
		DialsService: func(*point.End, *model.Object) bool { return dials }}
	inHome, inGateway := template, template
	inGateway.Namespace, inGateway.Account = gateway.Ref.Namespace, cmp.Or(account, gateway.Ref.Name)
	config, home := findConfiguration(r.Snapshot)
	inHome.Namespace = cmp.Or(home, defaultHome)
	all := []point.ProxyTemplate{template} // Pods of the input, wherever they are
	switch {
	case config == nil:
		all = append(all, inHome, inGateway)
	case config.Provider.Kubernetes.Deploy.Type == "GatewayNamespace":
		all = append(all, inGateway)
	default:
		all = append(all, inHome)
	}
	return point.NewProxies(r, gateway, all...), true
}

// configuration is what is read of the controller's configuration.
type configuration struct {
	Provider struct {
		Kubernetes struct {
			Deploy struct {
				Type string `yaml:"type"`
			} `yaml:"deploy"`
		} `yaml:"kubernetes"`
	} `yaml:"provider"`
}

// findConfiguration reads the configuration of the controller, which is in its namespace; nil: it is
// not in the input.
func findConfiguration(in *model.Snapshot) (config *configuration, home string) {
	for _, o := range in.OfKind(model.GroupKind{Kind: "ConfigMap"}) {
		text := o.Text("data", "envoy-gateway.yaml")
		var out configuration
		if o.Ref.Name == "envoy-gateway-config" && text != "" && yaml.Unmarshal([]byte(text), &out) == nil {
			return &out, o.Ref.Namespace
		}
	}
	return nil, ""
}
