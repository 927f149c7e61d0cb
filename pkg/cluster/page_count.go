package cluster

import "fmt"

// How many pages a list may have.
const (
	maxEmptyPages  = 10  // one after the other, that bring nothing
	maxPages       = 100 // and one more for every so many objects:
	objectsPerPage = 50
)

// pageCount counts the pages of a list that goes on.
type pageCount struct{ pages, objects, empty int }

// addPage counts a page with so many objects of those that were asked for (0: all of them). The error
// says that the list has too many pages.
func (c *pageCount) addPage(objects, asked int) error {
	c.pages++
	c.objects += objects
	if c.empty++; objects > 0 {
		c.empty = 0
	}
	if c.empty > maxEmptyPages {
		return fmt.Errorf("the list goes on without an object for more than %d pages", maxEmptyPages)
	}
	each := objectsPerPage
	if asked > 0 {
		each = min(each, asked)
	}
	if c.pages > maxPages+c.objects/each {
		return fmt.Errorf(
			"the list goes on after %d pages with %d objects: it may have %d pages, and one more for every %d objects",
			c.pages, c.objects, maxPages, each)
	}
	return nil
}
