package prove

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/dopolicy"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/requirement"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/prove"
)

// Options say which requests are asked about, and what has to hold for them.
type Options struct {
	Environment run.Environment
	Query       command.Query

	Hosts, Paths, Methods, Headers, Require []string
	Gateway, Listener                       string
	Property, Expression                    string
	Allow                                   []string
	OfNamespace                             bool // only requests that routes of the namespace take
}

const proveLong = `Prove that every request that reaches a backend meets a policy, or show a request that does not.

All requests that can come to the Gateways are looked at: every host, path, method, header and query parameter. They are
grouped into classes that all route rules treat alike. For each class the policies in force on its way are compared with
what is required:
  --require authentication  nobody gets through without a credential. Other properties, such as authentication=jwt,
                            are in docs/protection.md.
  --require AuthPolicy      a policy of this kind is in force, whatever it does. This asks for less.
  --expression CEL          the expression is true
  --property NAME           a ready-made property holds (docs/prove.md)

The answer is one of:
  proved    it holds for every class
  refuted   it does not hold; for each rule that takes such requests, the smallest one is shown as a curl command
  unknown   something that could change the result is not known: a match that cannot be evaluated, two routes that only
            their names put in order, a condition or service that decides, or an incomplete input
  nothing   none of the requests gets through, so that nothing is proved

Requests that no rule takes, that are redirected, or that have no usable backend reach nothing, and need no policy. If a
policy of the required kind denies a request, that counts as required.

Paths are compared after the data plane has normalized them. With --paths or --hosts, other spellings (//admin, /%61dmin)
that reach the same backend without what is required are listed too; in the formats for CI and in JSON they are findings
(SpellingBypass). A Service that is not in the files may exist: requests to it count as getting through.

With -n or -l, only the requests are looked at that routes of this namespace, or with these labels, take.

The exit code is 0 for proved, 1 for refuted, and 3 for unknown or nothing.`

const proveExample = `  # does every request to /admin need authentication?
  kubectl dopolicy prove --paths '/admin/**' --require authentication -f manifests/

  # with a token, at one host, for methods that change something
  kubectl dopolicy prove --hosts shop.example.com --methods POST,PUT,DELETE --require authentication=jwt -f manifests/

  # with a header that clients can set, and without it
  kubectl dopolicy prove --headers x-probe=1 --require AuthPolicy -f manifests/
  kubectl dopolicy prove --headers '!x-probe' --require AuthPolicy -f manifests/

  # with at least one way to log in
  kubectl dopolicy prove --expression 'effective.?AuthPolicy.spec.rules.authentication.orValue({}).size() > 0' -f manifests/

  # no host is taken over by a route of another namespace
  kubectl dopolicy prove --property one-namespace-per-host -f manifests/

  # everything that comes through one Gateway
  kubectl dopolicy prove --gateway infra/external --require AuthPolicy -A`

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	f := &Options{Environment: env}
	q := &f.Query
	cmd := &cobra.Command{
		Use:     "prove {--require PROPERTY|KIND | --expression CEL | --property NAME}",
		Short:   "Prove that every request meets a policy, or show one that does not",
		Long:    proveLong,
		Example: proveExample,
		Args:    command.CheckArguments(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.OfNamespace = cmd.Flags().Changed("namespace")
			return Run(cmd.Context(), f)
		},
	}
	q.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "sarif", "junit", "github")
	q.Output.AddTableFlags(cmd)
	fs := cmd.Flags()
	fs.StringSliceVar(&f.Require, "require", nil,
		"property that has to hold, such as authentication or authentication=jwt, or a policy kind of which a policy has to be in force (repeatable: one of them)")
	fs.StringVar(&f.Expression, "expression", "",
		"what has to hold instead, in CEL over the rule (target), the policies in force on the way (effective), path and backend (docs/requirements.md)")
	fs.StringVar(&f.Property, "property", "", "ready-made property that has to hold instead (docs/prove.md)")
	fs.StringSliceVar(&f.Allow, "allow", nil,
		"with --property only-listed-exposed: what may be reached, as HOST or HOST/PATH in the forms of --hosts and --paths")
	fs.StringSliceVar(&f.Paths, "paths", nil,
		"only these paths: /admin alone, '/admin/**' with all below it, '/api/*/admin' with any element (default: all)")
	fs.StringSliceVar(&f.Hosts, "hosts", nil,
		"only these hosts; '*.example.com' is all below example.com (default: all)")
	fs.StringSliceVar(&f.Methods, "methods", nil, "only these methods (default: all)")
	fs.StringArrayVar(&f.Headers, "headers", nil,
		"only requests with this header, as name=value, or without it, as '!name' (repeatable: all of them)")
	fs.StringVar(&f.Gateway, "gateway", "", "only this Gateway, as [KIND/][NAMESPACE/]NAME (default: all)")
	fs.StringVar(&f.Listener, "listener", "", "only listeners with this name")
	fs.StringVarP(&q.Labels, "selector", "l", "", "only requests that routes with these labels take")
	completion.AddToCommand(cmd, env, &q.Source, nil)
	completion.AddToFlag(cmd, "property", func(_ *cobra.Command, _ []string, typed string) ([]string,
		cobra.ShellCompDirective) {
		var words []string
		for _, p := range prove.ReadyProperties() {
			words = append(words, p.Name)
		}
		return completion.Filter(words, typed)
	})
	completion.AddToFlag(cmd, "gateway", completion.FromInput(env, &q.Source, (*source.Flags).Open,
		completion.ProposeForWord(completion.ProposeGateways)))
	return cmd
}

