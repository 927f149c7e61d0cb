package request

import (
	"cmp"
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/source"
	"github.com/dopolicy/kubectl-dopolicy/pkg/ingress"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/topology"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

const requestLong = `Show which listener, route, rule and backends serve a request, why this rule comes before every other rule
that matches, and the policies in force on that path. Nothing is sent.

Behind the Gateway the request is followed to the workloads of each backend: policies of the network at both ends, waypoints,
and the proxies of a mesh are judged with what each of them sees, one line each. A policy that the request does not meet
there is bypassed, and the line says why. The verdict is that of all points together.

The URL gives the host and port to connect to; the host is also used as Host header and TLS server name unless
-H 'Host: …' or --sni say otherwise. An outcome that the manifests do not determine is reported as Conditional.

If several Gateways have a listener for the request, each has an answer. If nothing takes it, near misses are named: the
rule or listener that only the method, a header, a query parameter, the path, the host or the port kept from it.

--expect says what the answer has to be. The exit code is 1 unless all expectations are met, at every Gateway.
  200, allowed      a rule takes it, all its backends are usable, and no policy is known to deny it, at any point. Whether
                    credentials suffice at the Gateway, and what the backend answers, is not judged.
  404, no-match     nothing takes it; 404 only where a Gateway answers with that status
  301, 421, 500 …   a status that the Gateway itself answers with
  denied            a policy denies it for certain
  policy=KIND/[NAMESPACE/]NAME
                    the policy is in force on the way
An expectation that cannot be decided is not met, and the answer says why.

With --requests-file, every line of the file is one request, written like the arguments and flags of this command or as a
curl command, with --expect where something is expected; lines that start with # are comments. --gateway, --listener and
--expect hold for every line; of the first two, a line may name its own.

If the input has Ingresses and no Gateway, or with --ingress CLASS, the answer is that of the proxy of the Ingresses: which path
takes the request, what refuses or redirects it and why, and what the backend gets. --client-ip, --client-cert, --body-bytes
and --repeat say what address lists, client certificates and limits look at; --assume what others answer: that a password is
accepted, or with which status an authentication service answers.

With --from and a URL, the request is one of that pod: to the Service that the host names, else through a Gateway.

With --from and --to, show whether policies allow a connection between two pods, and which entry of which policy
decides at each end. A Deployment, StatefulSet or similar workload stands in for pods that are not in the input.`

const requestExample = `  # where does this request go, and which policies apply?
  kubectl dopolicy request GET https://shop.example.com/cart -H 'x-team: blue' -f manifests/

  # in CI: is it served, protected by this policy, and nothing else exposed?
  kubectl dopolicy request https://shop.example.com/cart --expect 200 --expect policy=authpolicy/gw-auth -f manifests/
  kubectl dopolicy request -X DELETE https://shop.example.com/admin --expect 404 -f manifests/

  # a gRPC call, and a pasted curl command
  kubectl dopolicy request http://api.example.com --grpc shop.Cart/Add -f manifests/
  kubectl dopolicy request --curl "curl -X POST https://shop.example.com/cart" -f manifests/

  # to Ingresses of class public, from this address, if the authentication service lets it pass
  kubectl dopolicy request https://shop.example.com/admin --ingress public --client-ip 192.0.2.7 \
    --assume external=200 -f manifests/

  # a mesh request, from a client in namespace web
  kubectl dopolicy request http://cart.shop:8080/ --from-namespace web

  # the same from a pod, with the points on its way
  kubectl dopolicy request http://cart.shop:8080/ --from web/frontend-0

  # may this pod connect to that one?
  kubectl dopolicy request --from shop/web-0 --to pay/db-0 --protocol TCP --port 5432 -f manifests/`

// Options are what the flags and arguments of the command say: one of a request, a
// connection and a file of requests.
type Options struct {
	Environment  run.Environment
	Args         []string
	Query        command.Query
	Request      requestline.Request
	Connection   Connection
	Curl         string // a curl command
	RequestsFile string // one request a line
	Sequence     bool   // they are sent one after the other, so that limits count them together
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:     "request [METHOD] URL",
		Short:   "Show which route and rule take a request, why, and which policies are in force for it",
		Long:    requestLong,
		Example: requestExample,
		Args:    command.CheckArguments(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "ndjson", "name")
	o.Query.Output.AddTableFlags(cmd)
	o.Request.Flags.AddFlags(cmd.Flags())
	cmd.Flags().Lookup("assume").Usage = requestline.AssumeUsage
	o.Connection.addFlags(cmd.Flags())
	requestline.AddCurlFlag(cmd.Flags(), &o.Curl)
	cmd.Flags().StringVar(&o.RequestsFile, "requests-file", "",
		"file with one request per line, or - for standard input")
	cmd.Flags().BoolVar(&o.Sequence, "sequence", false,
		"with --requests-file: the requests are sent one after the other at once, so that limits count them together")
	completion.AddRequestFlags(cmd, o.Environment, &o.Query.Source)
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source, nil)
	return cmd
}

