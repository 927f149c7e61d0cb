package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// asking is the best of several runs of `request`, for one request and for many, beside loading the same manifests.
type asking struct {
	shape
	bytes     int64
	many      int     // requests
	load      float64 // seconds that loading takes, in a process of its own
	one, all  program
	agreement agreement
}

// agreement is how many answers were held against the reference that the tests of pkg/request have.
type agreement struct {
	pairs   int
	seconds float64
}

// ask measures requests at a number of rules. The three take turns, so that what else the machine does hits them alike.
func (b *bench) ask(ctx context.Context) (*asking, error) {
	a := &asking{shape: shapeOf(b.rules / rulesEach), many: b.requests}
	manifests, bytes, err := b.manifests(a.routes)
	if err != nil {
		return nil, err
	}
	a.bytes = bytes
	file, want := filepath.Join(b.folder, "requests"), b.requestsOf(a.routes)
	if err := os.WriteFile(file, []byte(strings.Join(want.lines, "\n")+"\n"), 0o600); err != nil {
		return nil, err
	}
	b.say("asking %d requests at %d rules, best of %d", a.many, a.rules, b.runs)
	for i := range b.runs {
		m, err := b.loader.run(ctx, manifests, "")
		if err != nil {
			return nil, err
		}
		if s := m.seconds(decoding); i == 0 || s < a.load {
			a.load = s
		}
		one := strings.Fields(want.lines[len(want.lines)/2])
		if err := b.answers(ctx, &a.one, want.hits[len(want.lines)/2:][:1], append(one, "-f", manifests)...); err != nil {
			return nil, err
		}
		if err := b.answers(ctx, &a.all, want.hits, "--requests-file", file, "-f", manifests); err != nil {
			return nil, err
		}
	}
	a.agreement, err = b.agree(ctx)
	return a, err
}

// asked are requests and the rules that they hit.
type asked struct{ lines, hits []string }

// requestsOf spreads requests over all routes.
func (b *bench) requestsOf(routes int) asked {
	var a asked
	for i := range b.requests {
		r := i * routes / b.requests
		rule := i % rulesEach
		a.lines = append(a.lines, fmt.Sprintf("GET http://r%d.example.com:%d/v%d/item/%d --gateway %s/gw%d", r, 8080+i%listenersEach, rule, i, infraNamespace, r/routesInARow%gateways))
		a.hits = append(a.hits, fmt.Sprintf("ns%d/r%d rule%d", r%routeNamespaces, r, rule))
	}
	return a
}

// answers runs `request` once and keeps the best time. It fails unless every request hits its rule and has a policy's setting there.
func (b *bench) answers(ctx context.Context, best *program, hits []string, args ...string) error {
	cmd := exec.CommandContext(ctx, b.program, append(append([]string{"request"}, args...), "-o", "json")...)
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	start := time.Now()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s: %w: %s", cmd, err, failed.String())
	}
	if s := time.Since(start).Seconds(); best.seconds == 0 || s < best.seconds {
		best.seconds = s
	}
	best.peak = max(best.peak, peak(cmd.ProcessState))
	type result struct {
		Route     struct{ Namespace, Name, Section string }
		Effective []json.RawMessage
	}
	var got struct {
		result
		Items []result
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		return fmt.Errorf("%s: %w", cmd, err)
	}
	if got.Items == nil {
		got.Items = []result{got.result}
	}
	if len(got.Items) != len(hits) {
		return fmt.Errorf("%d requests were asked, the answer has %d", len(hits), len(got.Items))
	}
	for i, r := range got.Items {
		if hit := r.Route.Namespace + "/" + r.Route.Name + " " + r.Route.Section; hit != hits[i] || len(r.Effective) == 0 {
			return fmt.Errorf("request %d hits %s with %d effective policies, it should hit %s", i+1, hit, len(r.Effective), hits[i])
		}
	}
	return nil
}

// agree has the tests of pkg/request draw inputs and requests, and hold the answers against their reference.
func (b *bench) agree(ctx context.Context) (agreement, error) {
	b.say("holding %d answers against the reference", b.pairs)
	test := filepath.Join(b.folder, "matcher")
	build := exec.CommandContext(ctx, "go", "test", "-C", "..", "-c", "-o", test, "./pkg/request")
	if text, err := build.CombinedOutput(); err != nil {
		return agreement{}, fmt.Errorf("%s: %w: %s", build, err, text)
	}
	cmd := exec.CommandContext(ctx, test, "-test.run=^TestMatcherAgreesWithReference$", "-test.v", fmt.Sprintf("-pairs=%d", b.pairs))
	cmd.Dir = b.folder
	start := time.Now()
	text, err := cmd.CombinedOutput()
	if err != nil {
		return agreement{}, fmt.Errorf("%w: %s", err, text)
	}
	if want := fmt.Sprintf(" %d pairs agree", b.pairs); !strings.Contains(string(text), want) {
		return agreement{}, fmt.Errorf("the test does not say %q: %s", want, text)
	}
	return agreement{b.pairs, time.Since(start).Seconds()}, nil
}
