package ingresstest

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/load"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/plugins/ingressnginx"
)

// requestsOfSet is how many requests are sent to each set.
const requestsOfSet = 16

// mostFailures is after how many sets with something wrong enough is known.
const mostFailures = 10

// TestProxyAgreesWithModel holds the answers of the program to drawn requests against the model.
// DRAWN_SETS says how many sets are drawn, and DRAWN_FROM which is the first.
func TestProxyAgreesWithModel(t *testing.T) {
	sets := readNumber(t, "DRAWN_SETS", 1000)
	if testing.Short() {
		sets = min(sets, 300)
	}
	first := readNumber(t, "DRAWN_FROM", 1)
	sum := tally{}
	failures := 0
	for seed := first; seed < first+sets && failures < mostFailures; seed++ {
		d := newDrawing(uint64(seed))
		var requests []*request.Request
		for range requestsOfSet {
			requests = append(requests, d.drawRequest(t))
		}
		if r := findDifference(t, d.c, requests, sum); r != nil {
			failures++
			c := shrinkCluster(t, d.c, r)
			t.Errorf("set %d: %s\n%s", seed, describeDifference(t, c, r), c.describe(t))
		}
	}
	t.Log(sum)
	if sum["unknown"]*20 > sum["same"] {
		t.Error("too many requests are not evaluated")
	}
}

func readNumber(t *testing.T, name string, without int) int {
	text := os.Getenv(name)
	if text == "" {
		return without
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return n
}

// tally counts what came of requests.
type tally map[string]int

// findDifference returns the first request of which model and program say different things.
func findDifference(t *testing.T, c *cluster, requests []*request.Request, sum tally) *request.Request {
	slow, quick := newProxy(c), readProxy(t, c)
	for _, r := range requests {
		want, got := slow.answer(r), &ingress.Answer{Outcome: request.NoMatch, Status: 404}
		if quick != nil {
			got = quick.Answer(r, nil)
		}
		switch {
		case got.Outcome == request.NotEvaluated && want.Outcome != request.NotEvaluated && !quick.Refused:
			sum["unknown"]++
		case describeAnswer(want, want) != describeAnswer(got, want):
			return r
		default:
			sum["same"]++
			sum[string(want.Outcome)]++
		}
	}
	return nil
}

// readProxy reads the manifests as the program does.
func readProxy(t *testing.T, c *cluster) *ingress.Proxy {
	in, err := load.Files(context.Background(), load.Options{Paths: []string{"-"},
		Stdin: bytes.NewReader(c.manifests(t))})
	if err != nil {
		t.Fatal(err)
	}
	return ingressnginx.Plugin().Ingresses(in)
}

// describeAnswer writes what is compared of an answer. The credentials are where the model tells them.
func describeAnswer(a, model *ingress.Answer) string {
	out := fmt.Sprintf("%s %d", a.Outcome, a.Status)
	if a.Outcome == request.NotEvaluated {
		return string(a.Outcome)
	}
	if a.Location != "" {
		out += " to " + a.Location
	}
	if a.DeniedBy != "" {
		out += " by " + string(a.DeniedBy)
	}
	if model.NeedsAuth != nil {
		var needs []string
		for _, one := range a.NeedsAuth {
			slices.Sort(one)
			needs = append(needs, fmt.Sprint(one))
		}
		slices.Sort(needs)
		out += fmt.Sprintf(" needs %s", needs)
	}
	if a.Outcome == request.Limited { // who gets the others is not compared
		return out
	}
	return out + describeBackends(a.Backends)
}

func describeBackends(backends []ingress.Backend) string {
	var out []string
	sum := 0
	for _, b := range backends {
		sum += b.Weight
	}
	for _, b := range backends {
		if b.Weight > 0 {
			out = append(out, fmt.Sprintf("\n    %s/%s:%d gets %.1f%% at %s", b.Ref.Namespace, b.Ref.Name, b.Port,
				100*float64(b.Weight)/float64(sum), b.Path))
		}
	}
	slices.Sort(out)
	return strings.Join(out, "")
}

// describeDifference writes both answers to a request.
func describeDifference(t *testing.T, c *cluster, r *request.Request) string {
	want, got := newProxy(c).answer(r), &ingress.Answer{}
	if quick := readProxy(t, c); quick != nil {
		got = quick.Answer(r, nil)
	}
	return fmt.Sprintf("%s %v %+v\n  model: %s\n  program: %s\n    because %q", r.Text, r.Headers, r.Circumstances,
		describeAnswer(want, want), describeAnswer(got, want), got.Why)
}
