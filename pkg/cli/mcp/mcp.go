package mcp

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
)

// maxMessage is how large a message of a client may be, in bytes: the manifests of a change are in one.
const maxMessage = 8 << 20

// Options are what the flags of the command say.
type Options struct {
	Environment run.Environment
	Source      source.Flags
	Listen      string   // HOST:PORT of a loopback address; empty: standard input and output are used
	SourceFlags []string // the flags of the input, as they are repeated to other commands
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:   "mcp",
		Short: "Let agents ask: serve the answers of other commands by the Model Context Protocol",
		Long: `Serve the Model Context Protocol (MCP) on standard input and output, for programs that start it; with --listen over HTTP on
a loopback address. The tools are effective, request, reach, overridden, matrix, status, prove, diff, check and graph. They
only read: the cluster of the kubeconfig, or the files of -f. Those are read anew for every call.

A result is the JSON that the command of the same name prints, led by whether it is complete. Long lists come in
pages (limit, continue). Names, annotations and messages of the input are in it as quoted data.

With --redact, no value of a policy setting leaves the program. With --listen, every user of this machine can ask.

docs/mcp.md shows how clients are configured, and what a conversation looks like.`,
		Example: `  # the cluster and the rights of the kubeconfig; this is what a client starts
  kubectl dopolicy mcp

  # manifests, without a cluster
  kubectl dopolicy mcp -f manifests/ -R

  # over HTTP, without values of settings
  kubectl dopolicy mcp --listen 127.0.0.1:8765 --redact`,
		Args: command.CheckArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			o.SourceFlags = repeatFlags(cmd.Flags())
			return Run(cmd.Context(), o)
		},
	}
	o.Source.AddFlags(cmd)
	cmd.Flags().StringVar(&o.Listen, "listen", "",
		"serve over HTTP at this loopback address, as 127.0.0.1:8765, instead of on standard input and output")
	completion.AddToCommand(cmd, env, &o.Source, nil)
	return cmd
}

// Run serves until the client goes, or the context ends.
func Run(ctx context.Context, o *Options) error {
	if slices.Contains(o.Source.Files, "-") {
		return failure.Usage("save it to a file, and name that file", "standard input is where the client speaks")
	}
	if err := o.Source.CheckFilesOrKustomization(); err != nil {
		return err
	}
	server, err := o.newServer()
	if err != nil {
		return err
	}
	if o.Listen != "" {
		return o.serveHTTP(ctx, server)
	}
	s := o.Environment.Streams
	fmt.Fprintln(s.Err, "serving MCP on standard input and output: docs/mcp.md shows how clients are configured")
	err = server.Run(ctx, &stdio{mcp.IOTransport{Reader: io.NopCloser(s.In), Writer: openWriter{s.Out},
		MaxLineLength: maxMessage}})
	if err != nil && !errors.Is(err, io.EOF) && ctx.Err() == nil {
		return failure.NoAnswer(fmt.Sprintf("serving MCP: %s", err),
			"standard input takes messages of JSON-RPC, one a line; a client sends them")
	}
	return nil
}

// checkLoopback refuses an address that others than this machine reach.
func checkLoopback(address string) error {
	const hint = "write an address of this machine alone, such as 127.0.0.1:8765"
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return failure.Usage(hint, "--listen takes HOST:PORT: %q", address)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return failure.Usage(hint, "--listen takes a loopback address: %q is none", host)
	}
	return nil
}
