package istio

import (
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func TestListenerClass(t *testing.T) {
	for text, want := range map[string]string{"": "any", "inbound": "inbound", "SidecarInbound": "inbound",
		"SIDECAR_OUTBOUND": "outbound", "Gateway": "gateway", "Undefined": "any"} {
		if class, known := readListenerClass(
			model.NewSettings(map[string]any{"istio.listenerClass": text})); class != want || !known {
			t.Errorf("%q is %s (%v), want %s", text, class, known, want)
		}
	}
	if class, known := readListenerClass(
		model.NewSettings(map[string]any{"istio.listenerClass": "inbond"})); class != "any" || known {
		t.Errorf("inbond is %s (%v)", class, known)
	}
}
