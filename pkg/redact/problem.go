package redact

import (
	"regexp"
	"strings"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// quotedText is what messages quote: it may be a value.
var quotedText = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`|'[^']*'")

// passedOnMarkers are the words behind which a message passes on what another program says, which
// may be whole documents.
var passedOnMarkers = []string{"is not built: ", "is not rendered: "}

// Problems are the problems of reading, without what they quote.
func Problems(all []model.Problem) []model.Problem {
	out := make([]model.Problem, len(all))
	for i, p := range all {
		p.Message, p.Hint = redactMessage(p.Message), redactMessage(p.Hint)
		out[i] = p
	}
	return out
}

func redactMessage(text string) string {
	for _, words := range passedOnMarkers {
		if i := strings.Index(text, words); i >= 0 {
			text = text[:i+len(words)] + model.Redacted
		}
	}
	return quotedText.ReplaceAllString(text, model.Redacted)
}
