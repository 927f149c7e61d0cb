package kuma

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// hostnames are those that an item of a route is for: in the dialect of 2.14 there is a table for each of them (spec §5).
func hostnames(in *model.Snapshot, s model.Settings) func(part *policy.Policy) []string {
	if !old(decided(in, s)) {
		return func(*policy.Policy) []string { return nil }
	}
	return func(part *policy.Policy) []string {
		var out []string
		for _, name := range part.Entry.Field("hostnames").Items {
			out = append(out, name.Text())
		}
		return out
	}
}
