package program

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Peer is a program that gives what a vendor's own code says.
type Peer struct {
	Name   string
	Folder string // of its sources, with a go.mod that says which version of the vendor's module
	Module string // whose version the figures name
	// Inside is the folder of the module in which the program is built, for one that needs its internal packages.
	Inside string
	// Packages are folders of sources that are built in as packages beneath the program's folder, each by the last part of its name.
	Packages []string
	// Complete, if any, adds to the copy of the module, and to the program's folder in it, what neither has.
	Complete func(module, program string) error
}

// serveModule is what the programs of all peers have in common, and serveFolder where it is.
const serveModule = "github.com/dopolicy/kubectl-dopolicy/test/differential/peers/serve"

var serveFolder = filepath.Join(tree, "test", "differential", "peers", "serve")

// Build builds the program in a folder, unless it is there, and says of which version it is.
func (p Peer) Build(ctx context.Context, folder string) (path, version string, err error) {
	module, err := Download(ctx, p.Folder, p.Module)
	if err != nil {
		return "", "", err
	}
	if path, err = filepath.Abs(filepath.Join(folder, p.Name)); err != nil {
		return "", "", err
	}
	if _, err := os.Stat(path); err == nil {
		return path, module.Version, nil
	}
	at := p.Folder
	if p.Inside != "" {
		if at, err = p.insideOf(module.Dir, filepath.Join(folder, p.Name+"-module")); err != nil {
			return "", "", fmt.Errorf("copying %s: %w", p.Module, err)
		}
	}
	build := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", path, ".")
	build.Dir = at
	if text, err := build.CombinedOutput(); err != nil {
		return "", "", fmt.Errorf("building peer %s: %w\n%s", p.Name, err, text)
	}
	return path, module.Version, nil
}

// Module is where a module is, and which version of it.
type Module struct{ Dir, Version, Error string }

// Download gets a module: of the version that the folder's own module needs, unless the path names one.
func Download(ctx context.Context, folder, path string) (Module, error) {
	list := exec.CommandContext(ctx, "go", "mod", "download", "-json", path)
	list.Dir = folder
	text, err := list.Output()
	var out Module
	if jsonErr := json.Unmarshal(text, &out); err != nil || jsonErr != nil {
		return out, fmt.Errorf("downloading %s: %w: %s\nIt has to be in the module cache, or a module proxy within reach (go env GOPROXY)", path, errors.Join(err, jsonErr), out.Error)
	}
	return out, nil
}

// insideOf copies a module to a folder, with the program of a peer in one of its own folders: internal packages may be imported there, and
// the module needs peers/serve beside what it needs anyway; nothing else of it changes. It gives the program's folder.
func (p Peer) insideOf(module, folder string) (string, error) {
	if err := os.RemoveAll(folder); err != nil {
		return "", err
	}
	if err := os.CopyFS(folder, os.DirFS(module)); err != nil {
		return "", err
	}
	at := filepath.Join(folder, p.Inside)
	if err := copySources(p.Folder, at); err != nil {
		return "", err
	}
	for _, from := range p.Packages {
		if err := copySources(from, filepath.Join(at, filepath.Base(from))); err != nil {
			return "", err
		}
	}
	if p.Complete != nil {
		if err := p.Complete(folder, at); err != nil {
			return "", err
		}
	}
	shared, err := filepath.Abs(serveFolder)
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

// copySources copies the Go files of a folder.
func copySources(from, to string) error {
	sources, err := filepath.Glob(filepath.Join(from, "*.go"))
	if err != nil {
		return err
	}
	if len(sources) == 0 {
		return fmt.Errorf("there are no Go files in %s", from)
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, source := range sources {
		text, err := os.ReadFile(source)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(to, filepath.Base(source)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}
