package why

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/command"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/completion"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/failure"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/requestline"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view/requests"
)

const long = `Show where the status of an answer may come from: how the request gets to its rule and backend, and which policy, or
which rule of the route, may answer with that status, with its setting and where that is written. If nothing that was
read does, the answer says why, and where else the status may come from. Nothing is sent.

STATUS is a number from 300 to 599, or redirect. It and the URL may come in any order, with a method before the URL.
Credentials are not judged: a policy that asks for a token may answer 401 to an invalid one. What cannot be told, because an object
is forbidden or not understood, is listed as not known.

The exit code is 0 also where nothing answers with the status, and 3 where the input cannot be read.`

const example = `  # why do I get 401 here?
  kubectl dopolicy why 401 https://shop.example.com/cart

  # the same for a POST with a token, from manifests
  kubectl dopolicy why 403 POST https://shop.example.com/cart -H 'authorization: Bearer abc' -f manifests/

  # no route, no backend, too many requests, or sent elsewhere?
  kubectl dopolicy why 404 https://shop.example.com/carts
  kubectl dopolicy why 503 https://shop.example.com/cart
  kubectl dopolicy why 429 https://shop.example.com/cart
  kubectl dopolicy why redirect http://shop.example.com/

  # of a pasted curl command
  kubectl dopolicy why 401 --curl "curl -X POST https://shop.example.com/cart"`

// Options are what the flags and arguments of the command say.
type Options struct {
	Environment run.Environment
	Args        []string
	Query       command.Query
	Request     requestline.Request
	Curl        string // a curl command
}

// NewCommand makes the command.
func NewCommand(env run.Environment) *cobra.Command {
	o := &Options{Environment: env}
	cmd := &cobra.Command{
		Use:     "why STATUS [METHOD] URL",
		Short:   "Show which policy or rule may answer a request with 401, 403, 404, 429, 503, …",
		Long:    long,
		Example: example,
		Args:    command.CheckArguments(0, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			o.Args = args
			return Run(cmd.Context(), o)
		},
	}
	o.Query.AddFlags(cmd, "table", "wide", "yaml", "json", "name")
	o.Request.Flags.AddRequestFlags(cmd.Flags())
	requestline.AddCurlFlag(cmd.Flags(), &o.Curl)
	completion.AddRequestFlags(cmd, o.Environment, &o.Query.Source)
	completion.AddToCommand(cmd, o.Environment, &o.Query.Source, nil)
	cmd.ValidArgsFunction = func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return completion.Filter(askedOften(), typed)
	}
	return cmd
}

// askedOften are the statuses that people ask about most, for completion.
func askedOften() []string {
	return []string{"401", "403", "404", "429", "500", "502", "503", "504", requests.StatusRedirect}
}

// Run answers.
func Run(ctx context.Context, o *Options) error {
	status, err := o.readArguments()
	if err != nil {
		return err
	}
	q, s := &o.Query, o.Environment.Streams
	q.Source.Points = true
	session, err := q.Source.Open(ctx, o.Environment)
	if err != nil {
		return err
	}
	kinds, err := session.SelectedKinds()
	if err != nil {
		return err
	}
	matcher := requestline.NewMatcher(session)
	answers, err := matcher.AnswerWithExpectations(&o.Request)
	if err != nil {
		return err
	}
	if p := answers[0].Answer.Request.Protocol; p != request.HTTP && p != request.GRPC {
		return failure.Usage("use `kubectl dopolicy request` for a connection", "a %s connection has no status", p)
	}
	for i := range answers {
		answers[i].Status = status
	}
	if len(answers) > 1 {
		out := session.RequestAtEach(answers, kinds)
		return q.Output.Write(s, session, "", out, &out.Envelope)
	}
	out := session.Request(answers[0], kinds)
	return q.Output.Write(s, session, "", out, &out.Envelope)
}

// usage shows how the command is written.
const usage = "write: kubectl dopolicy why 401 https://shop.example.com/cart"

// readArguments reads the status and the request, in whichever order they come.
func (o *Options) readArguments() (status string, err error) {
	var rest []string
	for _, arg := range o.Args {
		is, err := isStatus(arg)
		switch {
		case err != nil:
			return "", err
		case is && status != "":
			return "", failure.Usage("ask about one of them", "%s and %s cannot be asked about together", status, arg)
		case is:
			status = strings.ToLower(arg)
		default:
			rest = append(rest, arg)
		}
	}
	switch {
	case status == "":
		return "", failure.Usage(usage, "a status is required: 401, 403, 404, 429, 500, 503, …, or redirect")
	case len(rest) == 0 && o.Curl == "":
		return "", failure.Usage(usage, "a URL is required")
	case len(rest) > 2:
		return "", failure.Usage(usage, "unexpected argument %q", rest[2])
	case len(rest) == 2 && strings.Contains(rest[0], "/") && !strings.Contains(rest[1], "/"):
		slices.Reverse(rest) // the method behind the URL
	}
	return status, o.Request.ReadTyped(rest, o.Curl)
}

// isStatus reports whether a word is a status. Those that only a backend gives are refused.
func isStatus(word string) (bool, error) {
	if strings.EqualFold(word, requests.StatusRedirect) {
		return true, nil
	}
	n, err := strconv.Atoi(word)
	switch {
	case err != nil:
		return false, nil
	case n >= 300 && n <= 599:
		return true, nil
	case n >= 100 && n < 300:
		return false, failure.Usage("to see what is in force for the request: kubectl dopolicy request URL",
			"cannot ask why %d: only a backend answers with it", n)
	}
	return false, failure.Usage("use a number from 300 to 599, or redirect", "%s is no status of HTTP", word)
}
