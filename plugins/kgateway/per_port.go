package kgateway

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// mergePort merges the settings of a port into those that another policy has for it, and reports
// false if there is none. What the other leaves out is added, but all of it counts as the first
// policy's setting: so kgateway records it, and reports it to the policies.
func (f *settingFold) mergePort(u merge.Unit, reason func([]merge.Source) merge.Reason) bool {
	fields := f.dropForwarded(splitPort(u), reason)
	at := f.findPath(u.Path)
	if at < 0 {
		return false
	}
	whole := f.units[at]
	have := splitPort(whole)
	for _, field := range fields {
		known := slices.ContainsFunc(have, func(x merge.Unit) bool { return slices.Equal(x.Path, field.Path) })
		switch {
		case !known:
			whole.Value = setAt(whole.Value, field.Path[len(u.Path):], field.Value)
			f.units[at] = whole
			f.addEffects(field, merge.Joined, "", nil)
		case field.Path[len(field.Path)-1].Form == merge.EntryKey: // the same in both
		default:
			f.addLost(field, reason(whole.From), whole.From)
		}
	}
	return true
}

// setAt is an object with a value at a path inside it.
func setAt(v any, at merge.Path, value any) any {
	if len(at) == 0 {
		return value
	}
	out := maps.Clone(model.Map(merge.Unpack(v)))
	if out == nil {
		out = map[string]any{}
	}
	out[at[0].Name] = setAt(out[at[0].Name], at[1:], value)
	return out
}

// splitPort cuts an entry of perPort into its settings, which are called as those of default are:
// perPort[80].httpSettings.serverName.
func splitPort(u merge.Unit) []merge.Unit {
	var out []merge.Unit
	for _, field := range splitObject(u) {
		switch last := &field.Path[len(field.Path)-1]; last.Name {
		case "port":
			last.Form = merge.EntryKey
			out = append(out, field)
		case "listener":
			last.Form = merge.HiddenKey
			out = append(out, splitNested(field, "httpSettings", "forwardClientCertDetails")...)
		default:
			out = append(out, field)
		}
	}
	return out
}

// splitNested cuts a setting into its fields, and the field of the first name into its own, and so
// on.
func splitNested(u merge.Unit, names ...string) []merge.Unit {
	var out []merge.Unit
	for _, field := range splitObject(u) {
		if len(names) > 0 && field.Path[len(field.Path)-1].Name == names[0] {
			out = append(out, splitNested(field, names[1:]...)...)
		} else {
			out = append(out, field)
		}
	}
	return out
}

// dropForwarded leaves out what a policy says about forwarded addresses where one before it, as
// itself, sets useRemoteAddress to false: then all of that is one setting, which the first policy
// has even if it says nothing more.
func (f *settingFold) dropForwarded(units []merge.Unit, reason func([]merge.Source) merge.Reason) []merge.Unit {
	out := units
	for _, u := range units {
		last := len(u.Path) - 1
		if last < 0 || u.Path[last].Name != "useRemoteAddress" || merge.Unpack(u.Value) != false {
			continue
		}
		around := u.Path[:last]
		by, ok := f.localAddress[around.String()]
		if !ok {
			if f.localAddress == nil {
				f.localAddress = map[string][]merge.Source{}
			}
			f.localAddress[around.String()] = u.From
			continue
		}
		out = slices.DeleteFunc(slices.Clone(out), func(x merge.Unit) bool {
			lost := len(x.Path) == last+1 && slices.Equal(x.Path[:last], around) &&
				(x.Path[last].Name == "xffNumTrustedHops" || x.Path[last].Name == "xffTrustedCIDRs")
			if lost {
				f.addLost(x, reason(by), by)
			}
			return lost
		})
	}
	return out
}
