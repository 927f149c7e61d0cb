package effective_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// TestRun asks without a command line: the options are a struct.
func TestRun(t *testing.T) {
	var out, problems bytes.Buffer
	o := &effective.Options{
		Environment: run.Environment{
			Plugins: plugins.All(),
			Streams: run.Streams{In: strings.NewReader(""), Out: &out, Err: &problems, LookupEnv: func(string) (string,
				bool) {
				return "", false
			}},
		},
		Args: []string{"baker/rule-1"},
	}
	o.Query.Source.Files = []string{"../../../testdata/demo"}
	o.Query.Output.Format = "name"
	if err := effective.Run(t.Context(), o); err != nil {
		t.Fatalf("%v\n%s", err, &problems)
	}
	if !strings.Contains(out.String(), "httproute.gateway.networking.k8s.io/baker") {
		t.Errorf("answer: %s", &out)
	}
}
