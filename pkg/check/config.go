package check

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/dopolicy/kubectl-dopolicy/pkg/form"
	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// Config is a file that says what counts.
type Config struct {
	FailOn       Threshold         // "": not said
	Ignore       []Ignore          // findings that do not count
	Severity     map[string]string // by id: a severity, or "off"
	Requirements []string          // files, as they are written
}

// off is what a Config says of findings that never count.
const off = "off"

// Ignore is an entry of a Config: findings of an id that do not count.
type Ignore struct {
	ID         string
	Object     string   // kind/namespace/name, with * for any text; "": any object
	Namespaces []string // with * for any text; nil: every one
	Reason     string

	at string // file:line
}

// ConfigError is a mistake in a Config.
type ConfigError struct{ Place, Message, Hint string }

func (e *ConfigError) Error() string { return e.Place + ": " + e.Message }

// severity is what the config makes of an id, "" where it says nothing.
func (c *Config) severity(id string) model.Severity {
	if s := c.Severity[id]; s != off {
		return model.Severity(s)
	}
	return ""
}

// ParseConfig reads a config about findings of a catalogue. Errors are *ConfigError, with the place.
func ParseConfig(name string, text []byte, known Catalogue) (Config, error) {
	r := configReader{name, known}
	doc, err := r.document(text)
	if err != nil {
		return Config{}, err
	}
	var c Config
	if len(doc.Content) == 0 { // an empty file
		return c, nil
	}
	err = r.fields(doc.Content[0], "the file", []configField{
		{"failOn", func(n *yaml.Node) error {
			word, err := r.word(n, "failOn", Thresholds())
			c.FailOn = Threshold(word)
			return err
		}},
		{"ignore", func(n *yaml.Node) error {
			return r.entries(n, "ignore", func(n *yaml.Node) error {
				entry, err := r.ignore(n)
				c.Ignore = append(c.Ignore, entry)
				return err
			})
		}},
		{"severity", func(n *yaml.Node) (err error) { c.Severity, err = r.severities(n); return err }},
		{"requirements", func(n *yaml.Node) (err error) { c.Requirements, err = r.texts(n, "requirements"); return err }},
	})
	return c, err
}

// configReader reads the nodes of one file.
type configReader struct {
	file  string
	known Catalogue
}

// configField is a key of an object and what reads its value.
type configField struct {
	key  string
	read func(*yaml.Node) error
}

// document reads the one document of the file.
func (r configReader) document(text []byte) (doc yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err = decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		line := "1"
		if rest, named := strings.CutPrefix(message, "line "); named {
			line, message, _ = strings.Cut(rest, ": ")
		}
		return doc, &ConfigError{r.file + ":" + line, message, described}
	}
	var more yaml.Node
	if err == nil && decoder.Decode(&more) == nil {
		return doc, r.wrong(&more, "", "a second document, which nothing would read")
	}
	return doc, nil
}

// described is the hint that always helps.
const described = "the format is described in docs/ci.md"

func (r configReader) wrong(n *yaml.Node, hint, format string, args ...any) error {
	return &ConfigError{r.place(n), fmt.Sprintf(format, args...), cmp.Or(hint, described)}
}

func (r configReader) place(n *yaml.Node) string { return fmt.Sprintf("%s:%d", r.file, n.Line) }

// fields reads an object that has no other keys, and none twice.
func (r configReader) fields(n *yaml.Node, what string, fields []configField) error {
	if n.Kind != yaml.MappingNode {
		return r.wrong(n, "", "%s has to be an object", what)
	}
	var known []string
	for _, f := range fields {
		known = append(known, f.key)
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key := n.Content[i]
		at := slices.Index(known, key.Value)
		if at < 0 {
			hint := "known are: " + strings.Join(known, ", ")
			if near := form.Nearest(key.Value, known); len(near) > 0 {
				hint = "did you mean " + near[0] + "?"
			}
			return r.wrong(key, hint, "unknown key %q in %s", key.Value, what)
		}
		if seen[key.Value] {
			return r.wrong(key, "", "%s is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := fields[at].read(n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (r configReader) entries(n *yaml.Node, what string, read func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode {
		return r.wrong(n, "", "%s has to be a list", what)
	}
	for _, entry := range n.Content {
		if err := read(entry); err != nil {
			return err
		}
	}
	return nil
}

func (r configReader) text(n *yaml.Node, what string) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return "", r.wrong(n, "", "%s has to be a text", what)
	}
	return n.Value, nil
}

