package check

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// effectRules are the findings about what has no effect.
var effectRules = []model.Rule{
	{ID: model.NeverInForce, Severities: []model.Severity{model.Warning, model.Info}, Clause: "E10",
		Summary: "a policy attaches, traffic reaches its targets, and nothing of it is in force anywhere; info where it only waits: its conditions are not met, or the defaults that it sets are switched off below",
		Fix:     "remove the policy, or change what keeps it out; one that is there for what is still to come can be suppressed"},
	{ID: model.PointlessPolicy, Severities: []model.Severity{model.Warning, model.Info}, Clause: "E4",
		Summary: "policies of other levels override everything that a policy sets, wherever it applies; info where these are defaults that give way to something more specific everywhere, as a safety net should",
		Fix:     "remove the policy, or change the strategy of those that override it"},
	{ID: model.RuleNeverInForce, Severities: []model.Severity{model.Warning, model.Info}, Clause: "E10",
		Summary: "a setting of a policy is in force nowhere, though others of it are; info where it is a default that gives way everywhere, or waits for a condition",
		Fix:     "remove the setting, or change what overrides it"},
	{ID: model.PolicyConflict, Severities: warnings, Clause: "E8",
		Summary: "another policy of the kind on the same target keeps the whole policy out of force there",
		Fix:     "keep one policy for each target, or put all settings into one"},
	{ID: model.ParentNotFound, Severities: warnings, Clause: "G9",
		Summary: "a parentRef of a route names a section, a port or an object that its Gateway, its ListenerSet or the cluster does not have; what is only missing from the files is no such case",
		Fix:     "correct the parentRef"},

	{ID: model.HostAlsoIngress, Severities: notes,
		Summary: "a host of an Ingress is also one of an HTTPRoute that is attached to a Gateway: both serve it, and DNS decides which of the two gets a request",
		Fix:     "nothing while you move from one to the other; then delete the Ingress, or the hostname of the route"},

	{ID: model.EmptyPolicyShields, Severities: warnings, Clause: "E4",
		Summary: "a policy without any settings keeps those of other policies out of force",
		Fix:     "remove the policy; one that is meant to switch a default off can be suppressed"},
	{ID: model.DefaultBeatsSetting, Severities: warnings,
		Summary: "a value that somebody wrote is overridden by a default that the API fills into another policy, whose author did not write it",
		Fix:     "write the value into the other policy as well"},
}

// protectionRules are the findings about what requests are protected by.
var protectionRules = []model.Rule{
	{ID: model.ProtectsNothing, Severities: []model.Severity{model.Warning, model.Info},
		Summary: "a policy is in force, and everything by which it could keep requests out lets them in: anonymous clients, missing credentials, a setting that allows everybody; not for policies that only report; info where the policy is about requests that no rule of a route gets",
		Fix:     "make it require what it should, or remove it; one that is meant to let everybody in can be suppressed"},
	{ID: model.ProtectionReplaced, Severities: warnings,
		Summary: "requests to a route rule need no authentication, or are not authorized, because a policy replaces another one that would ask for it",
		Fix:     "repeat in it what it replaces, or merge the two where the kind can; one that is meant to open a path can be suppressed"},
	{ID: model.ProtectionBypassed, Severities: []model.Severity{model.Warning, model.Info},
		Summary: "a rule without authentication has a more specific match than a rule of another route that needs it, and takes requests to the same host away from it; info where not all matches were compared",
		Fix:     "let a policy authenticate at the rule as well, or make its matches narrower; one that is meant to open a path can be suppressed"},
	{ID: model.PolicyBypassed, Severities: warnings, Clause: "L53",
		Summary: "a policy is in force at a proxy in front of a workload, and requests through a Gateway reach the workload around that proxy; not where they are denied later",
		Fix:     "lead the requests through the proxy, or let nobody reach the workload around it"},
	{ID: model.PathBlocked, Severities: warnings, Clause: "L53",
		Summary: "every request that a rule takes is denied behind the Gateway by policies that do not look at requests: those of the network, mutual TLS, identities",
		Fix:     "let the Gateway's proxies in, or remove the rule"},
	{ID: model.FailOpenProtection, Severities: notes,
		Summary: "a policy lets requests in while the service that it asks to authenticate, to authorize or to filter does not answer",
		Fix:     "let it fail closed where that matters: who can stop the service gets in"},
}
