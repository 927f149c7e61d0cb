package cluster

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"k8s.io/client-go/rest"
)

// Cluster is a server as one test uses it. One goroutine at a time may call the methods that make and delete objects.
type Cluster struct {
	*server
	tb      testing.TB
	made    []object // by Apply and its like, in this order
	changed []change // what they replaced
}

// Start starts a server for this test alone. It serves the built-in kinds only, and stops when the test ends.
func Start(tb testing.TB) *Cluster {
	tb.Helper()
	s, err := launch(tb.Context())
	if err != nil {
		tb.Fatalf("starting a cluster: %v", err)
	}
	tb.Cleanup(func() {
		if err := s.stop(); err != nil {
			tb.Errorf("stopping the cluster: %v", err)
		}
	})
	return &Cluster{server: s, tb: tb}
}

// shared starts the server of this process when it is first asked for. It has the Gateway API and the policy kinds that are built in.
var shared = sync.OnceValues(func() (*server, error) {
	sharedInUse = true
	s, err := launch(context.Background())
	if err != nil {
		return nil, err
	}
	for _, install := range []func() error{s.installGatewayAPI, s.installPolicyKinds} {
		if err := install(); err != nil {
			return nil, errors.Join(err, s.stop())
		}
	}
	return s, nil
})

// sharedInUse is whether Main has a server to stop. Main reads it after all tests have ended.
var sharedInUse bool

// Shared is the one server of the test package, with the Gateway API and the built-in policy kinds installed. What is made through the
// Cluster is deleted when the test ends. Tests that run in parallel need namespaces of their own.
func Shared(tb testing.TB) *Cluster {
	tb.Helper()
	s, err := shared()
	if err != nil {
		tb.Fatalf("starting the shared cluster: %v", err)
	}
	c := &Cluster{server: s, tb: tb}
	tb.Cleanup(func() {
		if err := c.Delete(); err != nil {
			tb.Errorf("tidying the shared cluster: %v", err)
		}
	})
	return c
}

// Main runs the tests of a package, then stops the shared server and removes the programs that Plugin built. Its result is the exit code.
func Main(m *testing.M) int {
	code := m.Run()
	var errs []error
	if sharedInUse {
		if s, err := shared(); err == nil { // where it could not be started, the tests have said so
			errs = append(errs, s.stop())
		}
	}
	errs = append(errs, removePlugin())
	if err := errors.Join(errs...); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return max(code, 1)
	}
	return code
}

// URL is where the server listens.
func (c *Cluster) URL() string { return c.config.Host }

// Stop ends the server before the test ends, for a test of what happens then. Only for a Cluster of Start.
func (c *Cluster) Stop() {
	c.api.stop()
	c.etcd.stop()
}

// Config is a client configuration for the user, "admin" or one of User.
func (c *Cluster) Config(user string) *rest.Config {
	c.tb.Helper()
	config, err := c.userConfig(user)
	if err != nil {
		c.tb.Fatal(err)
	}
	return config
}
