package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// traefik is Traefik: its provider for the Gateway API, its muxer and its middlewares in one process, which is asked without a network. It reads no
// ListenerSets.
var traefik = &vendor{
	Peer: program.Peer{Name: "traefik", Folder: filepath.Join("translators", "traefik"), Module: "github.com/traefik/traefik/v3",
		Inside: "cmd/dopolicy-peer", Complete: completeTraefik},
	controller: "traefik.io/gateway-controller",
	without:    []string{"ListenerSet"},
	answers:    askTraefik,
}

// askTraefik has the peer answer all requests at once.
func askTraefik(_ context.Context, p *program.Process, w *world, requests []request) ([]reply, error) {
	facts, err := p.Ask(world{Seed: w.Seed, Objects: w.Objects, Requests: requests})
	if err != nil {
		return nil, err
	}
	out := make([]reply, len(requests))
	for i := range requests {
		if err := json.Unmarshal([]byte(facts[strconv.Itoa(i)]), &out[i]); err != nil {
			return nil, fmt.Errorf("reading what Traefik says of request %d: %w", i, err)
		}
		if out[i].Status == http.StatusOK && out[i].Backend == "" && requests[i].GRPC { // a status of gRPC, in a body of JSON
			out[i].Status = http.StatusServiceUnavailable
		}
		if len(out[i].Ties) > 0 {
			out[i].Note += ", as have " + strings.Join(out[i].Ties, ", ")
		}
	}
	return out, nil
}
