// Command bench compares the speed of this engine with that of policy-machinery, the library in Kuadrant's operator, and takes this
// engine's own time apart. It generates one topology as YAML, gives it to both and checks that both find the same effective policies.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
)

func main() {
	if side := os.Getenv(sideEnv); side != "" {
		os.Exit(runSide(side, os.Args[1:], os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	options, err := parse(os.Args[1:], os.Stderr)
	if err != nil {
		os.Exit(2)
	}
	if err := run(ctx, options, os.Stdout, os.Stderr); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// options are the sizes and the numbers of runs.
type options struct {
	routes   int    // of the comparison with the peer
	peerRuns int    // of each side of the comparison
	runs     int    // of everything else
	sizes    []int  // three numbers of routes at which this engine is taken apart; loading is measured at the second
	rules    int    // of routes, where requests are asked
	requests int    // that are asked at once
	pairs    int    // of an input and a request that are held against the reference
	crowd    int    // of policies or routes at one place
	clusters int    // that are asked at once
	large    int    // routes of the largest input
	only     string // what to measure, in place of everything: comparison, clusters, crowds, large
}

// pinned are the sizes for which limits are stated.
var (
	pinned = options{routes: 1000, peerRuns: 5, runs: 5, sizes: []int{1_000, 10_000, 100_000}, rules: 100_000, requests: 1_000, pairs: 100_000, crowd: 4_000, clusters: 1_000, large: 500_000}
	quick  = options{routes: 100, peerRuns: 1, runs: 1, sizes: []int{100, 200, 400}, rules: 400, requests: 20, pairs: 2_000, crowd: 20, clusters: 20, large: 400}
)

func parse(args []string, help io.Writer) (options, error) {
	o := pinned
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(help)
	flags.IntVar(&o.routes, "routes", o.routes, "routes of the comparison; the peer's time grows with their square")
	flags.IntVar(&o.peerRuns, "peer-runs", o.peerRuns, "runs of each side of the comparison, the best of which counts")
	flags.IntVar(&o.runs, "runs", o.runs, "runs of everything else, the best of which counts")
	flags.IntVar(&o.pairs, "pairs", o.pairs, "pairs of an input and a request that are held against the reference")
	flags.IntVar(&o.clusters, "clusters", o.clusters, "snapshots that are asked in one run")
	flags.StringVar(&o.only, "only", "", "measure only this: comparison (with policy-machinery), clusters, or crowds (much at one place)")
	million := flags.Bool("large", false, "measure only a million rules, beside a tenth of them, in 6 GB of memory")
	short := flags.Bool("quick", false, "small sizes and one run of each, to see that both sides agree; the other flags do nothing")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if *short {
		o = quick
	}
	if !slices.Contains([]string{"", "comparison", "clusters", "crowds"}, o.only) || *million && o.only != "" {
		err := fmt.Errorf("-only %s: write comparison, clusters or crowds, and not -large as well", o.only)
		fmt.Fprintln(help, err)
		return o, err
	}
	if *million && !*short {
		o.only = "large"
	}
	if flags.NArg() > 0 || o.routes < 1 || o.clusters < 1 || o.pairs < 1 || o.peerRuns < 1 || o.runs < 1 {
		err := errors.New("every number must be at least 1, and there are no arguments")
		fmt.Fprintln(help, err)
		return o, err
	}
	return o, nil
}
