package main

import (
	"path/filepath"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// istio is Istio with Envoy.
var istio = &vendor{
	Peer:       program.Peer{Name: "istio", Folder: filepath.Join("translators", "istio"), Module: "istio.io/istio", Inside: "pilot/cmd/dopolicy-peer"},
	controller: "istio.io/gateway-controller",
	answers:    askEnvoys,
}
