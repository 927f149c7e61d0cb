package plugin

import (
	"fmt"
	"maps"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/descriptor"
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request/normalize"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// WordFunc returns something that an input says in one word, "" if it says nothing.
type WordFunc func(*resolve.Resolution, model.Settings) string

// Normalizers return what becomes of requests before they are compared: what the descriptors say of
// the implementation of the listener.
func Normalizers(plugins []Plugin, c *descriptor.Catalog) []request.Normalizer {
	words := map[string]WordFunc{}
	for _, p := range plugins {
		maps.Copy(words, p.RequestWords)
	}
	var out []request.Normalizer
	for _, q := range c.RequestNormalizations() {
		out = append(out, func(r *resolve.Resolution, listener topology.NodeID) (normalize.Rules, bool) {
			if !hasImplementation(r.Graph, listener, q.Vendor, q.Controllers) {
				return normalize.Rules{}, false
			}
			how := maps.Clone(q.Aspects)
			for _, change := range q.Changes {
				maps.Copy(how, change.Values[changeValue(&change, words, r, c.Settings(), listener)])
			}
			return newTidying(how), true
		})
	}
	return out
}

// changeValue returns the value that decides about a change; "" if there is none.
func changeValue(c *descriptor.RequestChange, words map[string]WordFunc, r *resolve.Resolution, s model.Settings,
	listener topology.NodeID) string {
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
			value := merge.Unpack(rule.Value)
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

func newTidying(how map[string]string) normalize.Rules {
	out := normalize.Rules{ResolveDots: how["dots"] == "resolve", MergeSlashes: how["slashes"] == "merge" ||
		how["slashes"] == "mergeFirst", MergeSlashesFirst: how["slashes"] == "mergeFirst",
		Backslashes: how["backslashes"] == "slash", DropHostDot: how["hostDot"] == "drop",
		KeepHostDot: how["hostDot"] == "keep",
		DotsUnknown: how["dots"] == "", SlashesUnknown: how["slashes"] == "",
		BackslashesUnknown: how["backslashes"] == ""}
	out.Decode = map[string]normalize.Decoding{"all": normalize.DecodeAll, "unreserved": normalize.DecodeUnreserved,
		"none": normalize.DecodeNothing}[how["decode"]]
	switch how["escapedSlashes"] {
	case "decode":
		out.Escaped = normalize.DecodeEscaped
	case "redirect":
		out.Escaped = normalize.RedirectEscaped
	case "reject":
		out.Escaped = normalize.RejectEscaped
	case "":
		out.Escaped = normalize.UnknownEscaped
	}
	return out
}
