package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// peer is an implementation whose own code answers the inputs that generate draws.
type peer struct {
	name     string
	module   string       // whose version the figures name
	inside   string       // the folder of the module in which the program is built, for one that needs its internal packages
	prepare  func() error // gets what generate needs, if anything
	generate func(source) input
	// ask has the program under test answer: facts of the same keys as the peer's. Where the peer translates policies into the settings of a
	// proxy, ask writes the effective policies that the program predicts back into another input, one policy on each rule, and translate has
	// the peer translate that: then no field is mapped by hand.
	ask func(ctx context.Context, p program, translate translate, in *input) (facts, error)
	// theirs, if any, makes facts of what the peer says, where the program has a part in them.
	theirs func(ctx context.Context, p program, in *input, said facts) (facts, error)
}

// translate has the peer answer another input.
type translate func(*input) (facts, error)

func peers() []peer { return []peer{kuadrant, networkPolicy, apiServer, istio, envoyGateway, kgateway} }

// program is a kubectl-dopolicy that was built.
type program string

// errRefused is the error of a program that gives no answer to an input.
var errRefused = errors.New("no answer")

// json runs the program over manifests on its standard input, and reads what it prints.
func (p program) json(ctx context.Context, in *input, into any, args ...string) error {
	manifests, err := in.manifests()
	if err != nil {
		return err
	}
	file, remove, err := temporary("differential-*.yaml", manifests)
	if err != nil {
		return err
	}
	defer remove()
	out, err := exec.CommandContext(ctx, string(p), append(args, "-o", "json", "-f", file)...).Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		return fmt.Errorf("%w to %v: %s", errRefused, args, failed.Stderr)
	}
	if err != nil {
		return err
	}
	return json.Unmarshal(out, into)
}

// temporary writes a file that remove removes.
func temporary(pattern string, text []byte) (path string, remove func(), err error) {
	file, err := os.CreateTemp("", pattern)
	if err != nil {
		return "", nil, err
	}
	_, err = file.Write(text)
	return file.Name(), func() { os.Remove(file.Name()) }, errors.Join(err, file.Close())
}

// peerProcess is a running peer. It reads an input a line and writes an answer a line.
type peerProcess struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	kept kept
}

// answered is what a peer writes: its facts, or why there are none.
type answered struct {
	Facts facts  `json:"facts"`
	Error string `json:"error"`
}

// build builds the program of a peer in a folder, unless it is there, and says of which version it is.
func (p peer) build(ctx context.Context, folder string) (path, version string, err error) {
	at := filepath.Join("peers", p.name)
	if p.prepare != nil {
		if err := p.prepare(); err != nil {
			return "", "", err
		}
	}
	module, err := download(ctx, at, p.module)
	if err != nil {
		return "", "", err
	}
	if path, err = filepath.Abs(filepath.Join(folder, p.name)); err != nil {
		return "", "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, module.Version, nil
	}
	if p.inside != "" {
		if at, err = insideOf(module.Dir, p.inside, at, filepath.Join(folder, p.name+"-module")); err != nil {
			return "", "", fmt.Errorf("copying %s: %w", p.module, err)
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, ".")
	build.Dir = at
	if text, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("building peer %s: %w\n%s", p.name, err, text)
	}
	return path, module.Version, nil
}

// serveModule is what the programs of all peers have in common.
const serveModule = "github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"

// module is where a module is, and which version of it.
type module struct{ Dir, Version, Error string }

// download gets a module: of the version that the folder's own module needs, unless the path names one.
func download(ctx context.Context, folder, path string) (module, error) {
	list := exec.CommandContext(ctx, "go", "mod", "download", "-json", path)
	list.Dir = folder
	text, err := list.Output()
	var out module
	if jsonErr := json.Unmarshal(text, &out); err != nil || jsonErr != nil {
		return out, fmt.Errorf("downloading %s: %w: %s\nIt has to be in the module cache, or a module proxy within reach (go env GOPROXY)", path, errors.Join(err, jsonErr), out.Error)
	}
	return out, nil
}

// insideOf copies a module to a folder, with the program of a peer in one of its own folders: internal packages may be imported there, and
// the module needs peers/serve beside what it needs anyway; nothing else of it changes. It gives the program's folder.
func insideOf(module, inside, program, folder string) (string, error) {
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.CopyFS(folder, os.DirFS(module)); err != nil {
		return "", err
	}
	at := filepath.Join(folder, inside)
	sources, err := filepath.Glob(filepath.Join(program, "*.go"))
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return "", err
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return "", err
		}
		if err := os.WriteFile(filepath.Join(at, filepath.Base(source)), text, 0o644); err != nil {
			return "", err
		}
	}
	shared, err := filepath.Abs(filepath.Join("peers", "serve"))
	if err != nil {
		return "", err
	}
	edit := exec.Command("go", "mod", "edit", "-require="+serveModule+"@v0.0.0", "-replace="+serveModule+"="+shared)
	edit.Dir = folder
	if text, err := edit.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, text)
	}
	return at, nil
}

// start starts the peer, in the folder of its sources. It ends with its input, when the context does at the latest.
func (r *run) start(ctx context.Context) (*peerProcess, error) {
	cmd := exec.CommandContext(ctx, r.path)
	cmd.Dir = filepath.Join("peers", r.peer.name)
	cmd.Env = append(os.Environ(), "GOGC=400") // there is memory enough, and a quarter of the time is collecting garbage
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	cmd.Cancel, cmd.WaitDelay = in.Close, 10*time.Second // it may have children to end
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	return &peerProcess{cmd, in, bufio.NewReaderSize(out, 1<<20), r.kept}, cmd.Start()
}

// ask has the peer answer one input, with values as canonical writes them. An input that it refuses has errRefused.
func (p *peerProcess) ask(in *input) (facts, error) {
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	if out, err := p.kept.get(text); out != nil || err != nil {
		return out, err
	}
	if _, err := p.in.Write(append(text, '\n')); err != nil {
		return nil, fmt.Errorf("asking the peer: %w", err)
	}
	line, err := p.out.ReadBytes('\n')
	if err != nil {
		return nil, fmt.Errorf("the peer gave up on seed %d: %w", in.Seed, err)
	}
	var a answered
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("reading what the peer says of seed %d: %w", in.Seed, err)
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%w: %s", errRefused, a.Error)
	}
	out := facts{}
	for key, value := range a.Facts {
		set(out, key, normalised(value))
	}
	return out, p.kept.put(text, out)
}

func (p *peerProcess) stop() error {
	return errors.Join(p.in.Close(), p.cmd.Wait())
}
