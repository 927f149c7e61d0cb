package program

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// Process is a running peer. It reads an input a line and writes an answer a line.
type Process struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	kept Kept
}

// answered is what a peer writes: its facts, or why there are none.
type answered struct {
	Facts map[string]string `json:"facts"`
	Error string            `json:"error"`
}

// Start starts the program that was built of a peer, in the folder of its sources. It ends with its input, when the context does at the latest.
func (p Peer) Start(ctx context.Context, path string, kept Kept) (*Process, error) {
	cmd := exec.CommandContext(ctx, path)
	cmd.Dir = p.Folder
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
	return &Process{cmd, in, bufio.NewReaderSize(out, 1<<20), kept}, cmd.Start()
}

// Ask has the peer answer one input, as the text of its facts. An input that it refuses has ErrRefused.
func (p *Process) Ask(input any) (map[string]string, error) {
	text, err := json.Marshal(input)
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
		return nil, fmt.Errorf("the peer gave up: %w", err)
	}
	var a answered
	if err := json.Unmarshal(line, &a); err != nil {
		return nil, fmt.Errorf("reading what the peer says: %w", err)
	}
	if a.Error != "" {
		return nil, fmt.Errorf("%w: %s", ErrRefused, a.Error)
	}
	if a.Facts == nil {
		a.Facts = map[string]string{}
	}
	return a.Facts, p.kept.put(text, a.Facts)
}

// Stop ends the program, and waits for that.
func (p *Process) Stop() error {
	return errors.Join(p.in.Close(), p.cmd.Wait())
}
