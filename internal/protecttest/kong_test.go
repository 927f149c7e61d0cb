package protecttest

import (
	"fmt"
	"strings"
)

// kong runs plugins by their priorities: logins, addresses, groups and limits.
var kong = vendor{
	name: "kong", controller: "konghq.com/kic-gateway-controller",
	uses: words{token: `"jwt"`, basic: "basic-auth", key: "key-auth"},
	draw: drawKong, filters: filtersOfKong,
}

func drawKong(w *world) {
	var names []string
	for i := range 3 + w.IntN(3) {
		plugin, config := "", object{}
		switch w.IntN(8) {
		case 0, 1, 2, 3:
			plugin = pick(w, "jwt", "key-auth", "basic-auth")
			if w.chance(3) {
				config["anonymous"] = "nobody"
			}
		case 4:
			plugin = "ip-restriction"
			if w.chance(3) {
				config["deny"] = []any{pick(w, networks...)}
			} else {
				config["allow"] = []any{pick(w, networks[0], networks[1], "0.0.0.0/0")}
			}
		case 5:
			plugin = "acl"
			config["allow"] = []any{"staff"}
		default:
			plugin = "rate-limiting"
			config["minute"] = 5
		}
		o := object{"apiVersion": "configuration.konghq.com/v1", "kind": "KongPlugin",
			"metadata": object{"name": fmt.Sprintf("p%d", i), "namespace": namespace}, "plugin": plugin,
			"config": config}
		if w.chance(6) {
			o["disabled"] = true
		}
		w.objects = append(w.objects, o)
		names = append(names, fmt.Sprintf("p%d", i))
	}
	for _, o := range append(w.ofKind("HTTPRoute"), w.ofKind("Service")...) {
		var used []string
		for _, name := range names {
			if w.chance(3) {
				used = append(used, name)
			}
		}
		if used != nil {
			o["metadata"].(object)["annotations"] = object{"konghq.com/plugins": strings.Join(used, ",")}
		}
	}
}

func filtersOfKong(_ *world, p *place) []filter {
	plugins, _ := p.settings["KongPlugin"]["plugins"].(object)
	inForce := func(name string) object {
		if plugin, ok := plugins[name].(object); ok && !flag(plugin, "disabled") {
			return plugin
		}
		return nil
	}
	var out []filter
	logins := false
	for _, login := range []struct {
		name       string
		credential func(*client) string
	}{
		{"basic-auth", func(c *client) string { return c.basic }},
		{"key-auth", func(c *client) string { return c.key }},
		{"jwt", func(c *client) string { return c.token }},
	} {
		plugin := inForce(login.name)
		if plugin == nil {
			continue
		}
		logins = true
		out = append(out, filter{name: login.name, does: func(_ *call, who *client) reply {
			c := login.credential(who)
			return demand(c != absent && c != bad || text(plugin, "config", "anonymous") != "", 401)
		}})
	}
	if lists := inForce("ip-restriction"); lists != nil {
		out = append(out, filter{name: "ip-restriction", does: func(_ *call, who *client) reply {
			return demand(fitsAddress(texts(lists, "config", "allow"), texts(lists, "config", "deny"), who.address),
				403)
		}})
	}
	if inForce("acl") != nil {
		out = append(out, filter{name: "acl", decides: true, does: func(*call, *client) reply {
			if !logins {
				return refuse(401)
			}
			return ask(maybe, 403)
		}})
	}
	if inForce("rate-limiting") != nil {
		out = append(out, filter{name: "rate-limiting", does: func(*call, *client) reply { return count(yes) }})
	}
	return out
}
