package check

import "github.com/dopolicy/kubectl-dopolicy/pkg/model"

// inputRules are the findings about reading the input.
var inputRules = []model.Rule{
	{ID: model.InvalidYAML, Severities: faults,
		Summary: "a document does not parse, or two of its keys collide; in a folder only where it names an apiVersion and a kind, or is beside objects",
		Fix:     "fix the reported line; render templates first"},
	{ID: model.NotAnObject, Severities: []model.Severity{model.Error, model.Warning},
		Summary: "a document has no apiVersion, kind or name (an error if it seems to be meant as an object)",
		Fix:     "complete it, or leave it out"},
	{ID: model.NotKubernetes, Severities: notes,
		Summary: "a folder has files for other programs in it, or templates that are not rendered; counted, reported once",
		Fix:     "nothing, if they are meant for something else; `-f FILE` says why a file is no manifest"},
	{ID: model.DuplicateObject, Severities: []model.Severity{model.Error, model.Info},
		Summary: "different versions of one object, of which none is used, so that it is not known what holds of it; reported once for files that contradict each other; info where no answer depends on objects of the kind",
		Fix:     "keep one; of alternatives, such as examples or clusters, read one at a time"},
	{ID: model.WrongType, Severities: []model.Severity{model.Warning, model.Error},
		Summary: "a field that is read has the wrong type, and what needs it is ignored (an error if that is a whole object); or the reader takes a key for a boolean", Fix: "fix it, or quote it"},
	{ID: model.LimitExceeded, Severities: faults, Summary: "a document is beyond the limits of reading",
		Fix: "split it"},
	{ID: model.Forbidden, Severities: notes, Summary: "the cluster did not let a list be read",
		Fix: "ask for the permission that the hint names"},
	{ID: model.InvalidObject, Severities: []model.Severity{model.Warning, model.Error}, Summary: "the API server would refuse the object: by a validation rule of a release that comes with the program, and then it is in force in no answer; or by what is known of its kind without a schema, and then it is still evaluated",
		Fix: "fix it before it is applied"},
	{ID: model.NamespaceAssumed, Severities: notes, Summary: "objects in files have no namespace; reported once",
		Fix: "give `-n`, or write the namespace into the objects"},
	{ID: model.NotEvaluated, Severities: []model.Severity{model.Info, model.Error},
		Summary: "something that could change the answer cannot be evaluated, or an assumption was made (an error if the tool that renders it refuses it)", Fix: "add what the hint names"},
	{ID: model.UnknownIgnore, Severities: warnings,
		Summary: "the annotation `dopolicy.dev/ignore` names an id that no finding has, or one of a requirement, which an annotation cannot ignore", Fix: "fix the id; `kubectl dopolicy check --list` lists them"},
}

// kindRules are the findings about how policy kinds are read.
var kindRules = []model.Rule{
	{ID: model.GenericKind, Severities: notes, Summary: "a policy kind has no descriptor",
		Fix: "describe it with `--policy-kinds`, if its controller does otherwise", Clause: "E15"},
	{ID: model.SettingMatters, Severities: notes, Summary: "another value of a vendor setting would change the answer",
		Fix: "find out what the controller does, and say it with `--vendor-setting`", Clause: "P32, G25"},
	{ID: model.ProfileChosen, Severities: notes,
		Summary: "a policy kind can be read in more than one way, and something in the input decided",
		Fix:     "choose with the setting that the hint names"},
	{ID: model.Inferred, Severities: notes,
		Summary: "how a policy kind is read is inferred in part, because its controller is closed or its documentation silent", Fix: "compare with what the cluster reports before you rely on it; the vendor's page says what is known"},
	{ID: model.OrderUncertain, Severities: warnings,
		Summary: "policies on one target, ListenerSets that contend for a listener, routes with equal matches, or Ingresses with one path are ordered by name because creation times are missing or the implementation leaves their order open, and another order would change the result", Fix: "let them not compete, or read them from the cluster with their times", Clause: "E9, G23, G47"},
	{ID: model.OrderSensitive, Severities: notes, Summary: "the other direction of the fold would give another result",
		Fix: "ask the implementation; `fold: bottomUp` in a descriptor settles it", Clause: "P27"},
}

