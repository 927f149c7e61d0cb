package cli

import (
	"context"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/plugin"
	"github.com/dopolicy/kubectl-dopolicy/pkg/space"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// proofFlags say which requests are asked about, and what has to hold for them.
type proofFlags struct {
	hosts, paths, methods, headers, require []string
	gateway, listener                       string
	ofNamespace                             bool // only requests that routes of the namespace take
}

const proveLong = `Prove that every request that reaches a backend meets a policy, or show a request that does not.

All requests that can come to the Gateways are asked about: whatever host, path, method, header and query parameter. They
are split into classes that no route rule tells apart, each class is answered as 'request' would, and the policies in force
on its way are held against --require. The answer is one of
  proved    it holds for every class
  refuted   it does not hold; the smallest request of each rule that takes such requests is shown as a curl command
  unknown   something that could change the result is not known: a match that cannot be evaluated, routes of which only
            names decide which comes first, an input that is incomplete
Requests that no rule takes, that are redirected, or that no backend can be used for reach nothing, and need no policy. A policy
of the kind that denies the request counts.

Paths are those that data planes compare. With --paths or --hosts, other spellings of them (//admin, /%61dmin) are listed that
reach the same backend without the policy. What a policy
decides about credentials, bodies and client addresses is not either: the policy is in force, that is all.

With -n or -l, only requests are asked about that routes of the namespace, or with the labels, take.

The exit code is 0 if it is proved, 1 if it is refuted and 3 if it is unknown.`

const proveExample = `  # is no request to /admin ever without authentication, whatever route takes it?
  kubectl dopolicy prove --paths '/admin/**' --require AuthPolicy -f manifests/

  # at one host, for methods that change something
  kubectl dopolicy prove --hosts shop.example.com --methods POST,PUT,DELETE --require AuthPolicy -f manifests/

  # with a header that clients can set, and without it
  kubectl dopolicy prove --headers x-probe=1 --require AuthPolicy -f manifests/
  kubectl dopolicy prove --headers '!x-probe' --require AuthPolicy -f manifests/

  # everything that comes through one Gateway
  kubectl dopolicy prove --gateway infra/external --require AuthPolicy -A`

func proveCmd(a App, s Streams) *cobra.Command {
	q, f := &question{}, &proofFlags{}
	cmd := &cobra.Command{
		Use:     "prove --require KIND",
		Short:   "Prove that every request meets a policy, or show one that does not",
		Long:    proveLong,
		Example: proveExample,
		Args:    takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			f.ofNamespace = cmd.Flags().Changed("namespace")
			return prove(cmd.Context(), a, q, s, f)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "ndjson")
	q.addTable(cmd)
	fs := cmd.Flags()
	fs.StringSliceVar(&f.require, "require", nil, "policy kind of which a policy has to be in force (repeatable: one of them)")
	fs.StringSliceVar(&f.paths, "paths", nil, "only these paths: /admin alone, '/admin/**' with all below it, '/api/*/admin' with any element (default: all)")
	fs.StringSliceVar(&f.hosts, "hosts", nil, "only these hosts; '*.example.com' is all below example.com (default: all)")
	fs.StringSliceVar(&f.methods, "methods", nil, "only these methods (default: all)")
	fs.StringArrayVar(&f.headers, "headers", nil, "only requests with this header, as name=value, or without it, as '!name' (repeatable: all of them)")
	fs.StringVar(&f.gateway, "gateway", "", "only this Gateway, as [NAMESPACE/]NAME (default: all)")
	fs.StringVar(&f.listener, "listener", "", "only listeners with this name")
	fs.StringVarP(&q.labels, "selector", "l", "", "only requests that routes with these labels take")
	a.completion(cmd, &q.sourceFlags, s, nil)
	completeFlag(cmd, "gateway", a.propose(&q.sourceFlags, s, (*sourceFlags).open, inFlag(gatewayWords)))
	return cmd
}

// prove is the whole of the command.
func prove(ctx context.Context, a App, q *question, s Streams, f *proofFlags) error {
	if len(f.require) == 0 {
		return usage("say which kind of policy has to be in force: --require AuthPolicy", "--require is missing")
	}
	query, err := f.query()
	if err != nil {
		return err
	}
	sel, err := parseSelector(q.labels)
	if err != nil {
		return err
	}
	session, err := q.open(ctx, a.Plugins, s)
	if err != nil {
		return err
	}
	for _, name := range f.require {
		kinds := session.policyKind(name)
		if kinds == nil {
			return session.unknownPolicyKind(name)
		}
		for _, k := range kinds {
			query.Require = append(query.Require, k.Resolved().GroupKind)
		}
	}
	if f.ofNamespace || !sel.empty() {
		if f.ofNamespace {
			if err := (selection{session}).known(); err != nil {
				return err
			}
			query.Asked += " taken by routes of namespace " + q.namespace
		}
		query.Routes = func(o *model.Object) bool {
			return (!f.ofNamespace || session.inNamespace(o.Ref)) && sel.matches(o)
		}
	}
	if !sel.empty() {
		query.Asked += " taken by routes with labels " + q.labels
	}
	matcher := session.matcher()
	if f.gateway != "" {
		if query.Scope.Where.Gateway, err = matcher.gateway(f.gateway); err != nil {
			return err
		}
	}
	out, err := view.Prove(session.Resolution, matcher.Matcher, query, plugin.Evaluators(a.Plugins))
	if err != nil {
		return err
	}
	if out.Spellings, out.MoreSpellings, err = view.Spellings(session.Resolution, matcher.Matcher, query, plugin.Evaluators(a.Plugins)); err != nil {
		return err
	}
	if err := q.write(s, session, "", out, &out.Envelope); err != nil {
		return err
	}
	switch out.Result {
	case view.Refuted:
		return errFindings
	case view.ProofUnknown:
		return errUnproved
	}
	return nil
}

// query reads the flags.
func (f *proofFlags) query() (view.ProofQuery, error) {
	q := view.ProofQuery{Scope: space.Scope{Where: space.Everywhere(), Hosts: f.hosts, Paths: f.paths}}
	q.Scope.Where.Listener = f.listener
	asked := func(what string, list []string) {
		if len(list) > 0 {
			q.Asked += " " + what + " " + strings.Join(list, ", ")
		}
	}
	for _, host := range f.hosts {
		if host == "" || strings.ContainsAny(host, ":/ ") || strings.Contains(strings.TrimPrefix(host, "*"), "*") || strings.HasPrefix(host, "*") && host != "*" && !strings.HasPrefix(host, "*.") {
			return q, usage("write hosts as shop.example.com or '*.example.com'", "%q is not a host", host)
		}
	}
	for _, path := range f.paths {
		if !strings.HasPrefix(path, "/") || strings.ContainsAny(path, "?# ") {
			return q, usage("write paths as /admin or '/admin/**'", "%q is not a path", path)
		}
	}
	for _, m := range f.methods {
		q.Scope.Methods = append(q.Scope.Methods, strings.ToUpper(m))
	}
	for _, text := range f.headers {
		name, value, given := strings.Cut(text, "=")
		bare, absent := strings.CutPrefix(name, "!")
		h := space.Header{Name: strings.ToLower(bare), Value: value, Absent: absent}
		switch {
		case bare == "", given == absent, strings.TrimSpace(value) != value:
			return q, usage("write --headers name=value, or --headers '!name'", "%q is not a header and its value", text)
		case h.Name == "host":
			return q, usage("use --hosts", "hosts are no headers here")
		case slices.ContainsFunc(q.Scope.Headers, func(o space.Header) bool { return o.Name == h.Name }):
			return q, usage("give each header once", "header %s is given twice", h.Name)
		}
		q.Scope.Headers = append(q.Scope.Headers, h)
	}
	asked("to", f.hosts)
	asked("on paths", f.paths)
	asked("with method", q.Scope.Methods)
	asked("with headers", f.headers)
	if f.gateway != "" {
		q.Asked += " through Gateway " + f.gateway
	}
	if f.listener != "" {
		q.Asked += " at listener " + f.listener
	}
	return q, nil
}

// errUnproved is what `prove` returns where the answer, which is written, is that it is not known.
var errUnproved = &noAnswer{"neither proved nor refuted", "the answer says what is not known"}
