package behavior

import (
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// CommentHeadline says what changes as a comment on a pull request does: first who gets access and
// what is lost, or that it is not known.
func (d *BehaviorDiff) CommentHeadline() string {
	if d.Verdict != "" || d.Classes == 0 {
		return d.Headline()
	}
	var out []string
	if d.Opened > 0 {
		out = append(out, view.FormatCount(d.Opened,
			"class of requests gets access that it did not have|classes of requests get access that they did not have"))
	}
	if lost := d.Loses.FormatCounts(); lost != "" {
		out = append(out, lost)
	}
	switch {
	case len(out) > 0 && !d.IsCertain():
		out = append(out, "more may change: not everything is known")
	case len(out) == 0 && !d.IsCertain():
		out = append(out, "not everything is known that could be a change")
	}
	if d.Changed > 0 || d.IsCertain() {
		out = append(out, d.extentText())
	}
	return strings.Join(out, "; ")
}

// extentText says how many classes change, and how many lose access.
func (d *BehaviorDiff) extentText() string {
	if d.Changed == 0 {
		return d.Headline()
	}
	classes := view.FormatCount(d.Classes, "class of requests|classes of requests")
	text := view.FormatNumber(d.Changed) + " of " + classes + " " + view.InflectNoun(d.Changed, "changes|change")
	if d.Closed > 0 {
		text += "; " + view.FormatCount(d.Closed, "loses access or is protected now|lose access or are protected now")
	}
	return text
}
