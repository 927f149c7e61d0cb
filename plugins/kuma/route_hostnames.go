package kuma

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/policy"
)

// newHostnameReader are those that an item of a route is for: in the dialect of 2.14 there is a
// table for each of them.
func newHostnameReader(in *model.Snapshot, s model.Settings) func(part *policy.Policy) []string {
	if !isDialect214(withDialect(in, s)) {
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
