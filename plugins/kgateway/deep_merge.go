package kgateway

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// mergeDeep combines a further setting with the one at a position: extAuth, extProc, transformation
// and acl. Prefer says whether the further one counts more. It reports false where the setting is
// not one that is combined.
func (f *settingFold) mergeDeep(at int, u merge.Unit, prefer bool, reason func([]merge.Source) merge.Reason) bool {
	have := f.units[at]
	a, b := model.Map(merge.Unpack(have.Value)), model.Map(merge.Unpack(u.Value))
	switch name := settingName(u.Path); {
	case name == "extAuth" || name == "extProc":
		f.mergeProviders(at, u, prefer, reason)
		return true
	case name == "transformation" && a != nil && b != nil:
		have.Value = mergeTransformation(a, b, prefer)
	case name == "acl" && a != nil && b != nil && !hasACLConflict(a, b):
		have.Value = mergeACL(a, b, prefer)
	case (name == "acl" || name == "transformation") && prefer: // they cannot be one
		f.replaceSetting(at, u, merge.LessSpecificOverrides)
		return true
	default:
		return false
	}
	have.From = mergeSources(have.From, u.From)
	f.joinSettings(at, have)
	return true
}

// mergeProviders unites configurations of different providers. Of one provider the first stays, and
// what is turned off stays off.
func (f *settingFold) mergeProviders(at int, u merge.Unit, prefer bool, reason func([]merge.Source) merge.Reason) {
	have := f.units[at]
	switch {
	case isDisabled(have.Value):
		f.addLost(u, reason(have.From), have.From)
		return
	case isDisabled(u.Value):
		f.replaceSetting(at, u, merge.LessSpecificOverrides)
		return
	}
	all := listProviders(have)
	more := slices.DeleteFunc(listProviders(u), func(p providerConfig) bool {
		return slices.ContainsFunc(all,
			p.isSameProvider)
	})
	if len(more) == 0 {
		f.addLost(u, reason(have.From), have.From)
		return
	}
	if prefer {
		all, more = more, all
	}
	value, items := []any{}, [][]merge.Source{}
	for _, p := range slices.Concat(all, more) {
		value, items = append(value, p.value), append(items, p.from)
	}
	have.Value, have.Items, have.From = value, items, mergeSources(have.From, u.From)
	f.joinSettings(at, have)
}

// mergeTransformation extends the document that counts less: lists follow each other, the items
// that count more last, because the last one written stands.
func mergeTransformation(have, further map[string]any, prefer bool) any {
	base, top := further, have
	if prefer {
		base, top = top, base
	}
	out := maps.Clone(base)
	for _, part := range []string{"request", "response"} {
		b, t := model.Map(base, part), model.Map(top, part)
		switch {
		case t == nil:
			continue
		case b == nil:
			out[part] = t
			continue
		}
		section := maps.Clone(b)
		for _, key := range []string{"add", "remove", "set"} {
			if items := append(slices.Clone(model.List(b, key)), model.List(t, key)...); len(items) > 0 {
				section[key] = items
			}
		}
		if body := t["body"]; body != nil {
			section["body"] = body
		}
		out[part] = section
	}
	return out
}

// hasACLConflict reports whether two access lists cannot be one: their default actions differ or
// are not said, or their answers differ.
func hasACLConflict(a, b map[string]any) bool {
	if a["defaultAction"] == nil || a["defaultAction"] != b["defaultAction"] {
		return true
	}
	x, y := model.Map(a, "denyResponse"), model.Map(b, "denyResponse")
	for _, key := range []string{"statusCode", "blockedByHeaderName"} {
		if x[key] != nil && y[key] != nil && x[key] != y[key] {
			return true
		}
	}
	return false
}

// mergeACL puts the rules of two access lists behind each other, those that count more first.
func mergeACL(have, further map[string]any, prefer bool) any {
	top, base := have, further
	if prefer {
		top, base = base, top
	}
	out := maps.Clone(top)
	if rules := append(slices.Clone(model.List(top, "rules")), model.List(base, "rules")...); len(rules) > 0 {
		out["rules"] = rules
	}
	t, b := model.Map(top, "denyResponse"), model.Map(base, "denyResponse")
	switch {
	case b == nil:
		return out
	case t == nil:
		out["denyResponse"] = b
		return out
	}
	answer := maps.Clone(t)
	if answer["blockedByHeaderName"] == nil && b["blockedByHeaderName"] != nil {
		answer["blockedByHeaderName"] = b["blockedByHeaderName"]
	}
	if headers := append(slices.Clone(model.List(t, "headers")), model.List(b, "headers")...); len(headers) > 0 {
		answer["headers"] = headers
	}
	out["denyResponse"] = answer
	return out
}
