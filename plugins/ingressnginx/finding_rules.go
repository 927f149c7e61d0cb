package ingressnginx

import (
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
)

// What is found of ingress-nginx alone.
var (
	configurationRefused = model.Rule{ID: "ConfigurationRefused", Severities: []model.Severity{model.Error},
		Summary: "nginx refuses what the controller of ingress-nginx makes of the Ingresses: no change of any Ingress is in force until that is repaired",
		Fix:     "change the Ingress that the message names"}
	authenticationDropped = model.Rule{ID: "AuthenticationDropped", Severities: []model.Severity{model.Error},
		Summary: "an annotation beside auth-url has a value for which ingress-nginx leaves out the external authentication: everybody gets in",
		Fix:     "correct the value, or remove the annotation"}
	snippetIgnored = model.Rule{ID: "SnippetIgnored", Severities: []model.Severity{model.Warning},
		Summary: "ingress-nginx does not read a snippet, or because of it ignores the whole Ingress, whose paths then answer 404; a translation to the Gateway API leaves the snippet out, and the paths are open",
		Fix:     "remove the snippet, once something else does what it was written for"}
	canaryLeaks = model.Rule{ID: "CanaryLeaks", Severities: []model.Severity{model.Warning},
		Summary: "ingress-nginx sends requests of other paths to a canary as well, because they use the Service and port that it splits",
		Fix:     "give the path that is split a Service of its own"}
	unclaimedPathInherits = model.Rule{ID: "UnclaimedPathInherits", Severities: []model.Severity{model.Warning, model.Info},
		Summary: "annotations of the first Ingress of a host redirect or refuse requests to paths of it that no Ingress has, as ingress-nginx gives every host a path /; info where they only refuse what would be answered 404",
		Fix:     "write an Ingress for the path / of the host; one that is meant to hold there can be suppressed"}
	hostIsRegex = model.Rule{ID: "HostIsRegex", Severities: []model.Severity{model.Warning},
		Summary: "an annotation of another Ingress of the host makes regular expressions of the paths of an Ingress, Exact ones as well: they take all that begins with them, in any case",
		Fix:     "give the Ingress with the annotation a host of its own"}
)

func listFindings() []plugin.Finding {
	return []plugin.Finding{{Rule: configurationRefused}, {Rule: authenticationDropped}, {Rule: snippetIgnored},
		{Rule: canaryLeaks}, {Rule: unclaimedPathInherits}, {Rule: hostIsRegex}}
}
