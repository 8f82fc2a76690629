package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"testing"
	"time"

	"github.com/singleeffect/once/shared/intenttest"
)

// at spoils the n-th call of an operation.
func at(n int, operation string, fault intenttest.Fault) func(intenttest.Call) intenttest.Fault {
	return func(call intenttest.Call) intenttest.Fault {
		if call.Operation == operation && call.Number == n {
			return fault
		}
		return intenttest.Fault{}
	}
}

func refusal(name string) intenttest.Fault {
	return intenttest.Fault{Reply: &intenttest.Reply{Status: 400, Body: `{"__type":"com.amazonaws.dynamodb.v20120810#` + name + `","message":"spoilt"}`}}
}

// An item that is taken out and put in again between the query and its delete stays.
func TestPutInAgainBeforeItsDelete(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 30, 0)
	w.faults.Plan = func(call intenttest.Call) intenttest.Fault {
		if call.Operation == "DeleteItem" && bytes.Contains(call.Body, []byte(`"item-017"`)) {
			return intenttest.Fault{Before: func() { w.add(t, "7", "item-017", noon+1) }}
		}
		return intenttest.Fault{}
	}
	w.wantDone(t, message("7", noon))
	w.wantCart(t, "item-017")
}

// The SDK's retry finds the item gone, or put in again since.
func TestLostReply(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 5, 0)
	w.faults.Plan = at(2, "DeleteItem", intenttest.Fault{LoseReply: true})
	w.wantDone(t, message("7", noon))
	w.wantCart(t)
	if got := w.faults.Counts(); got["DeleteItem"] != 6 {
		t.Errorf("deletes: got %d, want 5 and a retry", got["DeleteItem"])
	}

	w.faults = new(intenttest.Faults)
	w.fill(t, 1, 0)
	w.faults.Plan = at(1, "DeleteItem", intenttest.Fault{LoseReply: true, After: func() { w.add(t, "7", "item-000", noon+1) }})
	w.wantDone(t, message("7", noon))
	w.wantCart(t, "item-000")
	if got := w.faults.Counts(); got["DeleteItem"] != 2 {
		t.Errorf("deletes: got %d, want 1 and a retry", got["DeleteItem"])
	}
}

// A half-done delete is an error, and the next delivery finishes it; what was put in between stays.
func TestHalfDone(t *testing.T) {
	deletes := func(n int, fault intenttest.Fault) func(intenttest.Call) intenttest.Fault {
		return func(call intenttest.Call) intenttest.Fault {
			if call.Operation == "DeleteItem" && call.Number >= n {
				return fault
			}
			return intenttest.Fault{}
		}
	}
	for name, plan := range map[string]func(cancel func()) func(intenttest.Call) intenttest.Fault{
		"throttled": func(func()) func(intenttest.Call) intenttest.Fault {
			return deletes(10, refusal("ProvisionedThroughputExceededException"))
		},
		"a transaction under way": func(func()) func(intenttest.Call) intenttest.Fault {
			return at(10, "DeleteItem", refusal("TransactionConflictException"))
		},
		"connections die": func(func()) func(intenttest.Call) intenttest.Fault { return deletes(10, intenttest.Fault{Drop: true}) },
		"the second page throttled": func(func()) func(intenttest.Call) intenttest.Fault {
			return func(call intenttest.Call) intenttest.Fault {
				if call.Operation == "Query" && call.Number > 1 {
					return refusal("ThrottlingException")
				}
				return intenttest.Fault{}
			}
		},
		"given up": func(cancel func()) func(intenttest.Call) intenttest.Fault {
			return at(10, "DeleteItem", intenttest.Fault{After: cancel})
		},
		"given up while a page is read": func(cancel func()) func(intenttest.Call) intenttest.Fault {
			return at(2, "Query", intenttest.Fault{Before: cancel})
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.fill(t, 30, 45_000)
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			w.faults.Plan = plan(cancel)
			w.wantListed(t, ctx, message("7", noon))
			left := len(w.cart(t, "7"))
			if left == 0 || left == 30 {
				t.Errorf("left in the cart: got %d, want some of 30", left)
			}
			w.faults.Plan = nil
			w.add(t, "7", "since", noon+1)
			w.wantDone(t, message("7", noon))
			w.wantCart(t, "since")
		})
	}
}

// What has not begun in time is left to the next delivery: the effect ends before its invocation does.
func TestDeadline(t *testing.T) {
	w := newWorld(t)
	w.fill(t, 30, 0)
	w.faults.Plan = func(call intenttest.Call) intenttest.Fault {
		if call.Operation == "DeleteItem" && call.Number > 10 {
			return intenttest.Fault{Delay: time.Minute} // ends with the caller's patience
		}
		return intenttest.Fault{}
	}
	const timeout = 2 * time.Second
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	w.wantListed(t, ctx, message("7", noon))
	if ctx.Err() != nil {
		t.Error("the answer came after the deadline")
	}
	if got := len(w.cart(t, "7")); got != 20 {
		t.Errorf("left in the cart: got %d, want 20", got)
	}
	w.faults.Plan = nil
	w.wantDone(t, message("7", noon))
	w.wantCart(t)
}

// A worker's process is killed in the middle of a cart.
func TestKilled(t *testing.T) {
	const table = "CLEARCART_TEST_TABLE"
	if name := os.Getenv(table); name != "" { // the process that is killed
		w := &world{carts: name, faults: new(intenttest.Faults), dead: new(intenttest.DeadLetters)}
		tenth := at(10, "DeleteItem", intenttest.Fault{After: func() {
			if err := syscall.Kill(os.Getpid(), syscall.SIGKILL); err != nil {
				t.Error(err)
			}
		}})
		w.faults.Plan = func(call intenttest.Call) intenttest.Fault {
			if call.Operation == "DeleteItem" && call.Number > 10 {
				return intenttest.Fault{Delay: time.Minute} // however slow the tenth's answer is
			}
			return tenth(call)
		}
		handle(t, t.Context(), w.worker(t), message("7", noon))
		t.Fatal("lived on")
	}
	w := newWorld(t)
	w.fill(t, 30, 45_000)
	child := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestKilled$")
	child.Env = append(os.Environ(), table+"="+w.carts, "DYNAMODB_ENDPOINT="+*w.db.Options().BaseEndpoint)
	output, err := child.CombinedOutput()
	var exit *exec.ExitError
	if !errors.As(err, &exit) || exit.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Fatalf("got %v, want the worker killed:\n%s", err, output)
	}
	if left := len(w.cart(t, "7")); left <= 20-sideBySide || left >= 20+sideBySide {
		t.Errorf("left in the cart: got %d, want 20, but for what was under way beside the tenth delete", left)
	}
	w.add(t, "7", "since", noon+1)
	w.wantDone(t, message("7", noon))
	w.wantCart(t, "since")
}
