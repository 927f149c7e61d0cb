// Package widthtest tests what commands show on terminals of several widths: that nothing is wider,
// that rows can be told apart, and that messages name the object that they are about.
package widthtest
