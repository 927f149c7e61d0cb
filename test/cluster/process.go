package cluster

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
)

// process is a program that runs beside the tests.
type process struct {
	name  string
	log   string // where its output goes
	cmd   *exec.Cmd
	ended chan struct{}
}

// run starts a program whose output goes to a file in folder. It dies with this process, on systems that can do that.
func run(folder, path string, args ...string) (*process, error) {
	name := filepath.Base(path)
	p := &process{name: name, log: filepath.Join(folder, name+".log"), cmd: exec.Command(path, args...),
		ended: make(chan struct{})}
	log, err := os.Create(p.log)
	if err != nil {
		return nil, err
	}
	p.cmd.Stdout, p.cmd.Stderr = log, log
	p.cmd.SysProcAttr = dieWithParent()
	started := make(chan error)
	go func() {
		// The kernel takes the end of the thread that started a process for the end of its parent: the thread has to stay.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		defer close(p.ended)
		defer log.Close()
		err := p.cmd.Start()
		started <- err
		if err == nil {
			_ = p.cmd.Wait() // why it ended is in its log
		}
	}()
	if err := <-started; err != nil {
		return nil, fmt.Errorf("starting %s: %w", name, err)
	}
	return p, nil
}

// stop ends the process without grace, since nothing that it keeps is needed, and waits for the end.
func (p *process) stop() {
	_ = p.cmd.Process.Kill() // fails only where it has ended already
	<-p.ended
}

// failure is an error with the end of the process's log.
func (p *process) failure(what string) error {
	log, _ := os.ReadFile(p.log) // without a log the error says less
	lines := bytes.Split(bytes.TrimSpace(log), []byte("\n"))
	return fmt.Errorf("%s %s; the end of its log:\n%s", p.name, what, bytes.Join(lines[max(0, len(lines)-20):],
		[]byte("\n")))
}

// freePorts finds loopback ports that nobody listens on. Another process can take one before it is used; starting is then tried again.
func freePorts(n int) ([]string, error) {
	var out []string
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() // all are held until the last is found, so that they differ
		_, port, err := net.SplitHostPort(l.Addr().String())
		if err != nil {
			return nil, err
		}
		out = append(out, port)
	}
	return out, nil
}
