package gitops

import (
	"bytes"
	"strings"

	"github.com/fluxcd/pkg/envsubst"
	"sigs.k8s.io/kustomize/api/resource"
	"sigs.k8s.io/yaml"
)

// Values are what the user gives variables for which the input has no value.
type Values map[string]string

// Fill returns a text with values in the place of their variables: ${NAME}, also with a default or
// another operation behind the name. $${NAME} is none.
func (v Values) Fill(text []byte) []byte {
	if len(v) == 0 || !bytes.Contains(text, []byte("${")) {
		return text
	}
	var out bytes.Buffer
	for {
		before, rest, found := bytes.Cut(text, []byte("${"))
		out.Write(before)
		if !found {
			return out.Bytes()
		}
		end := endOfVariable(rest)
		filled, ok := "", false
		if end >= 0 && !bytes.HasSuffix(before, []byte("$")) {
			filled, ok = v.fillVariable(string(rest[:end]))
		}
		if !ok {
			out.WriteString("${")
			text = rest // there may be others in it
			continue
		}
		out.WriteString(filled)
		text = rest[end+1:]
	}
}

// endOfVariable returns where the brace is that closes a variable; -1 if none does on its line.
func endOfVariable(rest []byte) int {
	depth := 1
	for i, b := range rest {
		switch {
		case b == '\n':
			return -1
		case b == '{' && i > 0 && rest[i-1] == '$':
			depth++
		case b == '}':
			if depth--; depth == 0 {
				return i
			}
		}
	}
	return -1
}

// fillVariable returns what stands for a variable, given what is between its braces. It is not ok
// if its name has no value.
func (v Values) fillVariable(inner string) (filled string, ok bool) {
	name := inner
	for i, c := range inner {
		if c != '_' && (c < '0' || c > '9') && (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') {
			name = inner[:i]
			break
		}
	}
	if _, given := v[name]; !given {
		return "", false
	}
	filled, err := envsubst.Eval("${"+inner+"}", func(name string) (string, bool) {
		if value, given := v[name]; given {
			return strings.ReplaceAll(value, "\n", ""), true
		}
		return "${" + name + "}", true
	})
	return filled, err == nil
}

// FinishObject returns an object that was built as JSON, with values in the place of variables. One
// that would be no YAML with them stays as it is.
func (v Values) FinishObject(o *resource.Resource) ([]byte, error) {
	text, err := o.AsYAML()
	if err != nil {
		return nil, err
	}
	if filled := v.Fill(text); !bytes.Equal(filled, text) {
		if asJSON, err := yaml.YAMLToJSON(filled); err == nil {
			return asJSON, nil
		}
	}
	return o.MarshalJSON()
}

// addUserValues gives the variables that have no value those of the user.
func (v *variables) addUserValues(given Values) {
	for name, value := range given {
		if _, set := v.values[name]; !set {
			v.setValue(name, value)
		}
	}
}
