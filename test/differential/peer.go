package main

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// peer is an implementation whose own code answers the inputs that generate draws.
type peer struct {
	program.Peer
	prepare  func() error // gets what generate needs, if anything
	generate func(draw.Source) input
	// ask has the program under test answer: facts of the same keys as the peer's. Where the peer translates policies into the settings of a
	// proxy, ask writes the effective policies that the program predicts back into another input, one policy on each rule, and translate has
	// the peer translate that: then no field is mapped by hand.
	ask func(ctx context.Context, p program.Program, translate translate, in *input) (facts, error)
	// theirs, if any, makes facts of what the peer says, where the program has a part in them.
	theirs func(ctx context.Context, p program.Program, in *input, said facts) (facts, error)
}

// translate has the peer answer another input.
type translate func(*input) (facts, error)

// built says how a peer is built; inside and packages are those of program.Peer, the packages beneath the peer's folder.
func built(name, module, inside string, packages ...string) program.Peer {
	folder := filepath.Join("peers", name)
	out := program.Peer{Name: name, Folder: folder, Module: module, Inside: inside}
	for _, p := range packages {
		out.Packages = append(out.Packages, filepath.Join(folder, p))
	}
	return out
}

func peers() []peer { return []peer{kuadrant, networkPolicy, apiServer, istio, envoyGateway, kgateway} }

// ask has a running peer answer an input, with values as canonical writes them. An input that it refuses has program.ErrRefused.
func ask(p *program.Process, in *input) (facts, error) {
	said, err := p.Ask(in)
	if err != nil {
		return nil, fmt.Errorf("seed %d: %w", in.Seed, err)
	}
	out := facts{}
	for key, value := range said {
		set(out, key, normalised(value))
	}
	return out, nil
}

// asking is ask for one peer.
func asking(p *program.Process) translate {
	return func(in *input) (facts, error) { return ask(p, in) }
}
