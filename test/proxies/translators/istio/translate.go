package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	routev3 "github.com/envoyproxy/go-control-plane/envoy/config/route/v3"
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/proto"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve/envoy"
	"istio.io/istio/pilot/pkg/model"
	v3 "istio.io/istio/pilot/pkg/xds/v3"
	"istio.io/istio/pilot/test/xds"
	"istio.io/istio/pilot/test/xdstest"
	"istio.io/istio/pkg/cluster"
	"istio.io/istio/pkg/config/constants"
	"istio.io/istio/pkg/config/labels"
	"istio.io/istio/pkg/spiffe"
	"istio.io/istio/pkg/test"
	"istio.io/istio/pkg/util/sets"
)

// translate has a control plane read the objects and tells what it tells the proxy of every Gateway of Istio's class. The control plane works on
// the objects side by side: it has read them all when it starts to answer, and has settled when two answers are the same.
func translate(t test.Failer, objects []manifest) (map[string]string, error) {
	gateways, err := gateways(objects)
	if err != nil {
		return nil, err
	}
	server, err := start(t, objects, gateways)
	if err != nil {
		return nil, err
	}
	var last map[string]string
	for range 500 {
		server.EnsureSynced(t)
		push := model.NewPushContext()
		server.Env().SetPushContext(push)
		push.InitContext(server.Env(), nil, nil)
		now := map[string]string{}
		for _, g := range gateways {
			config, err := configOf(server, push, g, gateways)
			if err != nil {
				return nil, err
			}
			if err := config.Note(now, g.namespace+"/"+g.name); err != nil {
				return nil, err
			}
		}
		if last != nil && maps.Equal(now, last) {
			return now, nil
		}
		last = now
		time.Sleep(3 * time.Millisecond)
	}
	return nil, fmt.Errorf("the control plane does not settle")
}

// configOf is what the proxy of one of the Gateways is told.
func configOf(server *xds.FakeDiscoveryServer, push *model.PushContext, g gateway, gateways []gateway) (envoy.Config, error) {
	proxy := server.SetupProxy(&model.Proxy{
		Type: model.Router, ID: g.service() + "." + g.namespace, ConfigNamespace: g.namespace, IPAddresses: []string{g.address}, Labels: labels.Instance(g.labels()),
		Metadata:         &model.NodeMetadata{Namespace: g.namespace, Labels: g.labels(), IstioVersion: "1.32.0", ClusterID: cluster.ID(constants.DefaultClusterName)},
		VerifiedIdentity: &spiffe.Identity{TrustDomain: "cluster.local", Namespace: g.namespace, ServiceAccount: g.service()},
	})
	listeners, clusters := server.Listeners(proxy), server.Clusters(proxy)
	names := sets.New[string]()
	for _, l := range listeners {
		names.InsertAll(xdstest.ExtractListenerSecretResources(server.T(), l)...)
	}
	secrets, _, err := server.Discovery.Generators[v3.SecretType].Generate(proxy, &model.WatchedResource{TypeUrl: v3.SecretType, ResourceNames: names.Delete("")},
		&model.PushRequest{Push: push, Forced: true})
	if err != nil {
		return envoy.Config{}, err
	}
	config := envoy.Config{
		Listeners: written(listeners), Routes: written(sorted(server.RoutesFromListeners(proxy, listeners))),
		Clusters: written(direct(clusters, gateways)), Endpoints: written(server.Endpoints(proxy)),
	}
	for _, s := range secrets {
		secret, err := s.Resource.UnmarshalNew()
		if err != nil {
			return envoy.Config{}, err
		}
		config.Secrets = append(config.Secrets, written([]proto.Message{secret})...)
	}
	return config, nil
}

// sorted puts the conditions of each match in order: Istio reads those about queries from a map, and all have to hold anyway.
func sorted(all []*routev3.RouteConfiguration) []*routev3.RouteConfiguration {
	for _, config := range all {
		for _, h := range config.GetVirtualHosts() {
			for _, r := range h.GetRoutes() {
				slices.SortFunc(r.GetMatch().GetQueryParameters(), func(a, b *routev3.QueryParameterMatcher) int { return strings.Compare(a.GetName(), b.GetName()) })
			}
		}
	}
	return all
}

// direct has the proxy connect to backends without the mesh between them, since no backend here has a sidecar, and leaves out what Gateways could
// be reached by themselves.
func direct(clusters []*clusterv3.Cluster, gateways []gateway) []*clusterv3.Cluster {
	var out []*clusterv3.Cluster
	for _, c := range clusters {
		c.TransportSocketMatches = nil
		if !slices.ContainsFunc(gateways, func(g gateway) bool {
			return strings.HasSuffix(c.GetName(), "||"+g.service()+"."+g.namespace+".svc.cluster.local")
		}) {
			out = append(out, c)
		}
	}
	return out
}

// written writes messages in protojson form.
func written[M proto.Message](all []M) []json.RawMessage {
	var out []json.RawMessage
	for _, m := range all {
		text, err := protojson.Marshal(m)
		if err != nil {
			panic(err) // of an extension that is not linked in
		}
		out = append(out, text)
	}
	return out
}
