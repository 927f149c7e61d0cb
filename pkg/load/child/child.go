// Package child starts programs that end when what they are started for does.
package child

import (
	"context"
	"os/exec"
	"time"
)

// endingTime is how long what a program started may hold its output open after it has ended.
const endingTime = 500 * time.Millisecond

// NewCommand returns a run of a program that is killed when ctx ends, and, where the system can do
// that, when this process does in whatever way.
func NewCommand(ctx context.Context, program string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.WaitDelay = endingTime
	endWithParent(cmd)
	return cmd
}
