// A version that cannot start: it reads a variable that its stack does not declare.
package main

import (
	"fmt"
	"os"
)

func main() {
	if os.Getenv("LEDGER_TABLE") == "" {
		fmt.Fprintln(os.Stderr, "LEDGER_TABLE is missing")
		os.Exit(1)
	}
}
