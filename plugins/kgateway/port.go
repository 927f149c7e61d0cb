package kgateway

import (
	"maps"
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// port merges the settings of a port into those that another policy has for it, and reports false if there is none. What the other leaves out
// is added, but all of it counts as the first policy's setting: so kgateway records it, and reports it to the policies.
func (f *fold) port(u merge.Unit, reason func([]merge.From) merge.Reason) bool {
	fields := f.forwarded(portFields(u), reason)
	at := f.find(u.Path)
	if at < 0 {
		return false
	}
	whole := f.units[at]
	have := portFields(whole)
	for _, field := range fields {
		known := slices.ContainsFunc(have, func(x merge.Unit) bool { return slices.Equal(x.Path, field.Path) })
		switch {
		case !known:
			whole.Value = with(whole.Value, field.Path[len(u.Path):], field.Value)
			f.units[at] = whole
			f.note(field, merge.Joined, "", nil)
		case field.Path[len(field.Path)-1].Form == merge.Told: // the same in both
		default:
			f.drop(field, reason(whole.From), whole.From)
		}
	}
	return true
}

// with is an object with a value at a path inside it.
func with(v any, at merge.Path, value any) any {
	if len(at) == 0 {
		return value
	}
	out := maps.Clone(model.Map(merge.Plain(v)))
	if out == nil {
		out = map[string]any{}
	}
	out[at[0].Name] = with(out[at[0].Name], at[1:], value)
	return out
}

// portFields cuts an entry of perPort into its settings, which are called as those of default are: perPort[80].httpSettings.serverName.
func portFields(u merge.Unit) []merge.Unit {
	var out []merge.Unit
	for _, field := range fieldsBelow(u) {
		switch last := &field.Path[len(field.Path)-1]; last.Name {
		case "port":
			last.Form = merge.Told
			out = append(out, field)
		case "listener":
			last.Form = merge.Silent
			out = append(out, fieldsIn(field, "httpSettings", "forwardClientCertDetails")...)
		default:
			out = append(out, field)
		}
	}
	return out
}

// fieldsIn cuts a setting into its fields, and the field of the first name into its own, and so on.
func fieldsIn(u merge.Unit, names ...string) []merge.Unit {
	var out []merge.Unit
	for _, field := range fieldsBelow(u) {
		if len(names) > 0 && field.Path[len(field.Path)-1].Name == names[0] {
			out = append(out, fieldsIn(field, names[1:]...)...)
		} else {
			out = append(out, field)
		}
	}
	return out
}

// forwarded leaves out what a policy says about forwarded addresses where one before it, as itself, sets useRemoteAddress to false: then
// all of that is one setting, which the first policy has even if it says nothing more.
func (f *fold) forwarded(units []merge.Unit, reason func([]merge.From) merge.Reason) []merge.Unit {
	out := units
	for _, u := range units {
		last := len(u.Path) - 1
		if last < 0 || u.Path[last].Name != "useRemoteAddress" || merge.Plain(u.Value) != false {
			continue
		}
		around := u.Path[:last]
		by, ok := f.local[around.String()]
		if !ok {
			if f.local == nil {
				f.local = map[string][]merge.From{}
			}
			f.local[around.String()] = u.From
			continue
		}
		out = slices.DeleteFunc(slices.Clone(out), func(x merge.Unit) bool {
			lost := len(x.Path) == last+1 && slices.Equal(x.Path[:last], around) && (x.Path[last].Name == "xffNumTrustedHops" || x.Path[last].Name == "xffTrustedCIDRs")
			if lost {
				f.drop(x, reason(by), by)
			}
			return lost
		})
	}
	return out
}
