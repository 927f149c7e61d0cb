package cli

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// exitSignal is added to the number of a signal: the exit code of a run that it ended, as shells
// count.
const exitSignal = 128

// maxEndingTime is how long a command may take to end by itself after a signal. Not every
// computation looks whether it is still wanted.
const maxEndingTime = 500 * time.Millisecond

// RunUntilSignal is Run for the command line of the process. SIGINT and SIGTERM end the command, and
// the run even if the command goes on; a second signal kills the process.
func (a App) RunUntilSignal(args []string, s Streams) int {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	ended := make(chan int, 1)
	go func() { ended <- a.Run(ctx, args, s) }()
	select {
	case code := <-ended:
		return code
	case told := <-signals:
		signal.Reset(os.Interrupt, syscall.SIGTERM)
		cancel()
		return awaitEnd(ended, told, s)
	}
}

// awaitEnd returns the exit code of a run that a signal told to end: its own if it had written its
// answer, or was to go on until it is told to end.
func awaitEnd(ended <-chan int, told os.Signal, s Streams) int {
	select {
	case code := <-ended:
		if code == ExitAnswered || code == ExitFindings {
			return code
		}
	case <-time.After(maxEndingTime):
		fmt.Fprintln(s.Err, "error: "+interrupted)
	}
	if number, ok := told.(syscall.Signal); ok {
		return exitSignal + int(number)
	}
	return ExitNoAnswer
}

// interrupted is the error of a run that a signal ended.
const interrupted = "interrupted"

// wantedWriter is a writer that takes nothing any more when its context has ended: what is computed
// by then may be a part of the answer only.
type wantedWriter struct {
	ctx context.Context
	to  io.Writer
}

// Write implements io.Writer.
func (w wantedWriter) Write(p []byte) (int, error) {
	if err := w.ctx.Err(); err != nil {
		return 0, err
	}
	return w.to.Write(p)
}
