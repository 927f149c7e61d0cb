package view

// Facts is a block of lines, each a word and what there is to say about it.
type Facts struct{ block Block }

// NewFacts returns facts without lines.
func NewFacts() *Facts {
	return &Facts{Block{Columns: []Column{{}, {Rank: 1, MinWidth: 40, Wrap: true}}}}
}

// Add adds a line, unless there is nothing to say.
func (f *Facts) Add(word, text string) {
	if text != "" {
		f.block.Rows = append(f.block.Rows, []Cell{{Text: word, Tone: Dim}, {Text: text}})
	}
}

// AddList adds a line for each text; the word stands before the first.
func (f *Facts) AddList(word string, texts []string) {
	for i, text := range texts {
		if i > 0 {
			word = ""
		}
		f.Add(word, text)
	}
}

// Block returns the lines as a block.
func (f *Facts) Block() Block { return f.block }
