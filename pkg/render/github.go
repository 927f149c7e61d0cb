package render

import (
	"bufio"
	"strconv"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/check"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/render/escape"
)

// writeGitHub writes findings as workflow commands, which GitHub shows as annotations of the lines
// they are about, and a line that counts them. What does not count is left out.
func writeGitHub(w *bufio.Writer, r *check.Report, o Options) error {
	for _, f := range r.Items {
		if f.Suppressed != nil {
			continue
		}
		var properties []string
		add := func(key, value string) { properties = append(properties, key+"="+escapeCommandProperty(value)) }
		if file := o.relativeFile(f.Origin); file != "" {
			add("file", file)
			if f.Origin.Line > 0 {
				add("line", strconv.Itoa(f.Origin.Line))
			}
		}
		title := f.ID
		if f.Ref != nil && f.Ref.Name != "*" {
			title += " " + f.Ref.String()
		}
		add("title", title)
		message := escapeCommandText(f.Message)
		if f.Hint != "" {
			message += "%0A" + escapeCommandText(f.Hint)
		}
		_, _ = w.WriteString("::" + formatCommandName(f.Severity) + " " + strings.Join(properties, ",") + "::" +
			message + "\n")
	}
	closing := strings.Join(append([]string{r.Counts()}, r.UnknownLines(false)...), "; ")
	_, err := w.WriteString(escapeCommandText(closing) + "\n")
	return err
}

// formatCommandName is the workflow command for a severity.
func formatCommandName(s model.Severity) string {
	if s == model.Info {
		return "notice"
	}
	return string(s)
}

// escapeCommandText is the message of a workflow command. Control characters are visible, so that
// there is no line end in it, and there is no other command in it.
func escapeCommandText(s string) string {
	s = string(escape.EscapeBracket([]byte(s), " ["))
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(escape.Escape(s))
}

// escapeCommandProperty is the value of a property of a workflow command.
func escapeCommandProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeCommandText(s))
}
