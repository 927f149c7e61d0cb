package load

import (
	"encoding/base64"
	"math"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

const quotedStyle = yaml.DoubleQuotedStyle | yaml.SingleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle

// isText reports whether a scalar is its own text: it is quoted, or a plain word without another meaning.
func isText(n *yaml.Node) bool {
	switch {
	case n.Style&yaml.TaggedStyle != 0:
		return false
	case n.Style&quotedStyle != 0:
		return true
	}
	return n.Tag == "!!str" && !isSwitch(n.Value)
}

// isSwitch reports whether s is one of the words that only YAML 1.1, which kubectl reads, takes for booleans. The single letters are
// not among them: they are names far more often than booleans, and other readers agree on that; as keys they are warned of.
func isSwitch(s string) bool {
	switch s {
	case "yes", "Yes", "YES", "on", "On", "ON", "no", "No", "NO", "off", "Off", "OFF":
		return true
	}
	return false
}

// letter is what kubectl's reader makes of a plain y or n, "" for anything else.
func letter(n *yaml.Node) string {
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

// value is what a scalar means, as a JSON value.
func value(n *yaml.Node) (any, *trouble) {
	v, failed := resolve(n)
	if failed != nil {
		return nil, failed
	}
	switch v := v.(type) {
	case float64:
		if math.IsInf(v, 0) || math.IsNaN(v) {
			return nil, invalid(n.Line, "not used: a number that JSON cannot express; quote it if it is text")
		}
		return integral(v), nil
	case uint64:
		return float64(v), nil
	}
	return v, nil
}

// integral is f as int64 if writing it as JSON and reading it again would make it one.
func integral(f float64) any {
	if f == math.Trunc(f) && math.Abs(f) < 1e21 {
		if i, err := strconv.ParseInt(strconv.FormatFloat(f, 'f', -1, 64), 10, 64); err == nil {
			return i
		}
	}
	return f
}

// resolve is what a scalar means to kubectl's reader: nil, bool, int64, uint64, float64 or string.
func resolve(n *yaml.Node) (any, *trouble) {
	switch {
	case isText(n):
		return n.Value, nil
	case n.Style&yaml.TaggedStyle == 0:
		return plain(n.Tag, n.Value), nil
	}
	switch n.Tag {
	case "!!binary":
		data, err := base64.StdEncoding.DecodeString(n.Value)
		if err != nil {
			return nil, invalid(n.Line, "not used: a value is tagged !!binary but is not base64")
		}
		return string([]rune(string(data))), nil // as JSON, which takes no bytes that are not text
	case "!!bool", "!!int", "!!float", "!!null", "!!timestamp":
		return tagged(n)
	}
	return n.Value, nil
}

// tagged is a scalar whose tag says what it has to be.
func tagged(n *yaml.Node) (any, *trouble) {
	is := (&yaml.Node{Kind: yaml.ScalarNode, Value: n.Value}).ShortTag()
	if isSwitch(n.Value) {
		is = "!!bool"
	}
	if is != n.Tag && (n.Tag != "!!float" || is != "!!int") {
		return nil, invalid(n.Line, "not used: a value is tagged %s but is none", n.Tag)
	}
	return plain(is, n.Value), nil
}

// plain is what a scalar without quotes means that has the given tag for the YAML reader, or is one of the switches.
func plain(tag, s string) any {
	switch tag {
	case "!!null":
		return nil
	case "!!bool":
		return s[0] == 't' || s[0] == 'T' || isSwitch(s) && isYes(s)
	case "!!int":
		return integer(s)
	case "!!float":
		return float(s)
	case "!!str":
		if isSwitch(s) {
			return isYes(s)
		}
	}
	return s
}

func isYes(s string) bool {
	return strings.ContainsRune("yY", rune(s[0])) || strings.EqualFold(s, "on")
}

// integer reads decimal, 0x, 0b, 0o and, with nothing but a zero in front, octal numbers.
func integer(s string) any {
	digits := strings.ReplaceAll(s, "_", "")
	if i, err := strconv.ParseInt(digits, 0, 64); err == nil {
		return i
	}
	if u, err := strconv.ParseUint(digits, 0, 64); err == nil {
		return u
	}
	return float(s)
}

func float(s string) any {
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

// keyText is a key as text, and whether that differs from what is written: a plain key may mean a boolean or a number.
func keyText(n *yaml.Node) (key string, changed bool, failed *trouble) {
	if n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	if n.Kind != yaml.ScalarNode {
		return "", false, invalid(n.Line, "not used: a map or a list cannot be a key")
	}
	if isText(n) {
		return n.Value, false, nil
	}
	v, failed := resolve(n)
	if failed != nil {
		return "", false, failed
	}
	switch v := v.(type) {
	case nil, uint64:
		failed := invalid(n.Line, "not used: the key %s is none to kubectl, which refuses the document", n.Value)
		failed.hint = "quote it"
		return "", false, failed
	case bool:
		key = strconv.FormatBool(v)
	case int64:
		key = strconv.FormatInt(v, 10)
	case float64:
		key = floatKey(v)
	case string:
		return v, false, nil
	}
	return key, key != n.Value, nil
}

// floatKey is a number as kubectl's reader writes it into a key, with the precision that it has there.
func floatKey(f float64) string {
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
