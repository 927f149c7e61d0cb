package load

import (
	"encoding/base64"
	"encoding/pem"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

func isSecret(r model.Ref) bool { return r.Group == "" && r.Kind == "Secret" }

// reduceSecret is a Secret's body without its values: under data, each key (those of stringData too) holds whether it
// is there and whether it is PEM. What is not known to be harmless is left out.
func reduceSecret(body map[string]any) map[string]any {
	reduced := map[string]any{}
	for _, key := range []string{"apiVersion", "kind", "metadata", "type"} {
		if v, ok := body[key]; ok {
			reduced[key] = v
		}
	}
	facts := map[string]any{}
	encoded, _ := body["data"].(map[string]any)
	for key, v := range encoded {
		text, _ := v.(string)
		raw, err := base64.StdEncoding.DecodeString(text)
		facts[key] = fact(err == nil && isPEM(raw))
		clear(raw)
	}
	// As in the API server, stringData is written over data.
	plain, _ := body["stringData"].(map[string]any)
	for key, v := range plain {
		text, _ := v.(string)
		facts[key] = fact(isPEM([]byte(text)))
	}
	if len(facts) > 0 {
		reduced["data"] = facts
	}
	return reduced
}

func fact(isPEM bool) map[string]any { return map[string]any{"present": true, "pem": isPEM} }

func isPEM(b []byte) bool {
	block, _ := pem.Decode(b)
	return block != nil
}
