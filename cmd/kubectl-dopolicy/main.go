// Command kubectl-dopolicy is the kubectl plugin `kubectl dopolicy`.
package main

import (
	"os"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

var version, commit, date string // set by the linker

func main() {
	app := cli.App{Plugins: plugins.All(), Build: cli.Build{Version: version, Commit: commit, Date: date}}
	os.Exit(app.RunUntilSignal(os.Args[1:], cli.Terminal()))
}
