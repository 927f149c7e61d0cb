// Command docgen writes what is generated under docs: the command reference from the command tree,
// and the JSON Schemas of the answers from their structs, and the tables of vendors and settings.
// With -check it writes nothing and fails if a page is not up to date.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli"
	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/help"
	"github.com/dopolicy/kubectl-dopolicy/plugins"
)

func main() {
	check := flag.Bool("check", false, "only report pages that are not up to date")
	dir := flag.String("dir", "docs", "folder of the documentation")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	blocks, err := blocks(dir)
	if err != nil {
		return err
	}
	pages, err := pagesWith(dir, blocks)
	if err != nil {
		return err
	}
	made, err := files()
	if err != nil {
		return err
	}
	maps.Copy(pages, made)
	if pages["findings.md"], err = findingsPage(); err != nil {
		return err
	}
	var stale []string
	for name, text := range pages {
		file := filepath.Join(dir, name)
		if old, err := os.ReadFile(file); err == nil && bytes.Equal(old, text) {
			continue
		}
		if check {
			stale = append(stale, file)
			continue
		}
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return err
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("not up to date (make docs): %s", strings.Join(stale, ", "))
	}
	return nil
}

// Pages makes every page, by file name.
func Pages() map[string][]byte {
	root := cli.App{Plugins: plugins.All()}.Command(cli.Streams{In: strings.NewReader(""), Out: io.Discard,
		Err:       io.Discard,
		LookupEnv: func(string) (string, bool) { return "", false }})
	root.InitDefaultCompletionCmd()
	pages := map[string][]byte{}
	var index bytes.Buffer
	fmt.Fprintf(&index, "# Command reference\n\nGenerated from the program.\n\n| command | what it does |\n|---|---|\n")
	for _, cmd := range root.Commands() {
		if cmd.Hidden || !cmd.IsAvailableCommand() {
			continue
		}
		for _, cmd := range append([]*cobra.Command{cmd}, ownSubcommands(cmd)...) {
			name, file := words(cmd), pageName(cmd)
			fmt.Fprintf(&index, "| [%s](%s) | %s |\n", name, file, cmd.Short)
			pages[file] = page(cmd)
		}
	}
	pages["README.md"] = index.Bytes()
	return pages
}

// ownSubcommands are those that have pages of their own: cobra's for completion explain themselves.
func ownSubcommands(cmd *cobra.Command) []*cobra.Command {
	if cmd.Name() == "completion" {
		return nil
	}
	return cmd.Commands()
}

// words are what is typed for a command behind the program's name.
func words(cmd *cobra.Command) string {
	return strings.TrimPrefix(cmd.CommandPath(), cmd.Root().CommandPath()+" ")
}

// pageName is the file of a command's page.
func pageName(cmd *cobra.Command) string { return strings.ReplaceAll(words(cmd), " ", "-") + ".md" }

func page(cmd *cobra.Command) []byte {
	cmd.InitDefaultHelpFlag()
	var b bytes.Buffer
	fmt.Fprintf(&b, "# kubectl dopolicy %s\n\n%s.\n\n", words(cmd), strings.TrimSuffix(cmd.Short, "."))
	fmt.Fprintf(&b, "```\nkubectl dopolicy %s\n```\n", strings.TrimSuffix(words(cmd), cmd.Name())+cmd.Use)
	if long := strings.TrimSpace(cmd.Long); long != "" && cmd.Name() != "completion" {
		fmt.Fprintf(&b, "\n%s\n", formatHelpText(long))
	}
	if cmd.Example != "" {
		fmt.Fprintf(&b, "\n## Examples\n\n```\n%s\n```\n", outdent(cmd.Example))
	}
	var subs []string
	for _, sub := range cmd.Commands() {
		name := "`" + sub.Name() + "`"
		if slices.Contains(ownSubcommands(cmd), sub) {
			name = "[" + name + "](" + pageName(sub) + ")"
		}
		subs = append(subs, name+": "+sub.Short)
	}
	if subs != nil {
		fmt.Fprintf(&b, "\n## Subcommands\n\n%s\n", "- "+strings.Join(subs, "\n- "))
	}
	groups := help.GroupFlags(cmd, true)
	if cmd.Name() == optionsCommand {
		groups = help.CommonFlags(siblingOf(cmd))
	}
	for _, g := range groups {
		title := "Flags"
		if g.Title != "" {
			title = "Flags: " + strings.ToLower(g.Title)
		}
		fmt.Fprintf(&b, "\n## %s\n\n| flag | default | meaning |\n|---|---|---|\n", title)
		for _, f := range g.Flags {
			if !f.Hidden || cmd.Name() == optionsCommand {
				fmt.Fprint(&b, row(f))
			}
		}
	}
	return b.Bytes()
}

// optionsCommand lists flags that it does not have: those of all commands.
const optionsCommand = "options"

// siblingOf is a command that has the flags which all commands have.
func siblingOf(cmd *cobra.Command) *cobra.Command {
	for _, other := range cmd.Parent().Commands() {
		if other.Name() == "effective" {
			return other
		}
	}
	return cmd
}

func row(f *pflag.Flag) string {
	name := "`--" + f.Name + "`"
	if f.Shorthand != "" {
		name = "`-" + f.Shorthand + "`, " + name
	}
	value := f.DefValue
	if value == "[]" || value == "" {
		value = " "
	} else {
		value = "`" + value + "`"
	}
	return fmt.Sprintf("| %s | %s | %s |\n", name, value, strings.ReplaceAll(f.Usage, "|", "\\|"))
}

// outdent takes the two spaces off that examples are indented by in the program's help.
func outdent(s string) string { return strings.ReplaceAll("\n"+s, "\n  ", "\n")[1:] }
