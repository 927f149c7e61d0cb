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
	// VendorVersions are the releases of vendors whose schemas are used.
	VendorVersions map[string]string
	// Sources are the folders of GitOps sources, and Substitute the values of variables.
	Sources, Substitute map[string]string
}

// off is what a Config says of findings that never count.
const off = "off"

// Ignore is an entry of a Config: findings of an id that do not count.
type Ignore struct {
	ID         string
	Object     string   // kind/namespace/name, with * for any text; "": any object
	Namespaces []string // with * for any text; nil: every one
	Reason     string

	place string // file:line
}

// ConfigError is a mistake in a Config.
type ConfigError struct{ Place, Message, Hint string }

func (e *ConfigError) Error() string { return e.Place + ": " + e.Message }

// severityOf is what the config makes of an id, "" where it says nothing.
func (c *Config) severityOf(id string) model.Severity {
	if s := c.Severity[id]; s != off {
		return model.Severity(s)
	}
	return ""
}

// ParseConfig reads a config about findings of a catalogue. Errors are *ConfigError, with the
// place.
func ParseConfig(name string, text []byte, known Catalogue) (Config, error) {
	r := configReader{name, known, formatHint}
	doc, err := r.readDocument(text)
	if err != nil {
		return Config{}, err
	}
	var c Config
	if len(doc.Content) == 0 { // an empty file
		return c, nil
	}
	err = r.readObject(doc.Content[0], "the file", []configField{
		{"failOn", func(n *yaml.Node) error {
			word, err := r.readWord(n, "failOn", Thresholds())
			c.FailOn = Threshold(word)
			return err
		}},
		{"ignore", func(n *yaml.Node) error {
			return r.readList(n, "ignore", func(n *yaml.Node) error {
				entry, err := r.readIgnore(n)
				c.Ignore = append(c.Ignore, entry)
				return err
			})
		}},
		{"severity", func(n *yaml.Node) (err error) { c.Severity, err = r.readSeverities(n); return err }},
		{"requirements", func(n *yaml.Node) (err error) {
			c.Requirements,
				err = r.readTexts(n, "requirements")
			return err
		}},
		{"vendorVersions", func(n *yaml.Node) (err error) {
			c.VendorVersions, err = r.readTextsByName(n, "vendorVersions")
			return err
		}},
		{"sources", func(n *yaml.Node) (err error) { c.Sources, err = r.readTextsByName(n, "sources"); return err }},
		{"substitute", func(n *yaml.Node) (err error) {
			c.Substitute, err = r.readTextsByName(n, "substitute")
			return err
		}},
	})
	return c, err
}

// configReader reads the nodes of one file.
type configReader struct {
	file  string
	known Catalogue
	hint  string // that always helps
}

// configField is a key of an object and what reads its value.
type configField struct {
	key  string
	read func(*yaml.Node) error
}

// readDocument reads the one document of the file.
func (r configReader) readDocument(text []byte) (doc yaml.Node, err error) {
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	if err = decoder.Decode(&doc); err != nil && !errors.Is(err, io.EOF) {
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		line := "1"
		if rest, named := strings.CutPrefix(message, "line "); named {
			line, message, _ = strings.Cut(rest, ": ")
		}
		return doc, &ConfigError{r.file + ":" + line, message, r.hint}
	}
	var more yaml.Node
	if err == nil && decoder.Decode(&more) == nil {
		return doc, r.newError(&more, "", "a second document, which nothing would read")
	}
	return doc, nil
}

// formatHint is the hint that always helps.
const formatHint = "the format is described in docs/ci.md"

func (r configReader) newError(n *yaml.Node, hint, format string, args ...any) error {
	return &ConfigError{r.formatPlace(n), fmt.Sprintf(format, args...), cmp.Or(hint, r.hint)}
}

func (r configReader) formatPlace(n *yaml.Node) string { return fmt.Sprintf("%s:%d", r.file, n.Line) }

// readObject reads an object that has no other keys, and none twice.
func (r configReader) readObject(n *yaml.Node, what string, fields []configField) error {
	if n.Kind != yaml.MappingNode {
		return r.newError(n, "", "%s has to be an object", what)
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
			return r.newError(key, hint, "unknown key %q in %s", key.Value, what)
		}
		if seen[key.Value] {
			return r.newError(key, "", "%s is there twice", key.Value)
		}
		seen[key.Value] = true
		if err := fields[at].read(n.Content[i+1]); err != nil {
			return err
		}
	}
	return nil
}