// Run answers.
func Run(ctx context.Context, f *Options) error {
	q := &f.Query
	query, err := f.parseQuery()
	if err != nil {
		return err
	}
	sel, err := source.ParseSelector(q.Labels)
	if err != nil {
		return err
	}
	var expression *requirement.Expression
	if f.Expression != "" {
		if expression, err = requirement.NewExpression(f.Expression); err != nil {
			return failure.Usage("its variables are target, path, effective and backend (docs/requirements.md)",
				"the expression %s", err)
		}
	}
	session, err := q.Source.Open(ctx, f.Environment)
	if err != nil {
		return err
	}
	for _, name := range f.Require {
		if property, is, _ := source.ParseProperty(name); is {
			query.Properties = append(query.Properties, property)
			continue
		}
		kinds := session.FindPolicyKinds(name)
		if kinds == nil {
			return session.UnknownRequirement(name)
		}
		for _, k := range kinds {
			query.Require = append(query.Require, k.ResolvedKind().GroupKind)
		}
	}
	if len(query.Require) > 0 && len(query.Properties) > 0 {
		return failure.Usage("ask for the two one after the other",
			"a property says what policies do, and a kind only that there are some")
	}
	if err := checkMethods(session, f.Methods); err != nil {
		return err
	}
	if f.OfNamespace || !sel.IsEmpty() {
		if f.OfNamespace {
			if err := session.CheckNamespace(); err != nil {
				return err
			}
			query.Asked += " taken by routes of namespace " + q.Source.Namespace
		}
		query.Routes = func(o *model.Object) bool {
			return (!f.OfNamespace || session.IsInNamespace(o.Ref)) && sel.MatchesObject(o)
		}
	}
	if !sel.IsEmpty() {
		query.Asked += " taken by routes with labels " + q.Labels
	}
	matcher := requestline.NewMatcher(session)
	if f.Gateway != "" {
		if query.Scope.Destination.Gateway, err = matcher.FindGateway(f.Gateway); err != nil {
			return err
		}
	}
	if expression != nil {
		expression.SetQuery(session.Resolution, &query.Query)
	}
	out, err := session.Prove(query)
	if err != nil {
		return err
	}
	if err := f.writeProof(session, out); err != nil {
		return err
	}
	switch out.Verdict {
	case prove.NothingProved:
		return errNothingProved
	case prove.Refuted:
		return failure.ErrFindings
	case prove.ProofUnknown:
		return errUnproved
	}
	return nil
}

// parseQuery reads the flags.
func (f *Options) parseQuery() (*dopolicy.ProofQuery, error) {
	q, err := dopolicy.NewProofQuery(space.Selection{Hosts: f.Hosts, Paths: f.Paths, Methods: f.Methods,
		Headers: f.Headers})
	for _, entry := range f.Allow {
		if wrong := prove.CheckAllowed(entry); wrong != nil && err == nil {
			err = wrong
		}
	}
	var wrong *space.SelectionError
	if errors.As(err, &wrong) {
		return nil, failure.Usage(wrong.Hint, "%s", wrong.What)
	}
	q.Property, q.Allow = f.Property, f.Allow
	q.Scope.Destination.Listener = f.Listener
	if f.Gateway != "" {
		q.Asked += " through Gateway " + f.Gateway
	}
	if f.Listener != "" {
		q.Asked += " at listener " + f.Listener
	}
	return q, f.checkProof(&q.Query)
}

// checkProof checks what has to hold. The kinds that are required are not known yet.
func (f *Options) checkProof(q *prove.Query) error {
	asked := *q
	for _, name := range f.Require {
		if _, _, err := source.ParseProperty(name); err != nil {
			return err
		}
		asked.Require = []model.GroupKind{{Kind: name}}
	}
	if f.Expression != "" {
		asked.Holds = func(*prove.BackendPath) (bool, string) { return true, "" }
	}
	known := prove.ReadyProperties()
	if f.Property != "" &&
		!slices.ContainsFunc(known, func(p prove.ReadyProperty) bool { return p.Name == f.Property }) {
		var names []string
		for _, p := range known {
			names = append(names, p.Name)
		}
		return failure.Usage("use one of: "+strings.Join(names, ", "), "there is no property %q", f.Property)
	}
	if wrong := asked.Check(); wrong != "" && f.Property != "" {
		return failure.Usage("docs/prove.md says what goes with each property", "%s", wrong)
	} else if wrong != "" {
		return failure.Usage(
			"write --require authentication, --expression CEL or --property NAME; docs/prove.md has the properties",
			"%s", wrong)
	}
	return nil
}

// writeProof writes the answer. For CI it has the form of a check.
func (f *Options) writeProof(session *source.Session, out *prove.Proof) error {
	q, s := &f.Query, f.Environment.Streams
	if !q.Output.IsForCI() {
		return q.Output.Write(s, session, "", out, &out.Envelope)
	}
	if err := q.Output.SetProgramFacts(f.Environment.Build); err != nil {
		return err
	}
	findings, rules := check.ProofFindings(session.Resolution, out)
	made := check.ReportOf("kubectl dopolicy prove", findings, nil, session.Snapshot.CountRead(), rules)
	made.FailOn = check.Threshold(model.Error) // spellings, which are warnings, do not change the result
	return q.Output.WriteOnly(s, session, "", made, &made.Envelope)
}

// errNothingProved is what `prove` returns where no request that is asked about gets through.
var errNothingProved = failure.NoAnswer("nothing is proved", "check the hosts, paths and methods that are asked about")

// errUnproved is what `prove` returns where the answer, which is written, is that it is not known.
var errUnproved = failure.NoAnswer("neither proved nor refuted", "the answer says what is not known")
