package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/audit"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/describe"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/diff"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/effective"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/explain"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/fleet"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/graph"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/help"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/history"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/kinds"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/matrix"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/mcp"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/overridden"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/prove"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/publish"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/reach"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/report"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/request"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/snapshot"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/status"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/version"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/why"
)

// commandConstructor makes one command. Each command has dozens of flags: making all of them takes
// longer than some commands run.
type commandConstructor struct {
	name      string
	group     string // of help
	construct func(run.Environment) *cobra.Command
	synonyms  []string // what other programs call it, and people try
}

// The groups of commands in help, in their order.
const (
	groupAsk      = "ask"
	groupChange   = "change"
	groupCluster  = "cluster"
	groupPictures = "pictures"
)

// commandGroups are the groups with their titles.
func commandGroups() []*cobra.Group {
	return []*cobra.Group{{ID: groupAsk, Title: "Ask"}, {ID: groupChange, Title: "Change"},
		{ID: groupCluster, Title: "Cluster"}, {ID: groupPictures, Title: "Pictures"}}
}

// commandConstructors lists the constructors of all commands but those that cobra adds, as help
// lists them.
func commandConstructors() []commandConstructor {
	return []commandConstructor{
		{"why", groupAsk, why.NewCommand, []string{"status-code", "error"}},
		{"effective", groupAsk, effective.NewCommand, []string{"get", "show", "policies", "settings", "tree"}},
		{"request", groupAsk, request.NewCommand, []string{"trace", "curl", "match", "simulate", "http"}},
		{"reach", groupAsk, reach.NewCommand, []string{"where", "scope", "affects"}},
		{"matrix", groupAsk, matrix.NewCommand, []string{"list", "ls", "who", "table", "missing"}},
		{"overridden", groupAsk, overridden.NewCommand, []string{"lost", "losses", "conflicts", "overrides"}},
		{"explain", groupAsk, explain.NewCommand, []string{"merge"}},
		{"describe", groupAsk, describe.NewCommand, []string{"inspect", "info", "summary"}},
		{"diff", groupChange, diff.NewCommand, []string{"compare", "plan", "apply", "delete", "preview"}},
		{"check", groupChange, check.NewCommand, []string{"lint", "validate", "verify", "analyze", "test"}},
		{"prove", groupChange, prove.NewCommand, []string{"assert", "ensure", "proof"}},
		{"history", groupChange, history.NewCommand, []string{"blame", "log", "changes", "when"}},
		{"status", groupCluster, status.NewCommand, []string{"list", "ls", "conditions", "accepted"}},
		{"audit", groupCluster, audit.NewCommand, []string{"drift", "dataplane"}},
		{"publish", groupCluster, publish.NewCommand, []string{"share"}},
		{"snapshot", groupCluster, snapshot.NewCommand, []string{"dump", "save", "export"}},
		{"graph", groupPictures, graph.NewCommand, []string{"draw", "dot", "picture", "topology"}},
		{"report", groupPictures, report.NewCommand, []string{"html", "page", "serve", "web"}},
		{"kinds", "", kinds.NewCommand, []string{"api-resources", "crds"}},
		{"mcp", "", mcp.NewCommand, []string{"agent", "ai", "llm", "assistant"}},
		{"options", "", newOptionsCommand, []string{"flags"}},
		{"version", "", version.NewCommand, nil},
	}
}

// commandNames are the names of all commands, as help lists them.
func commandNames() []string {
	var out []string
	for _, m := range commandConstructors() {
		out = append(out, m.name)
	}
	return out
}

// newOptionsCommand makes the command that lists the flags which all commands have.
func newOptionsCommand(env run.Environment) *cobra.Command {
	return help.NewOptionsCommand(env, func() *cobra.Command {
		return buildCommandTree(env, []string{"effective"}, nil).Commands()[0]
	})
}

// buildCommandTree returns the root command with only the command that a command line begins with.
// If the line begins with no command, or with one of cobra's own, all commands are there: help and
// completion list them, and misspelt words are compared with them.
func buildCommandTree(env run.Environment, line []string, m *fleet.Member) *cobra.Command {
	makers := commandConstructors()
	if len(line) > 0 {
		if i := slices.IndexFunc(makers, func(m commandConstructor) bool { return m.name == line[0] }); i >= 0 {
			makers = makers[i : i+1]
		}
	}
	root := newRootCommand(env)
	help.Install(root, env.Streams, commandNames())
	for _, maker := range makers {
		cmd := maker.construct(env)
		cmd.DisableFlagsInUseLine = true
		cmd.GroupID, cmd.SuggestFor = maker.group, maker.synonyms
		if slices.Contains(fleet.Commands(), maker.name) {
			fleet.AddFlags(cmd, env, m, line, func(env run.Environment,
				m *fleet.Member) *cobra.Command {
				return buildCommandTree(env, line, m)
			})
		}
		root.AddCommand(cmd)
	}
	return root
}
