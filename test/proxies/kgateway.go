package main

import (
	"path/filepath"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// kgateway is kgateway with Envoy.
var kgateway = &vendor{
	Peer: program.Peer{Name: "kgateway", Folder: filepath.Join("translators", "kgateway"), Module: "github.com/kgateway-dev/kgateway/v2",
		Inside: "test/cmd/dopolicy-peer", Packages: []string{filepath.Join("..", "differential", "peers", "kgateway", "translate")}},
	controller: "kgateway.dev/kgateway",
	answers:    askEnvoys,
}
