package cli

import (
	"fmt"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
	"github.com/spf13/cobra"
)

// question is what all commands about targets have in common.
type question struct {
	sourceFlags
	outputFlags
	labels   string
	showNone bool
	scope    []string // how `overridden` names what was asked about, where the answer alone does not tell
}

func (q *question) add(cmd *cobra.Command, formats ...string) {
	q.sourceFlags.add(cmd)
	q.outputFlags.add(cmd, formats)
	cmd.PreRunE = func(*cobra.Command, []string) error { return q.check() }
}

func (q *question) addLabels(cmd *cobra.Command) {
	cmd.Flags().StringVarP(&q.labels, "selector", "l", "", "ask about objects with these labels")
}

// query reads the arguments into a view's query; typed is the target as it can be named again.
func (q *question) query(s *session, args []string) (query view.Query, typed string, err error) {
	sel, err := parseSelector(q.labels)
	if err != nil {
		return query, "", err
	}
	if len(args) > 0 && q.labels != "" {
		return query, "", usage("drop one of the two", "a name and a selector cannot be given together")
	}
	var ref model.Ref
	if query.Targets, ref, err = s.targets(args, sel); err != nil {
		return query, "", err
	}
	if query.Kinds, err = s.kinds(); err != nil {
		return query, "", err
	}
	if len(args) > 0 || !sel.empty() {
		query.Through = s.ways(query.Targets)
	}
	if query.Through != nil && ref.Name != "" {
		q.scope = []string{"--target", typedRef(ref)}
		if ref.Namespace != "" {
			q.scope = append(q.scope, "-n", ref.Namespace)
		}
	}
	query.ShowNone = q.showNone
	return query, typedRef(ref), nil
}

// typedRef names an object as the command line takes it.
func typedRef(ref model.Ref) string {
	if ref.Name == "" {
		return ""
	}
	s := lowerKind(ref) + "/" + ref.Name
	if ref.Section != "" {
		s += "/" + ref.Section
	}
	return s
}

func (a App) effectiveCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "effective [TARGET] -f FILE",
		Short: "Show the policies in force, per route rule, with the source of every setting",
		Long: `Show the effective policies of a route, a rule, a gateway, a listener or a backend, or of everything.

TARGET is [KIND/]NAME[/SECTION] or KIND NAME. Without a kind, routes are looked up. A section is a listener, a rule's name,
rule-N (counted from 1) for an unnamed rule, or a Service port.`,
		Example: `  # every rule of one route
  kubectl dopolicy effective baker -f manifests/

  # one rule, as YAML
  kubectl dopolicy effective httproute/baker/rule-2 -f manifests/ -o yaml

  # everything, only rate limits
  kubectl dopolicy effective -A -f manifests/ --policy-kind ratelimitpolicy`,
		Args: takes(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			query, typed, err := q.query(session, args)
			if err != nil {
				return err
			}
			list := view.Effective(session.Resolution, query)
			return q.write(s, session, typed, list, &list.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "tree", "yaml", "json", "name")
	q.addLabels(cmd)
	q.addTable(cmd)
	cmd.Flags().BoolVar(&q.showNone, "show-none", false, "also show targets on which no policy is in force")
	cmd.Flags().BoolVar(&q.byRule, "by-rule", false, "one line per rule, even where several rules have the same answer")
	return cmd
}

