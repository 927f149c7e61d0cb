package loadtest

import (
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
)

// Trap counts what a build fetches and which programs it starts, and lets neither happen.
type Trap struct {
	Requests atomic.Int32 // to the network
	marker   string       // the file that programs leave
}

// RoundTrip implements http.RoundTripper.
func (t *Trap) RoundTrip(*http.Request) (*http.Response, error) {
	t.Requests.Add(1)
	return nil, errors.New("trapped")
}

// HasRun reports whether a program was started.
func (t *Trap) HasRun() bool { _, err := os.Stat(t.marker); return err == nil }

// SetTrap puts itself in the place of the network and of the programs that the library knows.
func SetTrap(t *testing.T) *Trap {
	t.Helper()
	bin := t.TempDir()
	trap := &Trap{marker: filepath.Join(bin, "ran")}
	for _, name := range []string{"git", "helm", "helmV3", "docker", "podman", "kubectl", "kustomize"} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte("#!/bin/sh\n: > '"+trap.marker+"'\nexit 1\n"),
			0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	transport := http.DefaultTransport
	http.DefaultTransport = trap
	t.Cleanup(func() { http.DefaultTransport = transport })
	return trap
}
