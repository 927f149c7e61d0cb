package publishtest

import (
	"os"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestPublishable: the page lists the kinds whose numbers may be published, and none about who
// somebody is may.
func TestPublishable(t *testing.T) {
	page, err := os.ReadFile("../../docs/publish.md")
	if err != nil {
		t.Fatal(err)
	}
	catalog, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, k := range catalog.Kinds() {
		if !k.Publishable {
			continue
		}
		found++
		kind := k.GroupKind.Kind
		if !strings.Contains(string(page), kind) {
			t.Errorf("docs/publish.md does not list %s", k.Name())
		}
		for _, word := range []string{"Auth", "Secur", "TLS", "OIDC", "Secret", "Plugin", "Extension", "Patch",
			"Filter", "Snippets"} {
			if strings.Contains(kind, word) {
				t.Errorf("the settings of %s may be credentials", k.Name())
			}
		}
	}
	if found < 10 {
		t.Errorf("only %d kinds are publishable", found)
	}
}
