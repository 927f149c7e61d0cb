// Command dopolicy-draw turns a graph in the DOT language, read from standard input, into a picture
// on standard output. It is started by kubectl-dopolicy when a picture is asked for, and is a
// program of its own because the Graphviz library compiles WebAssembly whenever it is imported, and
// because what goes wrong in there should end no other program.
package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"

	"github.com/goccy/go-graphviz"

	_ "github.com/dopolicy/kubectl-dopolicy/cmd/dopolicy-draw/cachedir"
	"github.com/dopolicy/kubectl-dopolicy/internal/raster"
)

func main() {
	format := flag.String("format", "svg", "what to draw: svg|png")
	size := flag.Int64("bytes", -1, "how long the graph is: the drawing ends when standard input does (-1: the graph is all of it)")
	flag.Usage = func() {
		fmt.Fprintln(os.Stderr, "usage: dopolicy-draw [-format svg|png] [-bytes N] < graph.dot > picture")
		flag.PrintDefaults()
	}
	flag.Parse()
	if flag.NArg() > 0 || *format != "svg" && *format != "png" {
		flag.Usage()
		os.Exit(2)
	}
	text, err := readGraph(os.Stdin, *size)
	if err == nil {
		err = draw(text, os.Stdout, *format)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

// readGraph reads a graph of so many bytes, or all there is. Where the length is known the input
// stays open behind it as long as the picture is wanted: this process ends with it.
func readGraph(in io.Reader, size int64) ([]byte, error) {
	graph := in
	if size >= 0 {
		graph = io.LimitReader(in, size)
	}
	text, err := io.ReadAll(graph)
	if err != nil {
		return nil, fmt.Errorf("reading the graph: %w", err)
	}
	if size >= 0 {
		runtime.GOMAXPROCS(max(2, runtime.GOMAXPROCS(0))) // the drawing lets nothing else run beside it
		go func() {
			_, _ = io.Copy(io.Discard, in)
			os.Exit(1)
		}()
	}
	return text, nil
}

// draw lays the graph out and writes it in the format.
func draw(text []byte, out io.Writer, format string) error {
	picture, err := layout(text)
	if err != nil {
		return err
	}
	if format == "png" {
		return raster.PNG(out, picture)
	}
	if picture, err = raster.Measured(picture); err != nil {
		return err
	}
	_, err = out.Write(picture)
	return err
}

// layout is the SVG that Graphviz makes of a graph.
func layout(text []byte) (svg []byte, err error) {
	ctx := context.Background()
	engine, err := graphviz.New(ctx)
	if err != nil {
		return nil, fmt.Errorf("starting Graphviz: %w", err)
	}
	graph, err := graphviz.ParseBytes(text)
	if err != nil {
		return nil, fmt.Errorf("reading the graph: %w", err)
	}
	if graph == nil {
		return nil, fmt.Errorf("reading the graph: there is none")
	}
	var out bytes.Buffer
	if err := engine.Render(ctx, graph, graphviz.SVG, &out); err != nil {
		return nil, fmt.Errorf("drawing the graph: %w", err)
	}
	return out.Bytes(), nil
}
