package gke

import (
	"os"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// The vendor's file is one that users could have written: it takes no function, and is read as
// theirs are.
func TestIsDataAlone(t *testing.T) {
	text, err := os.ReadFile("kinds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "func") {
		t.Error("kinds.yaml names a function")
	}
	c, err := plugin.NewCatalog(nil, []form.Source{{Name: "kinds.yaml", Text: text}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []string{"GCPBackendPolicy", "HealthCheckPolicy", "GCPGatewayPolicy",
		"GCPSessionAffinityPolicy"} {
		if c.Kind(model.GroupKind{Group: "networking.gke.io", Kind: kind}) == nil {
			t.Errorf("%s is not described", kind)
		}
	}
}