// Run answers.
func Run(ctx context.Context, o *Options) error {
	o.Request.Flags.Assume = o.Query.Source.CutAssumptions()
	if err := o.Request.Flags.CheckExpectations(); err != nil {
		return err
	}
	if o.Connection.isGiven(o.Request.Flags.Client, len(o.Args) > 0 || o.Curl != "" || o.RequestsFile != "") {
		if err := o.Connection.checkFlags(&o.Request, o.Args, o.Curl != "" || o.RequestsFile != ""); err != nil {
			return err
		}
		return o.answerConnection(ctx)
	}
	if o.RequestsFile != "" {
		return o.answerRequests(ctx)
	}
	if o.Sequence {
		return failure.Usage("add --requests-file, or use --repeat", "--sequence is of the requests of a file")
	}
	if err := o.Request.ReadTyped(o.Args, o.Curl); err != nil {
		return err
	}
	return o.answerRequest(ctx)
}

// openWithKinds reads the input, and finds the policy kinds that the flags name.
func (o *Options) openWithKinds(ctx context.Context) (*source.Session, []model.GroupKind, error) {
	o.Query.Source.Points = true
	o.Query.Source.Workloads = o.Query.Source.Workloads || o.Request.Flags.Client != ""
	session, err := o.Query.Source.Open(ctx, o.Environment)
	if err != nil {
		return nil, nil, err
	}
	kinds, err := session.SelectedKinds()
	return session, kinds, err
}

// answerRequest answers one request.
func (o *Options) answerRequest(ctx context.Context) error {
	q, s, one := &o.Query, o.Environment.Streams, &o.Request
	session, kinds, err := o.openWithKinds(ctx)
	if err != nil {
		return err
	}
	matcher := requestline.NewMatcher(session)
	answers, err := matcher.AnswerWithExpectations(one)
	if err != nil {
		return err
	}
	if err := matcher.AddSpellingProblems(one, answers); err != nil {
		return err
	}
	if len(answers) > 1 {
		out := session.RequestAtEach(answers, kinds)
		if err := q.Output.Write(s, session, "", out, &out.Envelope); err != nil {
			return err
		}
		return q.Output.ReportUnmet(s, out.Unmet())
	}
	out := session.Request(answers[0], kinds)
	if rule := answers[0].Answer.Rule; rule != topology.None {
		q.Output.Scope = overriddenArgs(session.Node(rule).Ref)
	}
	if err := q.Output.Write(s, session, "", out, &out.Envelope); err != nil {
		return err
	}
	return q.Output.ReportUnmet(s, out.Unmet())
}

// overriddenArgs returns the arguments that name a rule to `overridden`.
func overriddenArgs(rule model.Ref) []string {
	return []string{"--target", rule.String()}
}

// answerRequests answers the requests of a file. What is expected by flags is expected of all of
// them, besides what their lines say; the Gateway and the listener of flags are those of all lines that
// name none.
func (o *Options) answerRequests(ctx context.Context) error {
	q, s := &o.Query, o.Environment.Streams
	if len(o.Args) > 0 || o.Curl != "" {
		return failure.Usage("drop one of the two", "--requests-file and a request cannot be given together")
	}
	if flag := o.Request.Flags.FindRequestFlag(); flag != "" {
		return failure.Usage("write it in the lines of the file", "--%s is of one request, and --requests-file has several", flag)
	}
	all, err := requestline.ReadFile(o.RequestsFile, s.In)
	if err != nil {
		return err
	}
	session, kinds, err := o.openWithKinds(ctx)
	if err != nil {
		return err
	}
	matcher := requestline.NewMatcher(session)
	if o.Sequence {
		matcher.Spent = &ingress.Spent{}
	}
	answers := make([]requests.ExpectedAnswer, 0, len(all))
	for i := range all {
		all[i].Flags.Expect = append(slices.Clone(o.Request.Flags.Expect), all[i].Flags.Expect...)
		all[i].Flags.Gateway = cmp.Or(all[i].Flags.Gateway, o.Request.Flags.Gateway)
		all[i].Flags.Ingress = cmp.Or(all[i].Flags.Ingress, o.Request.Flags.Ingress)
		all[i].Flags.Listener = cmp.Or(all[i].Flags.Listener, o.Request.Flags.Listener)
		found, err := matcher.AnswerWithExpectations(&all[i])
		if err != nil {
			return requestline.LocateError(all[i].Origin, err)
		}
		if err := matcher.AddSpellingProblems(&all[i], found); err != nil {
			return err
		}
		answers = append(answers, found...)
	}
	out := session.Requests(answers, kinds)
	if err := q.Output.Write(s, session, "", out, &out.Envelope); err != nil {
		return err
	}
	return q.Output.ReportUnmet(s, out.Unmet())
}
