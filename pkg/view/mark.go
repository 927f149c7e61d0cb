package view

import "strings"

// unsure stands in front of a line that what could not be read may change.
const unsure = "? "

// markUnsure marks the line if any list that may change it could not be read.
func markUnsure(row []Cell, unread []string) []Cell {
	if len(unread) > 0 {
		row[0].Text = unsure + row[0].Text
	}
	return row
}

// labelled puts a cell in front of a line, with the line's mark.
func labelled(label Cell, row []Cell) []Cell {
	if text, marked := strings.CutPrefix(row[0].Text, unsure); marked {
		row[0].Text, label.Text = text, unsure+label.Text
	}
	return append([]Cell{label}, row...)
}

// unsureLine explains the mark.
func unsureLine(marked bool) []string {
	if !marked {
		return nil
	}
	return []string{"? = what could not be read may change this line"}
}
