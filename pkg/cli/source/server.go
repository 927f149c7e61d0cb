package source

import (
	"fmt"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cluster"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// NewServer returns the API server of a cluster. What is waited for because the server says so is
// told on stderr.
func (f *Flags) NewServer(c *ClusterAccess, s run.Streams) (*cluster.Server, error) {
	server, err := cluster.NewServer(c.Config, f.Limits.Values(), f.RequestLogger(s))
	if err != nil {
		return nil, KubeconfigError(err, c.Config.Host)
	}
	server.ReportWaits(func(after time.Duration) {
		clear := ""
		if s.ErrIsTTY { // the line may show how far the reading is
			clear = "\r\x1b[K"
		}
		fmt.Fprintf(s.Err, "%snote: waiting for cluster %s: it asks to retry after %s\n", clear,
			escape.Escape(c.Context), after)
	})
	return server, nil
}
