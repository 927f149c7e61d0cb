package canarytest

import (
	"strings"
	"testing"
)

// questions are command lines about an input, FILE.
var questions = []string{
	"effective -A -f FILE -o json", "effective -A -f FILE -o wide", "request http://shop.example.com/cart -f FILE -o json",
	"overridden -A -f FILE -o yaml", "status -A --all -f FILE -o json", "matrix -A -f FILE -o json",
	"check -A -v -f FILE --config none -o json", "prove -A --require authentication -f FILE -o json",
	"graph -A -f FILE -o json", "diff FILE --delete secret/hidden -n default -o json",
	"diff --behavior FILE --delete secret/hidden -n default -o json",
}

// TestAnswers: with --redact, no command repeats a value of the input.
func TestAnswers(t *testing.T) {
	tried := 0
	each(t, func(t *testing.T, objects []map[string]any) {
		if !sampled(t, 48) {
			return
		}
		file := written(t, planted(objects))
		for _, question := range questions {
			args := strings.Fields(strings.ReplaceAll(question, "FILE", file))
			text := run(t, append(args, "--redact")...)
			if strings.Contains(text, `"kind"`) {
				tried++
			}
			leaks(t, question, text)
		}
	})
	if tried < 30 {
		t.Errorf("only %d answers were looked at", tried)
	}
}
