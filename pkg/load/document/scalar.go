package document

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const quotedStyle = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// isText reports whether a scalar is its own text: it is quoted, or a plain word without another
// meaning.
func isText(n *yaml.Node) bool {
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		return false
	case n.Style&quotedStyle != 0:
		return true
	}
	return n.Tag == "!!str" && !isYAML11Boolean(n.Value)
}

// isYAML11Boolean reports whether s is one of the words that only YAML 1.1, which kubectl reads,
// takes for booleans. The single letters are not among them: they are names far more often than
// booleans, and other readers agree on that; as keys they are warned of.
func isYAML11Boolean(s string) bool {
	switch s {
	case "yes", "Yes", "YES", "on", "On", "ON", "no", "No", "NO", "off", "Off", "OFF":
		return true
	}
	return false
}

// letterBoolean returns what kubectl's reader makes of a plain y or n, "" for anything else.
func letterBoolean(n *yaml.Node) string {
	if n.Kind != yaml.ScalarNode || n.Style&(quotedStyle|yaml.TaggedStyle) != 0 {
		return ""
	}
	switch n.Value {
	case "y", "Y":
		return "true"
	case "n", "N":
		return "false"
	}
	return ""
}

// scalarValue returns what a scalar means, as a JSON value.
func scalarValue(n *yaml.Node) (any, *Problem) {
	v, failed := resolveScalar(n)
	if failed != nil {
		return nil, failed
	}
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, invalidYAML(n.Line, "not used: a number that JSON cannot express; quote it if it is text")
		}
		return toInteger(v), nil
	case uint64:
		return float64(v), nil
	}
	return v, nil
}

// toInteger returns f as int64 if writing it as JSON and reading it again would make it one.
func toInteger(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1e21 {
		if i, err := strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
			return i
		}
	}
	return f
}

// resolveScalar returns what a scalar means to kubectl's reader: nil, bool, int64, uint64, float64
// or string.
func resolveScalar(n *yaml.Node) (any, *Problem) {
	switch {
	case isText(n):
		return n.Value, nil
	case n.Style&yaml.TaggedStyle == 0:
		return resolvePlain(n.Tag, n.Value), nil
	}
	switch n.Tag {
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			return nil, invalidYAML(n.Line, "not used: a value is tagged !!binary but is not base64")
		}
		return string([]rune(string(data))), nil // as JSON, which takes no bytes that are not text
	case "!!bool", "!!int", "!!float", "!!null", "!!timestamp":
		return resolveTagged(n)
	}
	return n.Value, nil
}

// resolveTagged returns a scalar whose tag says what it has to be.
func resolveTagged(n *yaml.Node) (any, *Problem) {
	is := (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).ShortTag()
	if isYAML11Boolean(n.Value) {
		is = "!!bool"
	}
	if is != n.Tag && (n.Tag != "!!float" || is != "!!int") {
		return nil, invalidYAML(n.Line, "not used: a value is tagged %s but is none", n.Tag)
	}
	return resolvePlain(is, n.Value), nil
}

// resolvePlain returns what a scalar without quotes means that has the given tag for the YAML
// reader, or is a boolean of YAML 1.1.
func resolvePlain(tag, s string) any {
	switch tag {
	case "!!null":
		return nil
	case "!!bool":
		return s[0] == 't' || s[0] == 'T' || isYAML11Boolean(s) && isTrueWord(s)
	case "!!int":
		return parseInteger(s)
	case "!!float":
		return parseFloat(s)
	case "!!str":
		if isYAML11Boolean(s) {
			return isTrueWord(s)
		}
	}
	return s
}

func isTrueWord(s string) bool {
	return strings.ContainsRune("yY", rune(s[0])) || strings.EqualFold(s, "on")
}

// parseInteger reads decimal, 0x, 0b, 0o and, with nothing but a zero in front, octal numbers.
func parseInteger(s string) any {
	digits := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(digits, 0, 64); err == nil {
		return u
	}
	return parseFloat(s)
}

func parseFloat(s string) any {
	switch strings.ToLower(s) {
	case ".nan":
		return math.NaN()
	case ".inf", "+.inf":
		return math.Inf(1)
	case "-.inf":
		return math.Inf(-1)
	}
	f, err := strconv.ParseFloat(strings.ReplaceAll(s, "_", ""), 64)
	if err != nil {
		return math.Inf(1) // beyond every number there is
	}
	return f
}

// readKeyText returns a key as text, and whether that differs from what is written: a plain key may
// mean a boolean or a number.
func readKeyText(n *yaml.Node) (key string, changed bool, failed *Problem) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", false, invalidYAML(n.Line, "not used: a map or a list cannot be a key")
	}
	if isText(n) {
		return n.Value, false, nil
	}
	v, failed := resolveScalar(n)
	if failed != nil {
		return "", false, failed
	}
	switch v := v.(type) {
	case nil, uint64:
		failed := invalidYAML(n.Line, "not used: the key %s is none to kubectl, which refuses the document", n.Value)
		failed.Hint = "quote it"
		return "", false, failed
	case bool:
		key = strconv.FormatBool(v)
	case int64:
		key = strconv.FormatInt(v, 10)
	case float64:
		key = formatFloatKey(v)
	case string:
		return v, false, nil
	}
	return key, key != n.Value, nil
}

// formatFloatKey returns a number as kubectl's reader writes it into a key, with the precision that
// it has there.
func formatFloatKey(f float64) string {
	switch s := strconv.FormatFloat(f, 'g', -1, 32); s {
	case "+Inf":
		return ".inf"
	case "-Inf":
		return "-.inf"
	case "NaN":
		return ".nan"
	default:
		return s
	}
}
