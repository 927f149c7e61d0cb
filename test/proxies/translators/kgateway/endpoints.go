package main

import (
	"encoding/json"
	"fmt"

	clusterv3 "github.com/envoyproxy/go-control-plane/envoy/config/cluster/v3"
	corev3 "github.com/envoyproxy/go-control-plane/envoy/config/core/v3"
	endpointv3 "github.com/envoyproxy/go-control-plane/envoy/config/endpoint/v3"
)

// slice is an EndpointSlice, as far as it is asked about.
type slice struct {
	Kind     string
	Metadata struct {
		Namespace string
		Labels    map[string]string
	}
	Endpoints []struct{ Addresses []string }
	Ports     []struct{ Port uint32 }
}

// endpoints are those of the clusters that ask for theirs apart. The translator of the tests leaves them out; a cluster of kgateway is named
// after its Service and the Service's port, and the Services of inputs have one port.
func endpoints(clusters []*clusterv3.Cluster, objects []json.RawMessage) ([]*endpointv3.ClusterLoadAssignment, error) {
	var slices []slice
	for _, text := range objects {
		var s slice
		if json.Unmarshal(text, &s) == nil && s.Kind == "EndpointSlice" {
			if len(s.Ports) != 1 {
				return nil, fmt.Errorf("an EndpointSlice has %d ports, and not one", len(s.Ports))
			}
			slices = append(slices, s)
		}
	}
	var out []*endpointv3.ClusterLoadAssignment
	for _, c := range clusters {
		if c.GetType() != clusterv3.Cluster_EDS {
			continue
		}
		assignment := &endpointv3.ClusterLoadAssignment{ClusterName: c.GetName()}
		if name := c.GetEdsClusterConfig().GetServiceName(); name != "" {
			assignment.ClusterName = name
		}
		for _, s := range slices {
			service := fmt.Sprintf("kube_%s_%s_", s.Metadata.Namespace, s.Metadata.Labels["kubernetes.io/service-name"])
			var port int
			if n, err := fmt.Sscanf(c.GetName(), service+"%d", &port); n != 1 || err != nil {
				continue
			}
			assignment.Endpoints = append(assignment.Endpoints, located(s))
		}
		out = append(out, assignment)
	}
	return out, nil
}

// located are the addresses of a slice.
func located(s slice) *endpointv3.LocalityLbEndpoints {
	out := &endpointv3.LocalityLbEndpoints{}
	for _, e := range s.Endpoints {
		for _, address := range e.Addresses {
			out.LbEndpoints = append(out.LbEndpoints, &endpointv3.LbEndpoint{HostIdentifier: &endpointv3.LbEndpoint_Endpoint{Endpoint: &endpointv3.Endpoint{
				Address: &corev3.Address{Address: &corev3.Address_SocketAddress{SocketAddress: &corev3.SocketAddress{
					Address: address, PortSpecifier: &corev3.SocketAddress_PortValue{PortValue: s.Ports[0].Port},
				}}},
			}}})
		}
	}
	return out
}
