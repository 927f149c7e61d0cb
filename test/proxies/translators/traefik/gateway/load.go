// This file is added to the package of Traefik's provider for the Gateway API, whose client is not exported.

package gateway

import (
	"context"

	"github.com/traefik/traefik/v3/pkg/config/dynamic"
	kclientset "k8s.io/client-go/kubernetes"
	gateclientset "sigs.k8s.io/gateway-api/pkg/client/clientset/versioned"
)

// LoadFrom is the configuration that the provider makes of what two clients hand out.
func LoadFrom(ctx context.Context, kube kclientset.Interface, gateways gateclientset.Interface, entryPoints map[string]Entrypoint) (*dynamic.Configuration, error) {
	client := newClientImpl(kube, gateways)
	stop := make(chan struct{})
	defer close(stop)
	if _, err := client.WatchAll(nil, stop); err != nil {
		return nil, err
	}
	p := Provider{EntryPoints: entryPoints, StatusAddress: &StatusAddress{IP: "127.0.0.1"}, client: client}
	return p.loadConfigurationFromGateways(ctx), nil
}
