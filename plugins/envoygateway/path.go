package envoygateway

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/merge"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
)

// tidied says what the proxy makes of paths at a listener: dots are always resolved, the rest is what the ClientTrafficPolicy in force there says.
func tidied(r *resolve.Resolution, listener topology.NodeID) (request.Tidying, bool) {
	if r.Graph.Whose(listener) != "envoygateway" {
		return request.Tidying{}, false
	}
	out := request.Tidying{Dots: true, Slashes: true, Escaped: request.RedirectEscaped}
	k := r.Kind(model.GroupKind{Group: policyGroup, Kind: "ClientTrafficPolicy"})
	if k == nil {
		return out, true
	}
	for _, s := range k.Contexts(listener) {
		for _, rule := range k.Verdict(s).Result.Rules {
			switch value := merge.Plain(rule.Value); rule.Name {
			case "path.disableMergeSlashes":
				off, _ := value.(bool)
				out.Slashes = !off
			case "path.escapedSlashesAction":
				word, _ := value.(string)
				out.Escaped = map[string]request.EscapedSlashes{"KeepUnchanged": request.KeepEscaped, "UnescapeAndForward": request.DecodeEscaped,
					"UnescapeAndRedirect": request.RedirectEscaped, "RejectRequest": request.RejectEscaped}[word]
			}
		}
	}
	return out, true
}
