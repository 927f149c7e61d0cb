package plugin

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// Word is something that an input says in one word, "" if it says nothing.
type Word func(*resolve.Resolution, model.Settings) string

// Tidiers tell what becomes of requests before they are compared: what the descriptors say of the implementation of the listener.
func Tidiers(plugins []Plugin, c *descriptor.Catalog) []request.Tidier {
	words := map[string]Word{}
	for _, p := range plugins {
		maps.Copy(words, p.Words)
	}
	var out []request.Tidier
	for _, q := range c.Requests() {
		out = append(out, func(r *resolve.Resolution, listener topology.NodeID) (request.Tidying, bool) {
			if !isOf(r, listener, &q) {
				return request.Tidying{}, false
			}
			how := maps.Clone(q.How)
			for _, change := range q.Changes {
				maps.Copy(how, change.Values[said(&change, words, r, c.Settings(), listener)])
			}
			return tidying(how), true
		})
	}
	return out
}

// isOf reports whether a listener, or a Gateway, is of the vendor: the input says so, or its class has one of the vendor's controllers.
func isOf(r *resolve.Resolution, listener topology.NodeID, q *descriptor.Requests) bool {
	if whose := r.Graph.Whose(listener); whose != "" {
		return whose == q.Vendor
	}
	for _, id := range append(above(r, listener), listener) {
		if n := r.Node(id); n.Role == topology.GatewayClass && n.Object != nil && slices.Contains(q.Managed, n.Object.Text("spec", "controllerName")) {
			return true
		}
	}
	return false
}

// above are the nodes that a listener is below.
func above(r *resolve.Resolution, id topology.NodeID) []topology.NodeID {
	var out []topology.NodeID
	for _, up := range r.Graph.Parents(topology.Traffic, id) {
		out = append(append(out, up), above(r, up)...)
	}
	return out
}

// said is the value that decides about a change; "" if there is none.
func said(c *descriptor.RequestChange, words map[string]Word, r *resolve.Resolution, s model.Settings, listener topology.NodeID) string {
	switch {
	case c.Func != "":
		if f := words[c.Func]; f != nil {
			return f(r, s)
		}
		return ""
	case c.Setting != "":
		return s.Text(c.Setting)
	}
	k := r.Kind(c.Kind)
	if k == nil {
		return ""
	}
	for _, stack := range k.Contexts(listener) {
		for _, rule := range k.Verdict(stack).Result.Rules {
			value := merge.Plain(rule.Value)
			if rule.Name != c.Field {
				rest, below := strings.CutPrefix(c.Field, rule.Name+".")
				if !below {
					continue
				}
				for _, name := range strings.Split(rest, ".") {
					fields, _ := value.(map[string]any)
					value = fields[name]
				}
			}
			if value != nil {
				return fmt.Sprint(value)
			}
		}
	}
	return ""
}

func tidying(how map[string]string) request.Tidying {
	out := request.Tidying{Dots: how["dots"] == "resolve", Slashes: how["slashes"] == "merge" || how["slashes"] == "mergeFirst", SlashesFirst: how["slashes"] == "mergeFirst",
		Backslashes: how["backslashes"] == "slash", HostDot: how["hostDot"] == "drop", HostDotKept: how["hostDot"] == "keep",
		DotsOpen: how["dots"] == "", SlashesOpen: how["slashes"] == "", BackslashesOpen: how["backslashes"] == ""}
	out.Decode = map[string]request.Decoding{"all": request.DecodeAll, "unreserved": request.DecodeUnreserved, "none": request.DecodeNothing}[how["decode"]]
	switch how["escapedSlashes"] {
	case "decode":
		out.Escaped = request.DecodeEscaped
	case "redirect":
		out.Escaped = request.RedirectEscaped
	case "reject":
		out.Escaped = request.RejectEscaped
	case "":
		out.Escaped = request.UnknownEscaped
	}
	return out
}
