// Package schema holds the JSON schemas of the program's answers, as JSON of draft 2020-12.
package schema

import (
	"embed"
	"fmt"
)

//go:embed *.json
var files embed.FS

// Read returns the schema of the answers of a kind, such as EffectivePolicyList. It is an error if there is none.
func Read(kind string) ([]byte, error) {
	text, err := files.ReadFile(kind + ".json")
	if err != nil {
		return nil, fmt.Errorf("no answer has the kind %q", kind)
	}
	return text, nil
}