func (r configReader) readList(n *yaml.Node, what string, read func(*yaml.Node) error) error {
	if n.Kind != yaml.SequenceNode {
		return r.newError(n, "", "%s has to be a list", what)
	}
	for _, entry := range n.Content {
		if err := read(entry); err != nil {
			return err
		}
	}
	return nil
}

func (r configReader) readText(n *yaml.Node, what string) (string, error) {
	if n.Kind != yaml.ScalarNode || n.Value == "" {
		return "", r.newError(n, "", "%s has to be a text", what)
	}
	return n.Value, nil
}

func (r configReader) readTexts(n *yaml.Node, what string) (out []string, err error) {
	err = r.readList(n, what, func(n *yaml.Node) error {
		text, err := r.readText(n, "an entry of "+what)
		out = append(out, text)
		return err
	})
	return out, err
}

// readTextsByName reads an object of texts.
func (r configReader) readTextsByName(n *yaml.Node, what string) (map[string]string, error) {
	if n.Kind != yaml.MappingNode {
		return nil, r.newError(n, "", "%s has to be an object", what)
	}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		version, err := r.readText(n.Content[i+1], "an entry of "+what)
		if err != nil {
			return nil, err
		}
		out[n.Content[i].Value] = version
	}
	return out, nil
}

// readWord reads one of some words.
func (r configReader) readWord(n *yaml.Node, what string, words []string) (string, error) {
	text, err := r.readText(n, what)
	if err == nil && !slices.Contains(words, text) {
		err = r.newError(n, "use one of: "+strings.Join(words, ", "), "%s cannot be %q", what, text)
	}
	return text, err
}

// readID reads the id of a finding.
func (r configReader) readID(n *yaml.Node) (string, error) {
	id, err := r.readText(n, "id")
	if err != nil || r.known.Known(id) {
		return id, err
	}
	hint := "list them with: kubectl dopolicy check --list"
	if near := r.known.Nearest(id); len(near) > 0 {
		hint = "did you mean " + near[0] + "?"
	}
	return id, r.newError(n, hint, "there are no findings %q", id)
}

func (r configReader) readPattern(n *yaml.Node, what string) (string, error) {
	text, err := r.readText(n, what)
	if err != nil {
		return "", err
	}
	if _, err := path.Match(text, ""); err != nil {
		return "", r.newError(n, "* stands for any text without a slash", "%s: %q is no pattern", what, text)
	}
	return text, nil
}

func (r configReader) readIgnore(n *yaml.Node) (Ignore, error) {
	out := Ignore{place: r.formatPlace(n)}
	err := r.readObject(n, "an entry of ignore", []configField{
		{"id", func(n *yaml.Node) (err error) { out.ID, err = r.readID(n); return err }},
		{"object", func(n *yaml.Node) (err error) { out.Object, err = r.readObjectPattern(n); return err }},
		{"namespaces", func(n *yaml.Node) error {
			return r.readList(n, "namespaces", func(n *yaml.Node) error {
				p, err := r.readPattern(n, "an entry of namespaces")
				out.Namespaces = append(out.Namespaces, p)
				return err
			})
		}},
		{"reason", func(n *yaml.Node) (err error) { out.Reason, err = r.readText(n, "reason"); return err }},
	})
	if err == nil && out.ID == "" {
		err = r.newError(n, "list them with: kubectl dopolicy check --list", "an entry of ignore needs an id")
	}
	return out, err
}

// readObjectPattern reads the pattern of an object's name, with the kind in lower case as messages
// have it.
func (r configReader) readObjectPattern(n *yaml.Node) (string, error) {
	pattern, err := r.readPattern(n, "object")
	if err != nil {
		return "", err
	}
	kind, name, found := strings.Cut(pattern, "/")
	if !found || strings.Count(name, "/") > 1 {
		return "", r.newError(n, "write kind/namespace/name, or kind/name of what has no namespace",
			"object: %q names no object", pattern)
	}
	return strings.ToLower(kind) + "/" + name, nil
}

func (r configReader) readSeverities(n *yaml.Node) (map[string]string, error) {
	if n.Kind != yaml.MappingNode {
		return nil, r.newError(n, "", "severity has to be an object")
	}
	words := []string{string(model.Error), string(model.Warning), string(model.Info), off}
	out := map[string]string{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		id, err := r.readID(n.Content[i])
		if err != nil {
			return nil, err
		}
		if out[id] != "" {
			return nil, r.newError(n.Content[i], "", "%s is there twice", id)
		}
		if out[id], err = r.readWord(n.Content[i+1], "the severity of "+id, words); err != nil {
			return nil, err
		}
	}
	return out, nil
}
