package vectortest

import (
	"encoding/json"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestOutlinesOfClusters: kinds of which a cluster has no policies are read in part, and the answers are those of whole descriptors, also for users who
// may not read all.
func TestOutlinesOfClusters(t *testing.T) {
	whole, err := plugin.NewCatalog(plugins.All(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, demo := range []string{"../../testdata/demo", "../../testdata/demo-rfc0009", "testdata/withheld.yaml"} {
		in, outlines := loaded(t, load.Options{Paths: []string{demo}}, nil)
		for _, u := range moreUsers(in) {
			if got, want := asText(t, answersTo(t, in, u.may, outlines)), asText(t, answersTo(t, in, u.may, whole)); got != want {
				t.Errorf("%s, %s:\n%s\nwant\n%s", demo, u.name, got, want)
			}
		}
	}
}

func asText(t *testing.T, a answers) string {
	t.Helper()
	text, err := json.Marshal([]any{a.effective, a.overridden, a.status, a.reach, a.explained, a.matrix})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
