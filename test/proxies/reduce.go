package main

import (
	"context"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/test/differential/draw"
)

// reduce makes a world smaller as long as the difference stays, which one request is enough for: without objects, then without fields and entries
// of lists. It gives the difference as the small world has it.
func (r *run) reduce(ctx context.Context, f *finding) (*world, *difference, error) {
	p, err := r.vendor.Start(ctx, r.path, r.kept)
	if err != nil {
		return nil, nil, err
	}
	defer p.Stop()
	best, first, kept := f.Input, f.First, f.First.Request
	still := func(w *world, asked request) *difference {
		j, err := r.judge(ctx, p, w, []request{asked})
		if err != nil || j.untranslated != nil {
			return nil
		}
		all, _, _ := j.differences()
		if at := slices.IndexFunc(all, func(d *difference) bool { return d.Signature == f.First.Signature }); at >= 0 {
			return all[at]
		}
		return nil
	}
	for smaller := true; smaller && ctx.Err() == nil; {
		smaller = false
		for i := 0; ; { // every step that is taken out changes what the later ones are
			steps := steps(best)
			if i >= len(steps) {
				break
			}
			try, err := best.clone()
			if err != nil {
				return nil, nil, err
			}
			if d := (*difference)(nil); steps[i](try) {
				if d = still(try, kept); d != nil {
					best, first, smaller = try, d, true
					continue
				}
			}
			i++
		}
	}
	for i := 0; i < len(kept.Headers); {
		try := kept
		try.Headers = slices.Delete(slices.Clone(kept.Headers), i, i+1)
		if d := still(best, try); d != nil {
			kept, first = try, d
			continue
		}
		i++
	}
	return best, first, nil
}

// steps are all ways to leave out one thing, the largest first.
func steps(w *world) []func(*world) bool {
	var out []func(*world) bool
	for i, o := range w.Objects {
		switch o["kind"] {
		case "GatewayClass", "Namespace", "EndpointSlice": // without it the others mean something else, or it goes with its Service
			continue
		}
		out = append(out, func(w *world) bool {
			w.Objects = slices.Delete(w.Objects, i, i+1)
			w.Objects = slices.DeleteFunc(w.Objects, func(other object) bool {
				return o["kind"] == "Service" && other["kind"] == "EndpointSlice" && named(other) == named(o)
			})
			return true
		})
	}
	for i, o := range w.Objects {
		if isPlain(o) {
			continue
		}
		for _, path := range draw.Places(o["spec"], nil) {
			out = append(out, func(w *world) bool {
				spec, changed := draw.Without(w.Objects[i]["spec"], path)
				w.Objects[i]["spec"] = spec
				return changed
			})
		}
		if o["metadata"].(object)["creationTimestamp"] != nil {
			out = append(out, func(w *world) bool {
				delete(w.Objects[i]["metadata"].(object), "creationTimestamp")
				return true
			})
		}
	}
	return out
}
