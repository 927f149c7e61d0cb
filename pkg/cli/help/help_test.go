package help

import "testing"

// TestFitText breaks paragraphs for the width, and keeps the lines of lists and of indented text.
func TestFitText(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"a paragraph": {"one two three four\nfive six seven eight",
			"one two three four five six\nseven eight"},
		"a list": {"Sides:\n  - FROM is first\n  - TO is the one of them that\n    follows it",
			"Sides:\n  - FROM is first\n  - TO is the one of them that\n    follows it"},
		"terms": {"  yes  it is\n  no   it is not what we\n       asked for",
			"  yes  it is\n  no   it is not what we asked\n       for"},
		"a term that is no ASCII": {"  1 …   one two three four five six",
			"  1 …   one two three four\n        five six"},
		"lines below each other": {"  first\n  second\n  third", "  first\n  second\n  third"},
		"a long line": {"  one two three four five six seven\n  second",
			"  one two three four five six\n  seven\n  second"},
		"a term, its meaning below": {"  policy=NAME\n       is in force", "  policy=NAME\n       is in force"},
		"a paragraph after a list":  {"  - one\nand more", "  - one\nand more"},
	} {
		if got := fitText(c.text, 30); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
	}
}
