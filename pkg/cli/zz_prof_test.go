package cli_test

import (
	"context"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
	"io"
	"testing"
)

func TestZZProf(t *testing.T) {
	cli.App{Plugins: plugins.All()}.Run(context.Background(), []string{"check", "-f", "/tmp/reqperf/in.yaml", "--config", "none", "--requirements", "/tmp/reqperf/r.yaml"}, cli.Streams{Out: io.Discard, Err: io.Discard, LookupEnv: func(string) (string, bool) { return "", false }})
}
