package envoygateway

import "testing"

func TestProxyNames(t *testing.T) {
	for of, want := range map[string]string{
		"default/eg": "envoy-default-eg-e41e7b31", // as the controller's documentation shows it
		"infrastructure-of-a-large-company/edge-of-the-company": "envoy-infrastructure-of-a-large-company-edge-of-the-co-",
	} {
		if got := hashProxyName(of); got != want && (want[len(want)-1] != '-' || got[:len(want)] != want) {
			t.Errorf("%s: %s, want %s", of, got, want)
		}
	}
}
