package main

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// expected are the properties that are asked about with every request of a world with policies.
var expected = []string{"authentication", "rateLimit"}

// burst is how often the request with credentials is sent: more often than any limit that is drawn lets through.
const burst = maxLimit + 1

// trial is what proxies did with one request: without credentials, with wrong ones, and with all that there are, again and again.
type trial struct {
	anonymous, wrong reply
	trusted          []reply
}

func (t *trial) all() []reply { return append([]reply{t.anonymous, t.wrong}, t.trusted...) }

func (t *trial) String() string {
	out := fmt.Sprintf("without credentials %s; with wrong ones %s; with good ones", t.anonymous, t.wrong)
	for _, r := range t.trusted {
		out += " " + fmt.Sprint(r.Status)
	}
	return out
}

// tryAll sends each request in all its forms.
func (r *run) tryAll(ctx context.Context, p *program.Process, w *world, requests []request) ([]*trial, error) {
	var forms []request
	for _, asked := range requests {
		forms = append(forms, asked, r.vendor.credentials(asked, false))
	}
	// Those without good credentials come first: they use up no limit behind a login.
	for _, asked := range requests {
		for range burst {
			forms = append(forms, r.vendor.credentials(asked, true))
		}
	}
	replies, err := r.vendor.answers(ctx, p, w, forms)
	if err != nil {
		return nil, err
	}
	var out []*trial
	for i := range requests {
		at := 2*len(requests) + burst*i
		out = append(out, &trial{replies[2*i], replies[2*i+1], replies[at : at+burst]})
	}
	return out, nil
}

// compareProtection judges what is said of the protection of a request that a rule takes.
func compareProtection(r request, ours *answer, t *trial) (verdict, *difference) {
	switch {
	case ours.Outcome == "Conditional":
		return conditional, nil
	case ours.Outcome != "Matched", t.anonymous.Refused != "": // that a proxy refuses its configuration is compared without policies
		return unasked, nil
	}
	unsure := false
	signature := ""
	for _, e := range ours.Expectations {
		switch e.Expect + " " + e.Result {
		case "authentication met":
			if t.anonymous.Backend != "" || t.wrong.Backend != "" {
				signature = "authentication holds, and a request gets through without"
			}
		case "authentication notMet":
			if t.anonymous.Status == http.StatusUnauthorized {
				signature = "authentication fails, and a request is refused without"
			}
		case "rateLimit met":
			if !slices.ContainsFunc(t.trusted, func(r reply) bool { return r.Backend == "" }) {
				signature = "rateLimit holds, and no request is refused"
			}
		case "rateLimit notMet":
			if slices.ContainsFunc(t.trusted, func(r reply) bool { return r.Status == http.StatusTooManyRequests }) {
				signature = "rateLimit fails, and a request is refused"
			}
		default:
			unsure = true
		}
		if signature != "" {
			break
		}
	}
	for i, got := range t.all() {
		limited := r.GRPC && got.Status == http.StatusServiceUnavailable && ours.foresees(http.StatusTooManyRequests) // the same in gRPC
		if signature == "" && got.Backend == "" && !limited && !ours.foresees(got.Status) {
			if got.Status == http.StatusOK && r.isPreflight() {
				signature = "a preflight that the proxy answers"
				break
			}
			signature = fmt.Sprintf("a status that may not be answered: %d", got.Status)
			if i > 0 && t.anonymous.Backend != "" {
				signature += " to credentials alone"
			}
		}
	}
	switch {
	case signature != "":
		return differs, &difference{Signature: signature, Request: r, Ours: *ours, Theirs: t.anonymous, Trial: t}
	case unsure:
		return conditional, nil
	}
	return agree, nil
}

// isPreflight reports whether a browser would send the request to ask whether a page of another origin may send one.
func (r request) isPreflight() bool {
	return r.Method == http.MethodOptions && slices.ContainsFunc(r.Headers, func(h [2]string) bool { return h[0] == "Access-Control-Request-Method" })
}

// foresees reports whether an answer lists a status among those that may come before a backend's. That of a preflight may be said in words.
func (a *answer) foresees(status int) bool {
	if status == http.StatusOK && slices.ContainsFunc(a.Why, func(why string) bool { return strings.Contains(why, "preflight") }) {
		return true
	}
	return slices.ContainsFunc(a.MayAnswer, func(may struct{ Status any }) bool {
		return fmt.Sprint(may.Status) == fmt.Sprint(status) || may.Status == "*"
	})
}

// protectionText is what an answer says of the protection.
func (a *answer) protectionText() string {
	var out []string
	for _, e := range a.Expectations {
		out = append(out, e.Expect+" "+e.Result)
	}
	for _, may := range a.MayAnswer {
		out = append(out, fmt.Sprint("may answer ", may.Status))
	}
	return strings.Join(out, ", ")
}
