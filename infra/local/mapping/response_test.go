package mapping_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-lambda-go/events"

	"github.com/singleeffect/once/infra/local/mapping"
)

// answers has every kind of answer to a batch of two messages; ID1 and ID2 stand for their ids. left is how many stay
// in the queue, why part of the reason if that is the whole batch.
var answers = map[string]struct {
	answer string
	left   int
	why    string
}{
	"empty list":            {`{"batchItemFailures":[]}`, 0, ""},
	"null list":             {`{"batchItemFailures":null}`, 0, ""},
	"empty response":        {`{}`, 0, ""},
	"null response":         {`null`, 0, ""},
	"absent response":       {``, 0, ""},
	"other keys only":       {`{"statusCode":200}`, 0, ""},
	"list in upper case":    {`{"BatchItemFailures":[{"itemIdentifier":"ID1"}]}`, 0, ""},
	"the first":             {`{"batchItemFailures":[{"itemIdentifier":"ID1"}]}`, 1, ""},
	"the second":            {`{"batchItemFailures":[{"itemIdentifier":"ID2"}]}`, 1, ""},
	"the first twice":       {`{"batchItemFailures":[{"itemIdentifier":"ID1"},{"itemIdentifier":"ID1"}]}`, 1, ""},
	"both":                  {`{"batchItemFailures":[{"itemIdentifier":"ID1"},{"itemIdentifier":"ID2"}]}`, 2, ""},
	"and more beside it":    {` {"batchItemFailures":[{"itemIdentifier":"ID1","reason":"x"}],"more":1} `, 1, ""},
	"identifier empty":      {`{"batchItemFailures":[{"itemIdentifier":""}]}`, 2, "[0].itemIdentifier is empty"},
	"identifier null":       {`{"batchItemFailures":[{"itemIdentifier":null}]}`, 2, "[0].itemIdentifier is empty"},
	"identifier unknown":    {`{"batchItemFailures":[{"itemIdentifier":"nobody"}]}`, 2, `"nobody" is no message id of this batch`},
	"identifier a number":   {`{"batchItemFailures":[{"itemIdentifier":1}]}`, 2, "not a string"},
	"identifier misnamed":   {`{"batchItemFailures":[{"messageId":"ID1"}]}`, 2, "[0] has no itemIdentifier"},
	"identifier upper case": {`{"batchItemFailures":[{"ItemIdentifier":"ID1"}]}`, 2, "[0] has no itemIdentifier"},
	"one good, one bad":     {`{"batchItemFailures":[{"itemIdentifier":"ID1"},{"itemIdentifier":""}]}`, 2, "[1].itemIdentifier is empty"},
	"entry null":            {`{"batchItemFailures":[null]}`, 2, "[0] has no itemIdentifier"},
	"entry a string":        {`{"batchItemFailures":["ID1"]}`, 2, "not a list of objects"},
	"list a string":         {`{"batchItemFailures":"ID1"}`, 2, "not a list of objects"},
	"response a string":     {`"ok"`, 2, "not a JSON object"},
	"response a list":       {`[]`, 2, "not a JSON object"},
	"no JSON":               {`done`, 2, "not a JSON object"},
	"half a document":       {`{"batchItemFailures":[`, 2, "not a JSON object"},
	"two documents":         {`{} {}`, 2, "not a JSON object"},
}

func TestC05PartialBatchResponse(t *testing.T) {
	for name, tc := range answers {
		t.Run(name, func(t *testing.T) {
			onStage(t, "q", func(t *testing.T, s *stage) {
				ids := s.send("one", "two")
				stop := s.run(mapping.Config{ReportBatchItemFailures: true}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
					return strings.NewReplacer("ID1", e.Records[0].MessageId, "ID2", e.Records[1].MessageId).Replace(tc.answer), nil
				}))
				defer stop()
				// What failed is not made visible: it is in flight until its visibility timeout is over.
				s.wantCounts(s.url, 0, tc.left)
				b := s.fates()[0]
				if !slices.Equal(b.Messages, ids) || len(b.Left) != tc.left {
					t.Errorf("batch = %+v", b)
				}
				switch {
				case tc.why == "" && b.Err != nil, tc.why != "" && (b.Err == nil || !strings.Contains(b.Err.Error(), tc.why)):
					t.Errorf("err = %v, want %q", b.Err, tc.why)
				}
			})
		})
	}
}

// TestC03WithoutReportBatchItemFailures: the listed failures of a mapping that does not ask for them are deleted.
func TestC03WithoutReportBatchItemFailures(t *testing.T) {
	for name, tc := range answers {
		t.Run(name, func(t *testing.T) {
			onStage(t, "q", func(t *testing.T, s *stage) {
				s.send("one", "two")
				stop := s.run(mapping.Config{}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
					return strings.ReplaceAll(tc.answer, "ID1", e.Records[0].MessageId), nil
				}))
				defer stop()
				s.wantCounts(s.url, 0, 0)
				if b := s.fates()[0]; len(b.Left) != 0 || b.Err != nil {
					t.Errorf("batch = %+v", b)
				}
			})
		})
	}
}

func TestFunctionErrorFailsTheWholeBatch(t *testing.T) {
	crash := errors.New("signal: killed")
	for _, report := range []bool{false, true} {
		onStage(t, "q", func(t *testing.T, s *stage) {
			ids := s.send("one", "two")
			stop := s.run(mapping.Config{ReportBatchItemFailures: report}, function(func(_ context.Context, e events.SQSEvent) (string, error) {
				return failing(e, "one"), crash // an answer beside an error does not count
			}))
			defer stop()
			s.wantCounts(s.url, 0, 2)
			if b := s.fates()[0]; !errors.Is(b.Err, crash) || !slices.Equal(b.Left, ids) {
				t.Errorf("batch = %+v", b)
			}
		})
	}
}
