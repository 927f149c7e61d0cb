package main

import (
	"context"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// reduce makes an input smaller as long as the difference stays: without objects, then without fields and entries of lists.
func (r *run) reduce(ctx context.Context, f *finding) (*input, error) {
	p, err := r.peer.Start(ctx, r.path, r.kept)
	if err != nil {
		return nil, err
	}
	defer p.Stop()
	still := func(in *input) bool {
		differences, _, err := r.compare(ctx, p, in)
		return err == nil && slices.ContainsFunc(differences, func(d difference) bool { return d.signature() == f.First.signature() })
	}
	best, err := f.Input.clone()
	if err != nil {
		return nil, err
	}
	for smaller := true; smaller && ctx.Err() == nil; {
		smaller = false
		for _, step := range steps(best) {
			try, err := best.clone()
			if err != nil {
				return nil, err
			}
			if step(try) && still(try) {
				best, smaller = try, true
				break
			}
		}
	}
	return best, nil
}

// steps are all ways to leave out one thing, the largest first.
func steps(in *input) []func(*input) bool {
	var out []func(*input) bool
	for i := range in.Objects {
		out = append(out, func(in *input) bool {
			in.Objects = slices.Delete(in.Objects, i, i+1)
			return true
		})
	}
	for i := range in.Questions {
		if len(in.Questions) > 1 {
			out = append(out, func(in *input) bool {
				in.Questions = []question{in.Questions[i]}
				return true
			})
		}
	}
	for i, o := range in.Objects {
		for _, path := range draw.Places(o["spec"], nil) {
			out = append(out, func(in *input) bool {
				spec, changed := draw.Without(in.Objects[i]["spec"], path)
				in.Objects[i]["spec"] = spec
				return changed
			})
		}
	}
	return out
}
