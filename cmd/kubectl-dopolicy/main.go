// Command kubectl-dopolicy is the kubectl plugin `kubectl dopolicy`.
package main

import (
	"context"
	"os"
	"os/signal"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

var version, commit, date string // set by the linker

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	app := cli.App{Plugins: plugins.All(), Build: cli.Build{Version: version, Commit: commit, Date: date}}
	code := app.Run(ctx, os.Args[1:], cli.Terminal())
	stop()
	os.Exit(code)
}