func (a App) reachCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "reach POLICY[/RULE] -f FILE",
		Short: "Show where a policy, or one rule of it, is in force and where it is not",
		Long: `Show every gateway, route and rule below a policy's targets, and what became of the policy there.

POLICY is [KIND/]NAME[/RULE]. A rule is named as 'effective' prints it, or by any unambiguous ending of that name.`,
		Example: `  # where is this policy in force?
  kubectl dopolicy reach gw-auth -f manifests/

  # where is one rule of it?
  kubectl dopolicy reach authpolicy/gw-auth/geo -f manifests/`,
		Args: takes(1, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			named, err := session.policy(args[0])
			if err != nil {
				return err
			}
			reach := view.Reach(session.Resolution, named.kind, named.policy, named.rule)
			return q.write(s, session, args[0], reach, &reach.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name")
	q.addTable(cmd)
	return cmd
}

func (a App) overriddenCmd(s Streams) *cobra.Command {
	q := &question{}
	var target string
	cmd := &cobra.Command{
		Use:   "overridden [POLICY[/RULE]] [--target TARGET] -f FILE",
		Short: "Show which settings lost, to whom and why",
		Long:  `Show the settings that are not in force although a policy sets them: of one policy, at one target, or all.`,
		Example: `  # what did this route lose on the way?
  kubectl dopolicy overridden --target httproute/baker -f manifests/

  # where did this policy lose, and to whom?
  kubectl dopolicy overridden gw-auth -f manifests/`,
		Args: takes(0, 1),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			var named namedPolicy
			if len(args) > 0 {
				if named, err = session.policy(args[0]); err != nil {
					return err
				}
			}
			query, typed, err := overriddenQuery(q, session, target, len(args) > 0)
			if err != nil {
				return err
			}
			list := view.Overridden(session.Resolution, query, named.policy, named.rule)
			return q.write(s, session, typed, list, &list.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name")
	q.addTable(cmd)
	cmd.Flags().StringVar(&target, "target", "", "only what lost at this target, as [KIND/]NAME[/SECTION]")
	return cmd
}

// overriddenQuery asks about the target, if one is given. A policy by itself is asked about everywhere: -n found the policy.
func overriddenQuery(q *question, s *session, target string, named bool) (view.Query, string, error) {
	var args []string
	if target != "" {
		args = []string{target}
	}
	query, typed, err := q.query(s, args)
	if named && target == "" {
		query.Targets = nil
	}
	return query, typed, err
}

func (a App) explainCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "explain TARGET [RULE] -f FILE",
		Short: "Show the fold step by step",
		Long: `Show how the policies on the way to a target were merged, most specific first: every step with its strategy and
condition, what it took and what lost. With a RULE, named as 'effective' prints it or by any unambiguous ending
of that name, only what concerns it.`,
		Example: `  # the whole fold
  kubectl dopolicy explain baker/rule-1 -f manifests/

  # one setting of it
  kubectl dopolicy explain baker/rule-1 limits.cap -f manifests/`,
		Args: takes(1, 3),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			target, rule := splitExplain(session, args)
			query, typed, err := q.query(session, target)
			if err != nil {
				return err
			}
			if rule != "" {
				if rule, err = pickRule(view.RuleNames(session.Resolution, query), rule, typed); err != nil {
					return err
				}
			}
			out := view.Explain(session.Resolution, query, rule)
			return q.write(s, session, typed, out, &out.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json")
	q.addTable(cmd)
	return cmd
}

// splitExplain tells TARGET RULE from KIND NAME [RULE].
func splitExplain(s *session, args []string) (target []string, rule string) {
	if _, isKind := s.findKind(args[0]); isKind && len(args) > 1 {
		target, args = args[:2], args[2:]
	} else {
		target, args = args[:1], args[1:]
	}
	if len(args) > 0 {
		rule = args[0]
	}
	return target, rule
}

func (a App) graphCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "graph [TARGET] -f FILE",
		Short: "Draw the targets, the policies on them and where each is in force",
		Long: `Draw the gateways, listeners, routes, rules and backends with the policies attached to them. Edges tell where a policy is
in force, partly in force or overridden. With a TARGET, only what is above and below it.`,
		Example: `  # a picture of everything
  kubectl dopolicy graph -f manifests/ -o dot | dot -Tsvg > policies.svg`,
		Args: takes(0, 2),
		RunE: func(cmd *cobra.Command, args []string) error {
			session, err := q.open(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			query, typed, err := q.query(session, args)
			if err != nil {
				return err
			}
			graph := view.Graph(session.Resolution, query)
			return q.write(s, session, typed, graph, &graph.Envelope)
		},
	}
	q.add(cmd, "dot", "json", "yaml", "table")
	q.addLabels(cmd)
	return cmd
}

func (a App) kindsCmd(s Streams) *cobra.Command {
	q := &question{}
	cmd := &cobra.Command{
		Use:   "kinds [-f FILE]",
		Short: "List the policy kinds: the built-in ones, the user's, and those found in the input",
		Example: `  # which kinds are known, and how each is read
  kubectl dopolicy kinds -o wide

  # which of them, and which others, are in these manifests
  kubectl dopolicy kinds -f manifests/`,
		Args: takes(0, 0),
		RunE: func(cmd *cobra.Command, _ []string) error {
			session, err := q.openKinds(cmd.Context(), a.Plugins, s)
			if err != nil {
				return err
			}
			only, err := session.kinds()
			if err != nil {
				return err
			}
			list := view.Kinds(session.Resolution, only)
			return q.write(s, session, "", list, &list.Envelope)
		},
	}
	q.add(cmd, "table", "wide", "yaml", "json", "name")
	return cmd
}

func (a App) versionCmd(s Streams) *cobra.Command {
	return &cobra.Command{
		Use: "version", Short: "Print the version", Args: takes(0, 0),
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintln(s.Out, "kubectl dopolicy", a.Version)
			return err
		},
	}
}
