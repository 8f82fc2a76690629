package mutants

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// writing are the calls that write, or lead to the effect, by their names.
var writing = []string{
	"acquire", "run", "commit", "refuse", "settle", "effect", "deliver", "end", "giveBack", "park", "keep", "put", "amend", "change", "complete", "transact", "join", "execute", "hide", "quarantine",
	"Claim", "Amend", "Replace",
	"PutItem", "UpdateItem", "DeleteItem", "TransactWriteItems", "BatchExecuteStatement", "SendMessage", "ChangeMessageVisibility",
}

// orders are the functions that make two such calls or more, in their order, and the
// steps that break it; none where one call alone is made of several that there may be.
// Whoever adds a call finds it missing here, and asks what its place must be.
var orders = map[string]struct {
	calls string
	steps []string
}{
	"dynamo/group Amend":   {"Amend keep join amend", []string{"a completion in a group before its large result"}},
	"dynamo/group Claim":   {"Claim join Claim", nil},
	"dynamo/ledger commit": {"Claim transact", nil},
	"dynamo/ledger try":    {"commit Claim", []string{"a ledger's refusal before its record"}},
	"dynamo/store Amend":   {"keep amend", []string{"a completion before its large result"}},
	"dynamo/store Replace": {"keep change", []string{"a settlement before its large result"}},
	"dynamo/store change":  {"complete UpdateItem", nil},
	"dynamo/store put":     {"keep PutItem", []string{"a ledger's record before its large result"}},
	"intent/claim acquire": {"Claim settle Replace Replace Replace giveBack", []string{"a claim that may have landed is not given back"}},
	"intent/claim deliver": {"acquire run", []string{"the effect before the claim"}},
	"intent/run run": {"giveBack effect end end end", []string{
		"the effect before the last look at the lease", "the completion before the effect", "the release after the answer",
	}},
	"sqsbatch/lane deliver": {"deliver quarantine hide", []string{"the acknowledgement before the copy in quarantine"}},
}

// No two writes come to stand beside each other unseen.
func TestWritesBesideEachOther(t *testing.T) {
	root, found := library(t), map[string]string{}
	for _, pattern := range []string{"shared/intent/*.go", "shared/dynamo/*.go", "shared/sqsbatch/*.go", "functions/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			if strings.HasSuffix(file, "_test.go") {
				continue
			}
			f, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range f.Decls {
				fn, ok := d.(*ast.FuncDecl)
				if !ok {
					continue
				}
				if calls := writesOf(fn); len(calls) > 1 {
					found[path.Base(path.Dir(filepath.ToSlash(file)))+"/"+strings.TrimSuffix(filepath.Base(file), ".go")+" "+fn.Name.Name] = strings.Join(calls, " ")
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(found)) {
		if orders[name].calls != found[name] {
			t.Errorf("%s writes in the order %q, known is %q: is there a step for it?", name, found[name], orders[name].calls)
		}
	}
	for name, known := range orders {
		if found[name] == "" {
			t.Errorf("%s does not write twice", name)
		}
		for _, s := range known.steps {
			if !slices.ContainsFunc(steps, func(of step) bool { return of.name == s }) {
				t.Errorf("%s: no step is %q", name, s)
			}
		}
	}
}

// writesOf are the calls in a function, in their order.
func writesOf(fn *ast.FuncDecl) (calls []string) {
	ast.Inspect(fn, func(n ast.Node) bool {
		if call, ok := n.(*ast.CallExpr); ok && underContext(call) {
			name := ""
			switch f := call.Fun.(type) {
			case *ast.Ident:
				name = f.Name
			case *ast.SelectorExpr:
				name = f.Sel.Name
			}
			if slices.Contains(writing, name) {
				calls = append(calls, name)
			}
		}
		return true
	})
	return calls
}

// underContext: what writes takes a context first.
func underContext(call *ast.CallExpr) bool {
	if len(call.Args) == 0 {
		return false
	}
	first, ok := call.Args[0].(*ast.Ident)
	return ok && strings.HasSuffix(strings.ToLower(first.Name), "ctx")
}
