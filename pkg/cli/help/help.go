package help

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/dopolicy/kubectl-dopolicy/pkg/cli/run"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/textwidth"
)

// widest is how wide lines of help get at most on a terminal.
const widest = 110

// Install makes a command and all below it write their help as this package does. The commands are
// listed in the given order, others after them.
func Install(root *cobra.Command, s run.Streams, order []string) {
	width := min(s.TerminalWidth(s.OutIsTTY), widest)
	root.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		writeHelp(cmd.OutOrStdout(), cmd, width, order)
	})
	root.SetUsageFunc(func(cmd *cobra.Command) error {
		writeUsage(cmd.OutOrStdout(), cmd, width, order)
		return nil
	})
}

// writeHelp says what a command does, and how it is written.
func writeHelp(w io.Writer, cmd *cobra.Command, width int, order []string) {
	text := cmd.Long
	if text == "" {
		text = cmd.Short + "."
	}
	fmt.Fprintf(w, "%s\n\n", fitText(strings.TrimSpace(text), width))
	writeUsage(w, cmd, width, order)
}

// writeUsage says how a command is written: examples, commands below it, flags.
func writeUsage(w io.Writer, cmd *cobra.Command, width int, order []string) {
	fmt.Fprint(w, "Usage:\n")
	if cmd.HasAvailableSubCommands() {
		fmt.Fprintf(w, "  %s COMMAND [flags]\n", cmd.CommandPath())
	}
	if cmd.Runnable() && cmd.HasParent() {
		fmt.Fprintf(w, "  %s\n", cmd.UseLine())
	}
	if cmd.HasExample() {
		fmt.Fprintf(w, "\nExamples:\n%s\n", cmd.Example)
	}
	writeCommands(w, cmd, width, order)
	for _, g := range GroupFlags(cmd, false) {
		title := "Flags"
		if g.Title != "" {
			title = g.Title
		}
		fmt.Fprintf(w, "\n%s:\n%s", title, formatFlags(g.Flags, width))
	}
	switch {
	case !cmd.HasParent():
		fmt.Fprintf(w, "\nHelp for a command: %s COMMAND --help\nFlags that all commands have: %s options\n",
			cmd.CommandPath(), cmd.CommandPath())
	case hasRareFlags(cmd):
		fmt.Fprintf(w, "\nMore flags of input, output and connection: %s options\n", cmd.Root().CommandPath())
	}
}

// writeCommands lists the commands below a command, in their groups.
func writeCommands(w io.Writer, cmd *cobra.Command, width int, order []string) {
	if !cmd.HasAvailableSubCommands() {
		return
	}
	subs := slices.Clone(cmd.Commands())
	rank := func(c *cobra.Command) int {
		if i := slices.Index(order, c.Name()); i >= 0 {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(subs, func(a, b *cobra.Command) int { return rank(a) - rank(b) })
	widestName := 0
	for _, sub := range subs {
		widestName = max(widestName, len(sub.Name()))
	}
	list := func(title, group string) {
		head := "\n" + title + ":\n"
		for _, sub := range subs {
			if sub.GroupID != group || !sub.IsAvailableCommand() && sub.Name() != "help" {
				continue
			}
			fmt.Fprint(w, head)
			head = ""
			writeEntry(w, sub.Name(), widestName, sub.Short, width)
		}
	}
	for _, g := range cmd.Groups() {
		list(g.Title, g.ID)
	}
	if len(cmd.Groups()) > 0 {
		list("Others", "")
	} else {
		list("Commands", "")
	}
}

// writeEntry writes a name and what there is to say about it.
func writeEntry(w io.Writer, name string, names int, text string, width int) {
	lines := []string{text}
	if width > names+20 {
		lines = textwidth.WrapWords(text, width-names-4)
	}
	fmt.Fprintf(w, "  %-*s  %s\n", names, name, lines[0])
	for _, line := range lines[1:] {
		fmt.Fprintf(w, "  %-*s  %s\n", names, "", line)
	}
}

// fitText breaks the paragraphs of a text anew, for a terminal of another width than they are
// written for; 0: they stay. Each line that begins with a blank is an entry of its own: the item of
// a list ("- item"), a term with two blanks before its meaning, or a plain line. What is below the
// text of an item or the meaning of a term belongs to it.
func fitText(text string, width int) string {
	if width == 0 {
		return text
	}
	var out []string
	head, body := "", "" // of the open paragraph or entry
	at := 0              // the column where lines that belong to it begin; -1: there are none
	end := func() {
		if body != "" {
			columns := textwidth.DisplayWidth(head)
			for i, part := range textwidth.WrapWords(body, max(width-columns, 20)) {
				if i > 0 {
					head = strings.Repeat(" ", columns)
				}
				out = append(out, head+part)
			}
		}
		head, body = "", ""
	}
	for line := range strings.SplitSeq(text, "\n") {
		words := strings.TrimLeft(line, " ")
		indent := len(line) - len(words)
		switch {
		case words == "":
			end()
			out = append(out, "")
		case body != "" && indent == at:
			body += " " + words
		default:
			end()
			head, body = splitEntry(line, indent)
			at = textwidth.DisplayWidth(head)
			if indent > 0 && strings.TrimSpace(head) == "" {
				at = -1
			}
		}
	}
	end()
	return strings.Join(out, "\n")
}

// splitEntry splits the first line of a paragraph or an entry into what comes before its text, such
// as the mark of a list or a term, and its text.
func splitEntry(line string, indent int) (head, text string) {
	words := line[indent:]
	at := indent
	if gap := strings.LastIndex(words, "  "); indent > 0 && gap > 0 {
		at += gap + len("  ")
	} else if indent > 0 && strings.HasPrefix(words, "- ") {
		at += len("- ")
	}
	return line[:at], line[at:]
}
