package main

import (
	"io/fs"
	"strings"
	"testing"
)

// Every kind has its letter, and every letter its kind.
func TestLetters(t *testing.T) {
	files, err := fs.Glob(letterFiles, "letters/*")
	if err != nil || len(files) != len(kinds) {
		t.Errorf("letters: got %v and error %v, want one for each of %v", files, err, kinds)
	}
	subjects := map[string]kind{}
	for _, k := range kinds {
		t.Run(string(k), func(t *testing.T) {
			for name, greeting := range map[string]string{"Ada": "Hello Ada,\n", "": "Hello,\n", " Ada \n Lovelace\t": "Hello Ada Lovelace,\n"} {
				l, err := render(k, name)
				if err != nil {
					t.Fatal(err)
				}
				if l.subject == "" || strings.ContainsAny(l.subject, "\r\n\t") || l.subject != strings.TrimSpace(l.subject) {
					t.Errorf("subject for %q: got %q, want one line", name, l.subject)
				}
				if !strings.HasPrefix(l.text, greeting) || !strings.HasSuffix(l.text, ".\n") {
					t.Errorf("text for %q: got %q, want it to begin with %q", name, l.text, greeting)
				}
				if strings.ContainsAny(l.subject+l.text, "{}") {
					t.Errorf("for %q: got %q, %q: not filled in", name, l.subject, l.text)
				}
			}
			l, err := render(k, "")
			if err != nil {
				t.Fatal(err)
			}
			if other, taken := subjects[l.subject]; taken {
				t.Errorf("has the subject of %s", other)
			}
			subjects[l.subject] = k
		})
	}
}

// A letter is plain text: a name is what it is, and no template either.
func TestNameIsNotMarkup(t *testing.T) {
	const name = "O'Hara & Sons <{ name}>"
	l, err := render(signup, name)
	if err != nil || l.subject != "Welcome, "+name || !strings.HasPrefix(l.text, "Hello "+name+",\n") {
		t.Errorf("got %+v and error %v", l, err)
	}
}