func (r configReader) texts(n *yaml.Node, what string) (out []string, err error) {
	err = r.entries(n, what, func(n *yaml.Node) error {
		text, err := r.text(n, "an entry of "+what)
		out = append(out, text)
		return err
	})
	return out, err
}

// word reads one of some words.
func (r configReader) word(n *yaml.Node, what string, words []string) (string, error) {
	text, err := r.text(n, what)
	if err == nil && !slices.Contains(words, text) {
		err = r.wrong(n, "use one of: "+strings.Join(words, ", "), "%s cannot be %q", what, text)
	}
	return text, err
}

// id reads the id of a finding.
func (r configReader) id(n *yaml.Node) (string, error) {
	id, err := r.text(n, "id")
	if err != nil || r.known.Known(id) {
		return id, err
	}
	hint := "list them with: kubectl dopolicy check --list"
	if near := r.known.Nearest(id); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return id, r.wrong(n, hint, "there are no findings %q", id)
}

func (r configReader) pattern(n *yaml.Node, what string) (string, error) {
	text, err := r.text(n, what)
	if err != nil {
		return "", err
	}
	if _, err := path.Match(text, ""); err != nil {
		return "", r.wrong(n, "* stands for any text without a slash", "%s: %q is no pattern", what, text)
	}
	return text, nil
}

func (r configReader) ignore(n *yaml.Node) (Ignore, error) {
	out := Ignore{at: r.place(n)}
	err := r.fields(n, "an entry of ignore", []configField{
		{"id", func(n *yaml.Node) (err error) { out.ID, err = r.id(n); return err }},
		{"object", func(n *yaml.Node) (err error) { out.Object, err = r.object(n); return err }},
		{"namespaces", func(n *yaml.Node) error {
			return r.entries(n, "namespaces", func(n *yaml.Node) error {
				p, err := r.pattern(n, "an entry of namespaces")
				out.Namespaces = append(out.Namespaces, p)
				return err
			})
		}},
		{"reason", func(n *yaml.Node) (err error) { out.Reason, err = r.text(n, "reason"); return err }},
	})
	if err == nil && out.ID == "" {
		err = r.wrong(n, "list them with: kubectl dopolicy check --list", "an entry of ignore needs an id")
	}
	return out, err
}

// object reads the pattern of an object's name, with the kind in lower case as messages have it.
func (r configReader) object(n *yaml.Node) (string, error) {
	pattern, err := r.pattern(n, "object")
	if err != nil {
		return "", err
	}
	kind, name, found := strings.Cut(pattern, "/")
	if !found || strings.Count(name, "/") > 1 {
		return "", r.wrong(n, "write kind/namespace/name, or kind/name of what has no namespace", "object: %q names no object", pattern)
	}
	return strings.ToLower(kind) + "/" + name, nil
}

func (r configReader) severities(n *yaml.Node) (map[string]string, error) {
	if n.Kind != yaml.MappingNode {
		return nil, r.wrong(n, "", "severity has to be an object")
	}
	words := []string{string(model.Error), string(model.Warning), string(model.Info), off}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		id, err := r.id(n.Content[i])
		if err != nil {
			return nil, err
		}
		if out[id] != "" {
			return nil, r.wrong(n.Content[i], "", "%s is there twice", id)
		}
		if out[id], err = r.word(n.Content[i+1], "the severity of "+id, words); err != nil {
			return nil, err
		}
	}
	return out, nil
}