// targetRules are the findings about what policies and routes refer to.
var targetRules = []model.Rule{
	{ID: model.UnrenderedVariable, Severities: notes,
		Summary: "a variable such as `${APP}` stands where a name, a namespace or a hostname should",
		Fix:     "render the manifests first, or read the folder that says how with `-R` (docs/gitops.md)"},
	{ID: model.UnknownKind, Severities: []model.Severity{model.Info, model.Warning},
		Summary: "a policy targets a kind that is not defined in the manifests, or in the cluster (a warning); nothing is inherited there",
		Fix:     "add the CRD, or fix the reference", Clause: "P14"},
	{ID: model.TargetNotFound, Severities: []model.Severity{model.Warning, model.Info},
		Summary: "a target or its section does not exist, or there is no reference at all; not attached there (info: a selector selects nothing)",
		Fix:     "fix the reference; the hint has near names", Clause: "E13, P7"},
	{ID: model.InvalidTarget, Severities: warnings,
		Summary: "the policy kind may not target this kind or section; not attached",
		Fix:     "target what the hint lists", Clause: "P10"},
	{ID: model.GroupWithVersion, Severities: notes,
		Summary: "the group of a target carries a version, which is dropped", Fix: "drop it", Clause: "P5"},
	{ID: model.CrossNamespaceTarget, Severities: warnings,
		Summary: "the target is in another namespace and the policy kind does not allow that; not attached",
		Fix:     "move the policy", Clause: "P11"},
	{ID: model.RefNotPermitted, Severities: warnings,
		Summary: "a reference to another namespace lacks the ReferenceGrant that it needs", Fix: "add the grant",
		Clause: "P12, G32"},
	{ID: model.BackendNotFound, Severities: []model.Severity{model.Warning, model.Info},
		Summary: "a backend or its port is missing in a namespace that is known to be complete, or the kind can be no backend; info where the API server refuses it, which another finding says", Fix: "fix the rule", Clause: "G34, G36"},
	{ID: model.DuplicateReference, Severities: notes, Summary: "a policy names one object twice; it counts once",
		Fix: "drop one", Clause: "P10"},
	{ID: model.DuplicateParentRef, Severities: notes,
		Summary: "a route names one parent twice without telling the two apart", Fix: "drop one"},
	{ID: model.DuplicateRuleName, Severities: warnings,
		Summary: "two rules of a route have one name; it means the first", Fix: "rename one", Clause: "G3"},
	{ID: model.RuleNameCollision, Severities: notes,
		Summary: "a rule is called `rule-N` but is not the Nth; the name wins", Fix: "rename it", Clause: "G3"},
	{ID: model.ForeignReference, Severities: warnings,
		Summary: "a setting of a policy in another namespace names an object without its namespace, and there is no such object in the policy's namespace",
		Fix:     "write the namespace, or create the object in the policy's namespace"},
	{ID: model.ReferenceNotFound, Severities: []model.Severity{model.Warning, model.Info},
		Summary: "a reference without a namespace names nothing beside its object, and something of that kind and name in another namespace",
		Fix:     "create the object in the namespace of what names it, or move that; a reference without a namespace cannot leave its own"},
	{ID: model.AnnotationIgnored, Severities: warnings,
		Summary: "nothing reads an annotation where it stands, or its value means nothing",
		Fix:     "remove it, or move it to where the message says"},
}

