package protect

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/gate"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// lostSettings returns the settings of each policy that lost at one place to another one.
func lostSettings(r *resolve.Resolution, k *resolve.Kind, id topology.NodeID, v *resolve.Verdict) []*Settings {
	docs := map[int]map[string]any{}
	var order []int
	winner := map[int]*resolve.Layer{}
	see := func(l *merge.Loss) {
		if len(l.To) == 0 || v.Layers[l.From.Layer].Rejected {
			return
		}
		doc := docs[l.From.Layer]
		if doc == nil {
			doc = map[string]any{}
			docs[l.From.Layer] = doc
			order = append(order, l.From.Layer)
			winner[l.From.Layer] = &v.Layers[l.To[len(l.To)-1].Layer]
		}
		setValue(doc, l.Path, merge.Unpack(l.Value))
	}
	for i := range v.Result.Lost {
		see(&v.Result.Lost[i])
	}
	for i := range v.Result.Rules {
		for j := range v.Result.Rules[i].Lost {
			see(&v.Result.Rules[i].Lost[j])
		}
	}
	slices.Sort(order)
	var out []*Settings
	for _, layer := range order {
		by, won := v.Layers[layer].Policy.Object.Ref, winner[layer]
		if by == won.Policy.Object.Ref {
			continue
		}
		out = append(out, &Settings{Kind: k, Node: id, Verdict: v, res: r, doc: docs[layer], owner: by,
			winner: won.Policy.Object.Ref, sameTarget: won.Node == v.Layers[layer].Node})
	}
	return out
}

// setValue sets a value at a path of keys. A path through anything else is cut there.
func setValue(doc map[string]any, path merge.Path, v any) {
	if len(path) == 0 {
		if fields, ok := v.(map[string]any); ok {
			for name, inner := range fields {
				doc[name] = inner
			}
		}
		return
	}
	for i, s := range path {
		if i == len(path)-1 {
			doc[s.Name] = v
			return
		}
		next, ok := doc[s.Name].(map[string]any)
		if !ok {
			next = map[string]any{}
			doc[s.Name] = next
		}
		doc = next
	}
}

// findReplaced returns the gates of a property that lost on the path and would hold, or might, and
// those in force that another object disables.
func (g *Gates) findReplaced(p gate.Property) []Override {
	var out []Override
	look := &RequestReader{Request: &request.Request{Protocol: request.HTTP, Method: "GET", Path: "/"}}
	for _, s := range g.lost {
		for _, made := range (Input{Settings: s, Reader: look, Memo: &model.Memo{},
			rulePath: g.RulePath}).buildGates(g.judge.funcs) {
			if made.isAbout(p) && made.Verdict() != gate.Fails {
				out = append(out, Override{newUse(&made, p), s.winner, s.sameTarget})
			}
		}
	}
	for _, all := range append([][]Gate{g.Before}, g.Backends...) {
		for i := range all {
			if made := &all[i]; made.isAbout(p) {
				out = append(out, made.findDisabled(p)...)
			}
		}
	}
	for i := range g.overridden {
		if one := &g.overridden[i]; one.isAbout(p) && one.Verdict() != gate.Fails {
			out = append(out, Override{Lost: newUse(one, p), Winner: one.Overridden})
		}
	}
	return out
}

// findDisabled returns the losses of a gate that settings of other objects disable, as those of
// another kind may.
func (g *Gate) findDisabled(p gate.Property) []Override {
	var out []Override
	for _, r := range g.Reasons {
		if r.Code == gate.Disabled && r.Object != nil && *r.Object != g.Object {
			out = append(out, Override{newUse(g, p), *r.Object, false})
		}
	}
	return out
}
