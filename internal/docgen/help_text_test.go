package main

import "testing"

// TestFormatHelpText keeps the lines of entries apart in Markdown.
func TestFormatHelpText(t *testing.T) {
	for text, want := range map[string]string{
		"one\ntwo\n\nthree":            "one\ntwo\n\nthree",
		"a list:\n  - b\n  - c\nafter": "a list:\n\n  - b\n  - c\n\nafter",
		"a list:\n\n  - b\n\nafter":    "a list:\n\n  - b\n\nafter",
		"words:\n  yes  it is\nafter":  "words:\n\n```\n  yes  it is\n```\n\nafter",
		"words:\n  yes  it is":         "words:\n\n```\n  yes  it is\n```",
		"words:\n  yes  it is\n\nnext": "words:\n\n```\n  yes  it is\n```\n\nnext",
	} {
		if got := formatHelpText(text); got != want {
			t.Errorf("%q gives %q, want %q", text, got, want)
		}
	}
}
