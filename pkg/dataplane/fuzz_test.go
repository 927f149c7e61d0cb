package dataplane

import "testing"

// FuzzRead: whatever a proxy answers, it is read as proxies with names, or refused.
func FuzzRead(f *testing.F) {
	for _, seed := range []string{"", `{"configs": []}`, `{"a": {"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.ListenersConfigDump", "dynamic_listeners": [{"name": "l", "active_state": {"listener": {"name": "l",
		"filter_chains": [{"filters": [{"name": "envoy.filters.network.http_connection_manager", "typed_config": {"route_config": {"virtual_hosts": [{"domains": ["*"], "routes": [{"match": {"prefix": "/"}}]}]}}}]}]}}}]}]}}`,
		`{"configs": [{"@type": "type.googleapis.com/envoy.admin.v3.RoutesConfigDump", "dynamic_route_configs": [{"route_config": {"name": "r", "virtual_hosts": [null, {"routes": [1]}]}}]}]}`, "\x1f\x8b\x08", `[[[[{"configs": {}}]]]]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		proxies, err := ReadDump("dump", data)
		if err == nil && len(proxies) == 0 {
			t.Error("neither a proxy nor an error")
		}
		for _, p := range proxies {
			if p == nil {
				t.Error("a proxy that is none")
			}
		}
	})
}
