package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os/exec"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// askProof has kubectl-dopolicy prove that every request is authenticated, which none is in a world without policies: it gives the smallest request
// for each rule, of the classes that it tells apart, with the answer to it.
func askProof(ctx context.Context, p program.Program, v *vendor, w *world) ([]request, []answer, error) {
	manifests, err := draw.Manifests(w.Objects)
	if err != nil {
		return nil, nil, err
	}
	objects, remove, err := program.Temporary("world-*.yaml", manifests)
	if err != nil {
		return nil, nil, err
	}
	defer remove()
	args := append([]string{"prove", "--require", "authentication", "-f", objects, "--complete", "-o", "json"}, v.arguments...)
	text, err := exec.CommandContext(ctx, string(p), args...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) && len(text) == 0 {
		return nil, nil, fmt.Errorf("kubectl-dopolicy proves nothing: %s", failed.Stderr)
	}
	if err != nil && failed == nil {
		return nil, nil, err
	}
	var proof struct {
		Items []struct {
			answer
			Command string
			Gateway string
			Request struct{ Protocol, SNI, GRPC string }
		}
	}
	if err := json.Unmarshal(text, &proof); err != nil {
		return nil, nil, fmt.Errorf("reading what kubectl-dopolicy proves: %w", err)
	}
	var requests []request
	var answers []answer
	for _, item := range proof.Items {
		if item.Gateway == "" || item.Request.GRPC != "" || !strings.HasPrefix(item.Command, "curl ") {
			continue
		}
		r, err := readCurl(item.Command)
		if err != nil {
			return nil, nil, fmt.Errorf("reading the command %s: %w", item.Command, err)
		}
		r.Gateway = item.Gateway
		requests, answers = append(requests, r), append(answers, item.answer)
	}
	return requests, answers, nil
}

// readCurl is the request that a curl command sends, as curl sends it.
func readCurl(command string) (request, error) {
	out := request{Method: "GET"}
	words := splitWords(command)
	for i := 1; i < len(words); i++ {
		switch word := words[i]; {
		case word == "-X" && i+1 < len(words):
			i++
			out.Method = words[i]
		case word == "-I" || word == "--head":
			out.Method = "HEAD"
		case word == "-H" && i+1 < len(words):
			i++
			name, value, _ := strings.Cut(words[i], ":")
			if value = strings.TrimSpace(value); strings.EqualFold(name, "Host") {
				out.Host = value
				continue
			}
			out.Headers = append(out.Headers, [2]string{name, value})
		case strings.HasPrefix(word, "http"):
			to, err := url.Parse(word)
			if err != nil {
				return out, err
			}
			out.TLS, out.SNI, out.Port = to.Scheme == "https", to.Hostname(), 80
			if out.TLS {
				out.Port = 443
			}
			if to.Port() != "" {
				if out.Port, err = strconv.Atoi(to.Port()); err != nil {
					return out, err
				}
			}
			if out.Host == "" {
				out.Host = to.Host
			}
			out.Path = word[strings.Index(word, to.Host)+len(to.Host):]
			if out.Path == "" || out.Path[0] == '?' {
				out.Path = "/" + out.Path
			}
		case word == "--path-as-is":
		default:
			return out, fmt.Errorf("%s is not understood", word)
		}
	}
	return out, nil
}

// splitWords splits a command as a shell does, as far as single quotes go.
func splitWords(command string) []string {
	var out []string
	word, open, quoted := "", false, false
	for _, c := range command {
		switch {
		case c == '\'':
			quoted, open = !quoted, true
		case c == ' ' && !quoted:
			if open {
				out = append(out, word)
			}
			word, open = "", false
		default:
			word, open = word+string(c), true
		}
	}
	if open {
		out = append(out, word)
	}
	return out
}
