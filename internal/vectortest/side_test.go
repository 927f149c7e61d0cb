package vectortest

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/resolve"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

// sideOf is an input to compare, with all that vendors know about requests.
func sideOf(r *resolve.Resolution) view.Input {
	return view.Input{Resolution: r, Matcher: request.NewMatcher(r.Graph, r.Settings),
		Judges: plugin.Judges(plugins.All())}
}
