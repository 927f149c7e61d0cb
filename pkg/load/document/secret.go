package document

import (
	"encoding/base64"
	"encoding/pem"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func isSecret(r model.Ref) bool { return r.Group == "" && r.Kind == "Secret" }

// reduceSecret is a Secret's body without its values: under data, each key (those of stringData
// too) holds whether it is there and whether it is PEM. What is not known to be harmless is left
// out.
func reduceSecret(body *tree) *tree {
	reduced := &tree{}
	for _, key := range []string{"apiVersion", "kind", "metadata", "type"} {
		if e := body.findEntry(key); e != nil {
			reduced.entries = append(reduced.entries, *e)
		}
	}
	facts := &mapBuilder{}
	for _, e := range secretEntries(body, "data") {
		text, _ := e.value.(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		facts.putEntry(newKeyFacts(e, err == nil && isPEM(raw)))
		clear(raw)
	}
	// As in the API server, stringData is written over data.
	for _, e := range secretEntries(body, "stringData") {
		text, _ := e.value.(string)
		facts.putEntry(newKeyFacts(e, isPEM([]byte(text))))
	}
	if len(facts.entries) > 0 {
		reduced.entries = append(reduced.entries, treeEntry{"data", facts.entries[0].line,
			&tree{entries: facts.entries}})
	}
	return reduced
}

func secretEntries(body *tree, key string) []treeEntry {
	if m := asMap(body.valueAt(key)); m != nil {
		return m.entries
	}
	return nil
}

func newKeyFacts(e treeEntry, isPEM bool) treeEntry {
	return treeEntry{e.key, e.line, &tree{entries: []treeEntry{{"present", e.line, true}, {"pem", e.line, isPEM}}}}
}

func isPEM(b []byte) bool {
	block, _ := pem.Decode(b)
	return block != nil
}
