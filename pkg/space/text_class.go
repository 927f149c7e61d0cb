package space

import "github.com/dopolicy/kubectl-dopolicy/pkg/request"

// TextClass is a set of values of one part of requests that tests do not tell apart.
type TextClass struct {
	Text   string // the shortest of them
	Absent bool   // the header or parameter is not there at all
	Words  string // which values these are, as in "paths below /cart"
}

// SplitTexts tells the values of one part of requests apart by what tests ask of it: the path, or the
// header or query parameter of a name. It is not ok if the expressions among them tell apart more
// than can be followed.
func SplitTexts(of request.Aspect, name string, tests []request.Test) (classes []TextClass, ok bool) {
	alphabets := map[request.Aspect]alphabet{request.AspectPath: pathAlphabet, request.AspectHeader: headerAlphabet}
	t := newTextSplitter(alphabets[of], tests)
	if !t.splitTexts() {
		return nil, false
	}
	one := part{partKey: partKey{of: of, name: name}, splitter: t}
	if of == request.AspectHeader || of == request.AspectQuery {
		one.absent = true
		classes = append(classes, TextClass{Absent: true, Words: one.formatText()})
		one.absent = false
	}
	for _, one.set = range t.sets {
		classes = append(classes, TextClass{Text: one.set.text, Words: one.formatText()})
	}
	return classes, true
}
