// Command traefik answers requests with Traefik's provider for the Gateway API, its muxer and its middlewares, in one process and without a
// network. It reads a world with requests a line, and writes a line with what becomes of each: the key of a fact is the index of the request.
// It is built inside the module of Traefik, see traefik.go in the folder of the comparison.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"
	"github.com/rs/zerolog"
)

func main() {
	zerolog.SetGlobalLevel(zerolog.Disabled)
	serve.Answers(answer)
}

// world is an input.
type world struct {
	Objects  []json.RawMessage `json:"objects"`
	Requests []request         `json:"requests"`
}

// answer is what becomes of every request of a world.
func answer(line []byte) (map[string]string, error) {
	var in world
	if err := json.Unmarshal(line, &in); err != nil {
		return nil, err
	}
	proxy, err := newProxy(context.Background(), in.Objects)
	if err != nil {
		return nil, err
	}
	out := map[string]string{}
	for i, r := range in.Requests {
		became, err := proxy.ask(r)
		if err != nil {
			return nil, fmt.Errorf("request %d: %w", i, err)
		}
		text, err := json.Marshal(became)
		if err != nil {
			return nil, err
		}
		out[strconv.Itoa(i)] = string(text)
	}
	return out, nil
}
