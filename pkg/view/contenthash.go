package view

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"

	"github.com/dopolicy/kubectl-dopolicy/pkg/model"
)

// contentHash is short, and changes with the kind, the spec or a source, but not with where a source was read.
func contentHash(e *EffectivePolicy) string {
	var b digest
	b.text(e.PolicyKind)
	b = model.AppendJSON(b, e.Spec)
	for _, r := range e.Rules {
		for _, s := range r.Sources {
			b.text(r.Name)
			if s.Policy != nil {
				b.ref(*s.Policy)
			}
			b.ref(*s.Target)
			b.text(s.Level, s.Block, s.Strategy, s.Builtin)
		}
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:6])
}

// digest is text in which no two things are written alike.
type digest []byte

func (d *digest) text(texts ...string) {
	for _, s := range texts {
		*d = append(strconv.AppendInt(*d, int64(len(s)), 10), ':')
		*d = append(*d, s...)
	}
}

func (d *digest) ref(r model.Ref) { d.text(r.Group, r.Kind, r.Namespace, r.Name, r.Section) }
