package sim

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/singleeffect/once/shared/intenttest/memdb"
)

func counting(name string) Plan {
	return Plan{Name: name, Tables: []memdb.Table{{Name: "counters", Keys: []string{"order_id"}}}, New: func(*World) System { return still{} }}
}

// count adds one to a counter.
func count(ctx context.Context, p *Process) error {
	_, err := p.DB().UpdateItem(ctx, &dynamodb.UpdateItemInput{
		TableName: aws.String("counters"), Key: item{"order_id": &types.AttributeValueMemberS{Value: "a"}}, UpdateExpression: aws.String("ADD n :one"),
		ExpressionAttributeValues: item{":one": &types.AttributeValueMemberN{Value: "1"}},
	})
	return err
}

func counted(w *World) string {
	for _, it := range w.DB.Items("counters") {
		return it["n"].(*types.AttributeValueMemberN).Value
	}
	return "0"
}

// What a fate says of a call is what comes of it, at the table and for the caller.
func TestFates(t *testing.T) {
	tests := []struct {
		fate   fate
		counts string // in the end
		hears  string // the caller
	}{
		{fine, "1", "ok"},
		{unreached, "0", "error"},
		{dropped, "0", "error"},
		{unheard, "1", "error"},
		{again, "2", "ok"},
		{slow, "1", "ok"},
		{copied, "2", "ok"},
		{throttled, "0", "error"},
		{conflicting, "0", "error"},
		{partly, "1", "ok"}, // it has no parts
		{dieBefore, "0", "nothing"},
		{dieAfter, "1", "nothing"},
	}
	for _, tt := range tests {
		t.Run(string(tt.fate), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(counting("q"), 1)
				w.workers[0].start()
				p := w.workers[0].process
				heard := "nothing"
				go func() {
					if err := count(t.Context(), p); err != nil {
						heard = "error"
					} else {
						heard = "ok"
					}
				}()
				synctest.Wait()
				w.meet(w.ready()[0], tt.fate)
				w.settle()
				if got := counted(w); got != tt.counts || heard != tt.hears {
					t.Errorf("counted %s and heard %s, want %s and %s", got, heard, tt.counts, tt.hears)
				}
			})
		})
	}
}

// Of a process that is killed nothing more arrives, whoever of it sends.
func TestNothingComesFromTheDead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(counting("q"), 1)
		w.calm = true
		w.workers[0].start()
		p := w.workers[0].process
		for range 3 {
			go func() {
				for {
					_ = count(t.Context(), p)
				}
			}()
		}
		synctest.Wait()
		w.meet(w.ready()[0], dieAfter)
		w.settle()
		if got := counted(w); got != "1" {
			t.Errorf("counted %s, want 1", got)
		}
	})
}

// Who gives up before the call is let through has not made it; a frozen process's is not let through.
func TestGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(counting("q"), 1)
		w.calm = true
		w.workers[0].start()
		p := w.workers[0].process
		p.frozen = time.Now().Add(time.Minute)
		var first, second error
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			first = count(ctx, p)
			second = count(t.Context(), p)
		}()
		begun := time.Now()
		w.settle()
		if first == nil || second != nil || counted(w) != "1" || time.Since(begun) < time.Minute {
			t.Errorf("got %v and %v, counted %s after %v; want the second alone to arrive, after a minute", first, second, counted(w), time.Since(begun))
		}
	})
}
