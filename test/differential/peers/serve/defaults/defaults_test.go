package defaults

import (
	"encoding/json"
	"testing"
)

func TestFill(t *testing.T) {
	for in, want := range map[string]string{
		`{"kind": "HTTPRoute", "spec": {"parentRefs": [{"name": "g", "kind": "ListenerSet"}], "rules": [{"matches": [{"method": "GET", "headers": [{"name": "x"}]}]}, {"backendRefs": [{"name": "b", "weight": 0}]}]}}`: `{"kind":"HTTPRoute","spec":{"parentRefs":[{"group":"gateway.networking.k8s.io","kind":"ListenerSet","name":"g"}],"rules":[{"matches":[{"headers":[{"name":"x","type":"Exact"}],"method":"GET","path":{"type":"PathPrefix","value":"/"}}]},{"backendRefs":[{"group":"","kind":"Service","name":"b","weight":0}],"matches":[{"path":{"type":"PathPrefix","value":"/"}}]}]}}`,
		`{"kind": "GRPCRoute", "spec": {"rules": [{}]}}`: `{"kind":"GRPCRoute","spec":{"rules":[{}]}}`,
		`{"kind": "Gateway", "spec": {"listeners": [{"name": "l", "allowedRoutes": {"namespaces": {"from": "All"}}}, {"name": "m"}]}}`: `{"kind":"Gateway","spec":{"listeners":[{"allowedRoutes":{"namespaces":{"from":"All"}},"name":"l"},{"allowedRoutes":{"namespaces":{"from":"Same"}},"name":"m"}]}}`,
		`{"kind": "Service", "spec": {"ports": [{"port": 80}]}}`:                                                                       `{"kind":"Service","spec":{"ports":[{"port":80}]}}`,
	} {
		var o map[string]any
		if err := json.Unmarshal([]byte(in), &o); err != nil {
			t.Fatal(err)
		}
		if err := Fill(o); err != nil {
			t.Fatal(err)
		}
		if got, _ := json.Marshal(o); string(got) != want {
			t.Errorf("%s becomes\n%s, want\n%s", in, got, want)
		}
	}
}
