package collect

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
	"github.com/dopolicy/kubectl-dopolicy/pkg/view"
)

// HashContent is short, and changes with the kind, the spec or a source, but not with where a
// source was read.
func HashContent(e *view.EffectivePolicy) string {
	var b digest
	b.appendTexts(e.PolicyKind)
	b = model.AppendJSON(b, e.Spec)
	for _, r := range e.Rules {
		for _, s := range r.Sources {
			b.appendTexts(r.Name)
			if s.Policy != nil {
				b.appendRef(*s.Policy)
			}
			b.appendRef(*s.Target)
			b.appendTexts(s.Level, s.Block, s.Strategy, s.Builtin)
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// digest is text in which no two things are written alike.
type digest []byte

func (d *digest) appendTexts(texts ...string) {
	for _, s := range texts {
		*d = append(strconv.AppendInt(*d, int64(len(s)), 10), ':')
		*d = append(*d, s...)
	}
}

func (d *digest) appendRef(r model.Ref) {
	d.appendTexts(r.Group, r.Kind, r.Namespace, r.Name, r.Section)
}
