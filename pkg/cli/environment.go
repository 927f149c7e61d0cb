package cli

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"io"
	"strings"
	"sync"
)

// environment is what a run of the program gives to a command.
type environment struct {
	Plugins []plugin.Plugin
	Build   Build
	Streams Streams
	Catalog *catalogCache // of the runs that share one; nil: every run makes its own
}

// catalogCache holds the catalogue that all runs have in common, as it depends on the command line
// only.
type catalogCache struct {
	once    sync.Once
	catalog *descriptor.Catalog
	err     error
}

// get makes the catalogue, or takes that of the run before. Without a cache it makes one.
func (c *catalogCache) get(make func() (*descriptor.Catalog, error)) (*descriptor.Catalog, error) {
	if c == nil {
		return make()
	}
	c.once.Do(func() { c.catalog, c.err = make() })
	return c.catalog, c.err
}

// withoutStreams is the environment of a run that says nothing and reads no standard input.
func (e environment) withoutStreams() environment {
	s := &e.Streams
	s.In, s.Out, s.Err, s.ErrIsTTY = strings.NewReader(""), io.Discard, io.Discard, false
	return e
}
