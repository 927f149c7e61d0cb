package policy

// StatusWords are a kind's own words for whether a policy is in force (gep713 §6), and who writes its conditions instead.
type StatusWords struct {
	Type    string       // of the condition
	All     string       // reason: in force everywhere
	Some    string       // in force somewhere or in part
	None    string       // in force nowhere
	NoScope string       // nothing to be in force on; "" for no condition
	Func    string       // the registered writer; "" for the usual conditions
	Silent  bool         // the vendor writes no conditions
	States  []StateField // words in the place of conditions; Func predicts them as conditions of the type with the word as status and reason
	Marks   string       // the registered writer of marks on other objects
	Refuses bool         // a policy is not attached where its status has no room for another ancestor
	// Complete are the types of conditions that Func writes wherever they hold: one that it does not write is not so.
	Complete []string
}

// StateField is a word by which the vendor says what became of a policy, in the place of a condition.
type StateField struct {
	At    []string // its place in the object; * is every key
	Words []string // what numbers mean; nil: the word itself is written
}

// Type is that of the condition that stands for the word: the last part of its place.
func (f StateField) Type() string { return f.At[len(f.At)-1] }

// UsualInForce is the type of the condition by which policies say that they are in force, where a kind has no word of its own.
const UsualInForce = "Programmed"

// MaxAncestors is how many entries the status of a policy has room for (gep713 P38).
const MaxAncestors = 16
