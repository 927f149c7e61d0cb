package main

import (
	"context"
	"time"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/campaign"
	"github.com/dopolicy/kubectl-dopolicy/test/differential/program"
)

// mutantSeeds are those within which a fault has to be found.
var mutantSeeds = campaign.Seeds{First: 1, Last: 1000}

// mutants compares the program with each fault that this peer has to find.
func (r *run) mutants(ctx context.Context, folder string) error {
	return campaign.TryMutants(ctx, r.peer.Name, folder, "input", mutantSeeds,
		func(ctx context.Context, faulty program.Program, s campaign.Seeds) (bool, int, error) {
			r.program = faulty
			t, err := r.compareSeeds(ctx, s, time.Time{}, func(t *tally) bool { return t.CountOpen() > 0 })
			return t.CountOpen() > 0, t.Inputs, err
		})
}
