package main

import "strings"

// formatHelpText makes Markdown of the text of a help: indented lines stay below each other, as
// items of a list or as they are written.
func formatHelpText(text string) string {
	var out []string
	fenced, inEntries := false, false
	end := func() {
		if fenced {
			out = append(out, "```")
		}
		fenced, inEntries = false, false
	}
	for line := range strings.SplitSeq(text, "\n") {
		isEntry := strings.HasPrefix(line, " ")
		if isEntry != inEntries {
			wasEntry := inEntries
			end()
			if line != "" && (isEntry || wasEntry) && len(out) > 0 && out[len(out)-1] != "" {
				out = append(out, "")
			}
			inEntries = isEntry
			if isEntry && !strings.HasPrefix(strings.TrimLeft(line, " "), "- ") {
				out, fenced = append(out, "```"), true
			}
		}
		out = append(out, line)
	}
	end()
	return strings.Join(out, "\n")
}