// trafficRules are the findings about what gets no traffic.
var trafficRules = []model.Rule{
	{ID: model.AncestorLimit, Severities: warnings,
		Summary: "the status of a policy would need entries for more than 16 ancestors, and has no room for them",
		Fix:     "split the policy, or attach its routes to fewer Gateways", Clause: "P38"},
	{ID: model.ListenerConflict, Severities: warnings,
		Summary: "listeners of one Gateway that share a port cannot be told apart, or one of a ListenerSet conflicts with one before it", Fix: "give each a port, or a hostname, of its own", Clause: "G26 to G28"},
	{ID: model.NotReached, Severities: []model.Severity{model.Info, model.Warning},
		Summary: "no traffic reaches a policy's target, so that it is in force nowhere, or a route is attached to nothing", Fix: "look at the route's parents", Clause: "P36"},
	{ID: model.RuleShadowed, Severities: warnings,
		Summary: "a rule of a route never gets a request, because another one with the same matches, or without conditions and for all of its paths, comes first at the data plane",
		Fix:     "remove it, or make the other narrower", Clause: "G52, R26"},
	{ID: model.PathCommitted, Severities: warnings,
		Summary: "the data plane of a Gateway chooses the path of a request first, so that a rule which asks for a method, headers or query parameters as well keeps the other requests to its path from the rule for a wider one: they get 404",
		Fix:     "add a rule for that path without conditions", Clause: "R27"},
	{ID: model.RedirectLoop, Severities: warnings,
		Summary: "a redirect leads to the request itself, by scheme, host, port and path",
		Fix:     "redirect elsewhere; a route that redirects from http to https belongs to the HTTP listener alone", Clause: "R27"},
	{ID: model.RewriteDiffers, Severities: warnings,
		Summary: "the data plane of a Gateway replaces the prefix of a path otherwise than the Gateway API says, in what it sends on or in the Location of a redirect",
		Fix:     "write the replacement that the hint names", Clause: "R30"},
	{ID: model.ProxyRefuses, Severities: faults,
		Summary: "two listeners of one HTTP port both have routes for one hostname, for which the proxy of the implementation refuses all routes of the port: it keeps what it had before, and a new one has none",
		Fix:     "attach the route to one of the listeners, by `sectionName`, or give the routes other hostnames", Clause: "R29"},
	{ID: model.ListenerWithoutRoutes, Severities: notes, Summary: "no route is attached to a listener",
		Fix: "remove it, if no route is missing from the input"},
	spellingRule,
}

// spellingRule is for what proofs of requests find as well.
var spellingRule = model.Rule{ID: model.SpellingBypass, Severities: []model.Severity{model.Warning, model.Info},
	Summary: "a request can be spelled so that another rule takes it, without the policies that keep requests out of the rule that is meant, and the same backend gets it; info where not all paths were tried",
	Fix:     "cover the other rule as well, have the data plane normalise such requests where it can, or deny what is not canonical"}

// settingRules are the findings about what policies say.
var settingRules = []model.Rule{
	{ID: model.BareWithBlocks, Severities: warnings, Summary: "a bare set stands beside `defaults` or `overrides`",
		Fix: "move it into a block", Clause: "E3"},
	{ID: model.MultipleBlocks, Severities: warnings,
		Summary: "a policy of a kind without a descriptor has both blocks", Fix: "split it", Clause: "P22"},
	{ID: model.UnknownStrategy, Severities: warnings,
		Summary: "the policy kind does not have that strategy; atomic is used", Fix: "use one that the hint lists"},
	{ID: model.UnknownBlockField, Severities: warnings,
		Summary: "the policy kind does not have that field; the field is ignored", Fix: "look for a typing error"},
	{ID: model.InvalidCondition, Severities: faults,
		Summary: "a condition does not compile, is not boolean, fails, or is too costly: the block does not apply",
		Fix:     "fix it", Clause: "E6"},
	{ID: model.ConditionMissingField, Severities: warnings,
		Summary: "a condition reads a field that is not there: not matched", Fix: "guard it with `has(…)`",
		Clause: "E6"},
	{ID: model.IgnoredTopLevelWhen, Severities: warnings,
		Summary: "the implementation reads one of the policy's blocks, and ignores what the policy sets elsewhere",
		Fix:     "move it into the block that is read"},
	{ID: model.UnsetUnknown, Severities: notes, Summary: "no policy above sets the deactivated name as a default",
		Fix: "write the whole name", Clause: "E5"},
	{ID: model.UnsetHasNoEffect, Severities: notes, Summary: "only an override sets the deactivated name",
		Fix: "drop it", Clause: "E5"},
	{ID: model.SettingsHidden, Severities: notes,
		Summary: "a route with settings of its own does not take over those of the service where it is used",
		Fix:     "repeat them on the route, if they are meant"},
	{ID: model.PolicyInError, Severities: warnings,
		Summary: "the implementation cannot use a policy, which may put all of its kind out of force where it is attached", Fix: "fix what the message names"},
	{ID: model.RefusedByOperator, Severities: []model.Severity{model.Error, model.Warning},
		Summary: "the operator's API server refuses a policy, in its words: it is in force only if another profile is chosen for its kind (a warning then)",
		Fix:     "fix it before it is applied"},
	{ID: model.PrunedByOperator, Severities: warnings, Summary: "the API server drops a field",
		Fix: "remove it, or look for a typing error"},
}

// The severities of most rules.
var (
	faults   = []model.Severity{model.Error}
	warnings = []model.Severity{model.Warning}
	notes    = []model.Severity{model.Info}
)
