package load

import (
	"encoding/base64"
	"encoding/pem"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func isSecret(r model.Ref) bool { return r.Group == "" && r.Kind == "Secret" }

// reduceSecret is a Secret's body without its values: under data, each key (those of stringData too) holds whether it
// is there and whether it is PEM. What is not known to be harmless is left out.
func reduceSecret(body *tree) *tree {
	reduced := &tree{}
	for _, key := range []string{"apiVersion", "kind", "metadata", "type"} {
		if e := body.find(key); e != nil {
			reduced.kids = append(reduced.kids, *e)
		}
	}
	facts := &mapping{}
	for _, e := range secretEntries(body, "data") {
		text, _ := e.value.(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		facts.put(fact(e, err == nil && isPEM(raw)))
		clear(raw)
	}
	// As in the API server, stringData is written over data.
	for _, e := range secretEntries(body, "stringData") {
		text, _ := e.value.(string)
		facts.put(fact(e, isPEM([]byte(text))))
	}
	if len(facts.kids) > 0 {
		reduced.kids = append(reduced.kids, kid{"data", facts.kids[0].line, &tree{kids: facts.kids}})
	}
	return reduced
}

func secretEntries(body *tree, key string) []kid {
	if m := asMap(body.at(key)); m != nil {
		return m.kids
	}
	return nil
}

func fact(e kid, isPEM bool) kid {
	return kid{e.key, e.line, &tree{kids: []kid{{"present", e.line, true}, {"pem", e.line, isPEM}}}}
}

func isPEM(b []byte) bool {
	block, _ := pem.Decode(b)
	return block != nil
}
