package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// answer is what kubectl-dopolicy says of a request.
type answer struct {
	Outcome  string
	Assumed  string
	Status   int
	Listener string
	Route    *reference
	Rule     *int
	Backends []struct {
		Ref    reference
		Weight int
	}
	Location string
	Sends    *struct{ Method, Host, Path string }
	Why      []string

	Expectations []struct{ Expect, Result string }
	MayAnswer    []struct{ Status any }
}

// reference is a reference as JSON answers have it.
type reference struct{ Kind, Namespace, Name string }

func (a *answer) String() string {
	out := a.Outcome
	if a.Assumed != "" {
		out += ", else " + a.Assumed
	}
	if a.Status != 0 {
		out += fmt.Sprintf(" %d", a.Status)
	}
	if a.Route != nil {
		out += fmt.Sprintf(" by %s/%s/%s/rule-%d", strings.ToLower(a.Route.Kind), a.Route.Namespace, a.Route.Name, *a.Rule+1)
	}
	if a.Location != "" {
		out += " to " + a.Location
	}
	if a.Sends != nil {
		out += fmt.Sprintf(", sends %s %s%s", a.Sends.Method, a.Sends.Host, a.Sends.Path)
	}
	return out + ": " + strings.Join(a.Why, "; ")
}

// askProgram has kubectl-dopolicy answer requests for a world, and say whether what is expected of them is so.
func askProgram(ctx context.Context, p program.Program, v *vendor, w *world, requests []request, expect []string) ([]answer, error) {
	manifests, err := draw.Manifests(w.Objects)
	if err != nil {
		return nil, err
	}
	objects, remove, err := program.Temporary("world-*.yaml", manifests)
	if err != nil {
		return nil, err
	}
	defer remove()
	var lines strings.Builder
	for _, r := range requests {
		lines.WriteString(line(r))
		for _, e := range expect {
			lines.WriteString(" --expect " + e)
		}
		lines.WriteString("\n")
	}
	file, remove, err := program.Temporary("requests-*.txt", []byte(lines.String()))
	if err != nil {
		return nil, err
	}
	defer remove()
	args := append([]string{"request", "--requests-file", file, "-f", objects, "--complete", "-o", "json"}, v.arguments...)
	text, err := exec.CommandContext(ctx, string(p), args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) && failed.ExitCode() != 1 { // 1: something that was expected is not so
		return nil, fmt.Errorf("kubectl-dopolicy gives no answer: %s\n%s", failed.Stderr, lines.String())
	}
	if err != nil && failed == nil {
		return nil, err
	}
	var out struct{ Items []answer }
	if err := json.Unmarshal(text, &out); err != nil {
		return nil, fmt.Errorf("reading what kubectl-dopolicy says: %w", err)
	}
	if len(out.Items) != len(requests) {
		return nil, fmt.Errorf("kubectl-dopolicy gives %d answers to %d requests\n%s", len(out.Items), len(requests), lines.String())
	}
	return out.Items, nil
}

// line is a request as a file of requests has it.
func line(r request) string {
	scheme := "http"
	if r.TLS {
		scheme = "https"
	}
	words := []string{r.Method, fmt.Sprintf("%s://%s:%d%s", scheme, hostOnly(r.Host), r.Port, r.Path), "-H", "Host: " + r.Host, "--gateway", r.Gateway}
	if r.GRPC {
		words = []string{fmt.Sprintf("%s://%s:%d", scheme, hostOnly(r.Host), r.Port), "--grpc", strings.TrimPrefix(r.Path, "/"), "-H", "Host: " + r.Host, "--gateway", r.Gateway}
	}
	if r.TLS {
		words = append(words, "--sni", r.SNI)
	}
	for _, h := range r.Headers {
		words = append(words, "-H", h[0]+": "+h[1])
	}
	for i, word := range words {
		if strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-./:=") != "" {
			words[i] = "'" + word + "'" // nothing that is drawn has a quote in it
		}
	}
	return strings.Join(words, " ")
}

// rule is a rule of a route of the world.
type rule struct {
	route object
	index int
}

func (r *rule) String() string {
	return fmt.Sprintf("%s/%s/rule-%d", strings.ToLower(r.route["kind"].(string)), named(r.route), r.index+1)
}

// spec is the rule as it is written.
func (r *rule) spec() any { return list(r.route, "spec", "rules")[r.index] }

// ruleOf is the rule that has a backend, or nil.
func (w *world) ruleOf(backend string) *rule {
	for _, route := range append(w.of("HTTPRoute"), w.of("GRPCRoute")...) {
		for i, r := range list(route, "spec", "rules") {
			if slices.ContainsFunc(list(r, "backendRefs"), func(ref any) bool {
				namespace := text(ref, "namespace")
				if namespace == "" {
					namespace = text(route, "metadata", "namespace")
				}
				return namespace+"/"+text(ref, "name") == backend
			}) {
				return &rule{route, i}
			}
		}
	}
	return nil
}

// rule is the rule that an answer names, or nil.
func (w *world) rule(a *answer) *rule {
	if a.Route == nil || a.Rule == nil {
		return nil
	}
	for _, route := range w.of(a.Route.Kind) {
		if named(route) == a.Route.Namespace+"/"+a.Route.Name {
			return &rule{route, *a.Rule}
		}
	}
	return nil
}
