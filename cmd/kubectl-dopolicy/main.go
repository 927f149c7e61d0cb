// Command kubectl-dopolicy is the kubectl plugin `kubectl dopolicy`.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

var version = "dev"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := cli.App{Plugins: plugins.All(), Version: version}.Run(ctx, os.Args[1:], cli.Terminal())
	stop()
	os.Exit(code)
}
