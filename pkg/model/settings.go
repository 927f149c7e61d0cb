package model

import "maps"

// Settings are the vendor switches in force, by full name (vendor.name). The zero value has no
// switch set. Which names exist, their types and their defaults is the catalogue's business; here
// every value is already checked.
type Settings struct {
	values map[string]any
	chosen map[string]bool // by name: a user set it; the others have their defaults
}

// NewSettings holds the given values; the map is not copied and must not be changed afterwards.
func NewSettings(values map[string]any) Settings { return Settings{values: values} }

// WithChosen is s of which a user set the named switches.
func (s Settings) WithChosen(names []string) Settings {
	s.chosen = make(map[string]bool, len(names))
	for _, name := range names {
		s.chosen[name] = true
	}
	return s
}

// IsChosen reports whether a user set a switch.
func (s Settings) IsChosen(name string) bool { return s.chosen[name] }

// With is s with one switch set to another text.
func (s Settings) With(name, value string) Settings {
	values := maps.Clone(s.values)
	if values == nil {
		values = map[string]any{}
	}
	values[name] = value
	return Settings{values, s.chosen}
}

// Text is the value of a text switch, "" if it is not set.
func (s Settings) Text(name string) string {
	v, _ := s.values[name].(string)
	return v
}

// Bool is the value of a true-or-false switch, false if it is not set.
func (s Settings) Bool(name string) bool {
	v, _ := s.values[name].(bool)
	return v
}

// IsOff reports whether a true-or-false switch is set to false; one that is not set is not off.
func (s Settings) IsOff(name string) bool {
	v, set := s.values[name].(bool)
	return set && !v
}
