package run

import (
	"context"
	"io"
	"strings"
	"sync"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// Environment is what a run of the program gives to a command.
type Environment struct {
	Plugins []plugin.Plugin
	Build   Build
	Streams Streams
	Catalog *CatalogCache // of the runs that share one; nil: every run makes its own

	// Run runs another command line (without the program's name) and returns its exit code.
	Run func(ctx context.Context, args []string, s Streams) int
}

// CatalogCache holds the catalogue that all runs have in common, as it depends on the command line
// only.
type CatalogCache struct {
	once    sync.Once
	catalog *descriptor.Catalog
	err     error
}

// Get makes the catalogue, or takes that of the run before. Without a cache it makes one.
func (c *CatalogCache) Get(make func() (*descriptor.Catalog, error)) (*descriptor.Catalog, error) {
	if c == nil {
		return make()
	}
	c.once.Do(func() { c.catalog, c.err = make() })
	return c.catalog, c.err
}

// WithoutStreams is the environment of a run that says nothing and reads no standard input.
func (e Environment) WithoutStreams() Environment {
	s := &e.Streams
	s.In, s.Out, s.Err, s.ErrIsTTY = strings.NewReader(""), io.Discard, io.Discard, false
	return e
}
