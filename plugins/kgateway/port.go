package kgateway

import (
	"slices"

	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
)

// port merges the settings of a port that another policy has settings for as well, setting by setting. It reports false if there is none:
// then all of them belong together.
func (f *fold) port(u merge.Unit, reason func([]merge.From) merge.Reason) bool {
	if at := f.find(u.Path); at >= 0 {
		f.units = slices.Replace(f.units, at, at+1, portFields(f.units[at])...)
	} else if !slices.ContainsFunc(f.units, func(x merge.Unit) bool { return len(x.Path) > 2 && slices.Equal(x.Path[:2], u.Path) }) {
		return false
	}
	for _, field := range portFields(u) {
		at := f.find(field.Path)
		switch {
		case at < 0:
			f.take(field)
		case field.Path[len(field.Path)-1].Form == merge.Told: // the same in both
		default:
			f.drop(field, reason(f.units[at].From), f.units[at].From)
		}
	}
	return true
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
