package envoy

import (
	"encoding/json"
	"testing"
)

func TestNote(t *testing.T) {
	listener := `{"name": "l", "filters": [
		{"name": "envoy.filters.http.router", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}},
		{"name": "stats", "typedConfig": {"@type": "type.googleapis.com/udpa.type.v1.TypedStruct", "typeUrl": "type.googleapis.com/stats.PluginConfig"}},
		{"name": "rust", "typedConfig": {"@type": "type.googleapis.com/envoy.extensions.filters.http.dynamic_modules.v3.DynamicModuleFilter"}},
		{"name": "exchange", "typedConfig": {"@type": "type.googleapis.com/envoy.tcp.metadataexchange.config.MetadataExchange"}},
		{"name": "fetched", "configDiscovery": {}}],
		"secrets": [{"name": "cert", "sdsConfig": {"ads": {}}}]}`
	route := `{"typedPerFilterConfig": {
		"cors": {"@type": "type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy"},
		"own": {"@type": "type.googleapis.com/vendor.Config"},
		"off": {"@type": "type.googleapis.com/envoy.config.route.v3.FilterConfig", "config": {"@type": "type.googleapis.com/vendor.Config"}}}}`
	facts := map[string]string{}
	err := Config{Listeners: []json.RawMessage{json.RawMessage(listener)}, Routes: []json.RawMessage{json.RawMessage(route)}}.Note(facts, "ns/gw")
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"ns/gw:listeners": `[{"filters":[{"name":"envoy.filters.http.router","typedConfig":{"@type":"type.googleapis.com/envoy.extensions.filters.http.router.v3.Router"}}],"name":"l","secrets":[{"name":"cert"}]}]`,
		"ns/gw:routes":    `[{"typedPerFilterConfig":{"cors":{"@type":"type.googleapis.com/envoy.extensions.filters.http.cors.v3.CorsPolicy"}}}]`,
		"ns/gw:clusters":  `[]`,
		"ns/gw:removed":   `["exchange","fetched","off","own","rust","stats"]`,
	} {
		if facts[key] != want {
			t.Errorf("%s is %s, want %s", key, facts[key], want)
		}
	}
}
