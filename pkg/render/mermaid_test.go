package render

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/dopolicy/kubectl-dopolicy/pkg/render/picture"
)

// mermaidLines are the forms of line that a flowchart of ours consists of; labels are letters, a
// few marks, codes and line breaks.
var mermaidLines = func() *regexp.Regexp {
	label := `"(?:[a-zA-Z0-9 ./,=@\x{a0}-\x{10ffff}-]|: |#[0-9]+;|<br/>)*"`
	return regexp.MustCompile(`^(?:flowchart LR|end|subgraph g\d+\[` + label + `\]` +
		`|n\d+(?:\[` + label + `\]|\(` + label + `\)|>` + label + `\])(?::::[a-z0-9]+)?|legend\[` + label +
		`\]:::legend` +
		`|n\d+ (?:-->|-\.->|==>|-\.-x)(?:\|` + label +
		`\|)? n\d+|linkStyle [\d,]+ stroke:#[0-9a-f]{6}[a-z0-9:., -]*|class g\d+ [a-z]+|classDef [a-z0-9]+ fill:[a-z0-9:#., -]+)$`)
}()

func checkMermaid(text string) error {
	depth, drawn, used := 0, []string{}, []string{}
	for n, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		line = strings.TrimLeft(line, " ")
		if !mermaidLines.MatchString(line) {
			return fmt.Errorf("line %d: %s", n+1, line)
		}
		switch {
		case strings.HasPrefix(line, "subgraph "):
			depth++
		case line == "end":
			depth--
		}
		if m := regexp.MustCompile(`^(n\d+)[\[(>]`).FindStringSubmatch(line); m != nil {
			drawn = append(drawn, m[1])
		}
		if m := regexp.MustCompile(`^(n\d+) .* (n\d+)$`).FindStringSubmatch(line); m != nil {
			used = append(used, m[1:]...)
		}
	}
	for _, id := range used {
		if !slices.Contains(drawn, id) {
			return fmt.Errorf("%s is not drawn", id)
		}
	}
	if depth != 0 {
		return fmt.Errorf("%d subgraphs are open", depth)
	}
	return nil
}

func TestMermaidIsWellFormed(t *testing.T) {
	for _, g := range graphs() {
		text := written(t, g, Options{Format: Mermaid})
		if err := checkMermaid(text); err != nil {
			t.Errorf("%v\n%s", err, text)
		}
	}
}

func TestMermaidDoesNotDependOnOrder(t *testing.T) {
	g, turned := graphFixture(), graphFixture()
	slices.Reverse(turned.Nodes)
	slices.Reverse(turned.Edges)
	if written(t, g, Options{Format: Mermaid}) != written(t, turned, Options{Format: Mermaid}) {
		t.Error("the order of nodes and edges shows")
	}
}

// What names contain is text: it ends no label, and is no Markdown, HTML, style, comment or
// directive.
func TestMermaidText(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{"HTTPRoute shop/a.b-c", `"HTTPRoute shop/a.b-c"`},
		{`a"]; click n0 "javascript:x"`, `"a#34;#93;#59; click n0 #34;javascript#58;x#34;"`},
		{"`**bold** _it_`", `"#96;#42;#42;bold#42;#42; #95;it#95;#96;"`},
		{"<img src=x>&amp;", `"#60;img src=x#62;#38;amp#59;"`},
		{"%%{init: {}}%%", `"#37;#37;#123;init: #123;#125;#125;#37;#37;"`},
		{"style x:#fff;", `"style x#58;#35;fff#59;"`},
		{"#quot; end\n%% x", `"#35;quot#59; end#92;n#37;#37; x"`},
		{"日本 ünï", `"日本 ünï"`},
		{"\u202e\x1b[2J", `"#92;u202e#92;x1b#91;2J"`},
	} {
		if got := picture.QuoteMermaid(tc.in); got != tc.want {
			t.Errorf("%q: got %s, want %s", tc.in, got, tc.want)
		}
	}
}

func FuzzMermaidText(f *testing.F) {
	f.Add(evil)
	f.Fuzz(func(t *testing.T, s string) {
		if err := checkMermaid("n0[" + picture.QuoteMermaid(s, s) + "]"); err != nil {
			t.Error(err)
		}
	})
}
