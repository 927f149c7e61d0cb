// Command kindgen writes, beside every vendor's kinds.yaml, the same as JSON: kinds.json is what
// the program embeds, because every command reads it and YAML takes ten times as long. With -check
// it writes nothing and fails if a file is not up to date.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/expression"
	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
)

func main() {
	check := flag.Bool("check", false, "only report files that are not up to date")
	dir := flag.String("dir", "plugins", "folder of the vendors")
	flag.Parse()
	if err := run(*dir, *check); err != nil {
		fmt.Fprintln(os.Stderr, "error:", err)
		os.Exit(1)
	}
}

func run(dir string, check bool) error {
	files, err := filepath.Glob(filepath.Join(dir, "*", "kinds.yaml"))
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no vendor in %s (%w)", dir, errors.Join(err, os.ErrNotExist))
	}
	var stale []string
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		out, err := convert(text)
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		target := strings.TrimSuffix(file, ".yaml") + ".json"
		if old, err := os.ReadFile(target); err == nil && bytes.Equal(old, out) {
			continue
		}
		if check {
			stale = append(stale, target)
			continue
		}
		if err := os.WriteFile(target, out, 0o644); err != nil {
			return err
		}
	}
	if len(stale) > 0 {
		return fmt.Errorf("not up to date (make docs): %s", strings.Join(stale, ", "))
	}
	return nil
}

// convert is the documents of a YAML file as a JSON list, one a line, with aliases followed. Their
// fields are in order.
func convert(text []byte) ([]byte, error) {
	var out bytes.Buffer
	dec := yaml.NewDecoder(bytes.NewReader(text))
	for open := "[\n"; ; open = ",\n" {
		var n yaml.Node
		if err := dec.Decode(&n); err != nil {
			if errors.Is(err, io.EOF) {
				out.WriteString("\n]\n")
				return out.Bytes(), nil
			}
			return nil, err
		}
		out.WriteString(open)
		if err := write(&out, n.Content[0]); err != nil {
			return nil, err
		}
	}
}

func write(out *bytes.Buffer, n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return write(out, n.Alias)
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			out.WriteString(map[bool]string{true: "{", false: ","}[i == 0])
			if err := text(out, n.Content[i].Value); err != nil {
				return err
			}
			out.WriteByte(':')
			if err := write(out, n.Content[i+1]); err != nil {
				return err
			}
		}
		if err := checked(out, n); err != nil {
			return err
		}
		out.WriteString(map[bool]string{true: "{}", false: "}"}[len(n.Content) == 0])
		return nil
	case yaml.SequenceNode:
		out.WriteByte('[')
		for i, entry := range n.Content {
			if i > 0 {
				out.WriteByte(',')
			}
			if err := write(out, entry); err != nil {
				return err
			}
		}
		out.WriteByte(']')
		return nil
	}
	switch n.ShortTag() {
	case "!!str":
		return text(out, n.Value)
	case "!!null":
		out.WriteString("null")
	case "!!bool", "!!int", "!!float":
		out.WriteString(n.Value)
	default:
		return fmt.Errorf("line %d: a value of type %s has no form in JSON", n.Line, n.ShortTag())
	}
	return nil
}

// checked adds to a validation rule its expression, checked ahead.
func checked(out *bytes.Buffer, n *yaml.Node) error {
	rule := form.TextOf(n, "rule")
	if rule == "" || form.Member(n, "message") == nil {
		return nil
	}
	ahead, err := expression.CheckAhead(rule)
	if err != nil {
		return fmt.Errorf("line %d: the rule %w", n.Line, err)
	}
	fmt.Fprintf(out, `,"checked":%q`, ahead)
	return nil
}

func text(out *bytes.Buffer, s string) error {
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		return err
	}
	out.Truncate(out.Len() - 1) // the line end
	return nil
}
