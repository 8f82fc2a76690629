package memdb

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go/logging"

	"github.com/singleeffect/once/shared/intenttest"
)

func newDB(plan func(Call) Fault) *DB {
	return New(Config{Tables: []Table{{Name: "items", Keys: []string{"id"}, TTL: "expires_at"},
		{Name: "sorted", Keys: []string{"id", "name"}}}, Plan: plan})
}

func once(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }

// The database and the SDK's client in front of it answer alike, outputs and errors, for what the tables of the other tests ask.
func TestThroughSDK(t *testing.T) {
	direct, behind := newDB(nil), newDB(nil)
	client := behind.Client(once)
	table := "items"
	big := item{"id": s("values"), "list": l(n("1e3"), m(item{"x": null()}), bs("a", "b")), "set": ns("3", "1"),
		"text": s("<é\u2028\x00\">"), "bytes": b("\x00\xff"), "no": boolean(false), "none": l()}
	calls := map[string]asked{
		"1 put":         putting(dynamodb.PutItemInput{TableName: &table, Item: big, ReturnConsumedCapacity: indexes}),
		"2 put over it": putting(dynamodb.PutItemInput{TableName: &table, Item: big, ReturnValues: types.ReturnValueAllOld}),
		"3 refused": putting(dynamodb.PutItemInput{TableName: &table, Item: big,
			ConditionExpression: aws.String("attribute_not_exists(id)"), ReturnValuesOnConditionCheckFailure: allOld}),
		"4 update": updating(dynamodb.UpdateItemInput{TableName: &table, Key: item{"id": s("counter")}, UpdateExpression: aws.String("ADD #n :one"),
			ExpressionAttributeNames: map[string]string{"#n": "n"}, ExpressionAttributeValues: item{":one": n(1)},
			ReturnValues: types.ReturnValueAllNew}),
		"5 get":         getting(dynamodb.GetItemInput{TableName: &table, Key: item{"id": s("values")}, ConsistentRead: aws.Bool(true)}),
		"5 get nothing": getting(dynamodb.GetItemInput{TableName: &table, Key: item{"id": s("nothing")}}),
		"5 get no part": getting(dynamodb.GetItemInput{TableName: &table, Key: item{"id": s("values")}, ProjectionExpression: aws.String("nothing")}),
		"5 no table":    getting(dynamodb.GetItemInput{TableName: aws.String("nobodys"), Key: item{"id": s("values")}}),
		"6 query": querying(dynamodb.QueryInput{TableName: &table, KeyConditionExpression: aws.String("id = :id"),
			ExpressionAttributeValues: item{":id": s("values")}, Limit: aws.Int32(1), ScanIndexForward: aws.Bool(false)}),
		"6 scan": func(ctx context.Context, a api) (any, error) {
			return orErr(a.Scan(ctx, &dynamodb.ScanInput{TableName: &table, Select: types.SelectCount}))
		},
		"7 batch get":   batchGetting(dynamodb.BatchGetItemInput{RequestItems: map[string]types.KeysAndAttributes{table: {Keys: []map[string]types.AttributeValue{{"id": s("values")}, {"id": s("nothing")}}}}}),
		"7 transaction": transacting(dynamodb.TransactWriteItemsInput{TransactItems: []types.TransactWriteItem{{Delete: &types.Delete{TableName: &table, Key: item{"id": s("values")}, ConditionExpression: aws.String("attribute_not_exists(id)"), ReturnValuesOnConditionCheckFailure: allOld}}}}),
		"8 statement": executing(dynamodb.ExecuteStatementInput{Statement: aws.String("SELECT * FROM items WHERE id=?"),
			Parameters: []types.AttributeValue{s("counter")}}),
		"9 statements":   batching(dynamodb.BatchExecuteStatementInput{Statements: []types.BatchStatementRequest{{Statement: aws.String("INSERT INTO items VALUE {'id':'counter'}"), ReturnValuesOnConditionCheckFailure: allOld}}, ReturnConsumedCapacity: total}),
		"9 duplicate":    executing(dynamodb.ExecuteStatementInput{Statement: aws.String("INSERT INTO items VALUE {'id':'counter'}")}),
		"9 delete":       deleting(dynamodb.DeleteItemInput{TableName: &table, Key: item{"id": s("values")}, ReturnValues: types.ReturnValueAllOld}),
		"9 invalid":      deleting(dynamodb.DeleteItemInput{TableName: &table, Key: item{"id": s("")}}),
		"9 create again": func(ctx context.Context, a api) (any, error) { return orErr(a.CreateTable(ctx, createInput(table))) },
	}
	for _, name := range sortedNames(calls) {
		t.Run(name, func(t *testing.T) {
			got, want := written(calls[name](t.Context(), client)), written(calls[name](t.Context(), direct))
			if got != want {
				t.Errorf("through the SDK: %s\ndirect:          %s", got, want)
			}
		})
	}
}

func createInput(table string) *dynamodb.CreateTableInput {
	return &dynamodb.CreateTableInput{
		TableName: &table, BillingMode: types.BillingModePayPerRequest,
		KeySchema:            []types.KeySchemaElement{{AttributeName: aws.String("id"), KeyType: types.KeyTypeHash}},
		AttributeDefinitions: []types.AttributeDefinition{{AttributeName: aws.String("id"), AttributeType: types.ScalarAttributeTypeS}},
	}
}

// Each answer comes with its sum. The SDK compares it and, since it closes the body only when it has read the answer, tells its log.
func TestChecksum(t *testing.T) {
	db := newDB(nil)
	for _, body := range []string{`{"TableName":"items","Item":{"id":{"S":"é"}}}`, `{"TableName":"items","Item":{}}`} {
		req := httptest.NewRequest(http.MethodPost, "http://memdb/", strings.NewReader(body))
		req.Header.Set("X-Amz-Target", target+"PutItem")
		resp, err := db.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := resp.Header.Get("X-Amz-Crc32"), fmt.Sprint(crc32.ChecksumIEEE(answer)); got != want {
			t.Errorf("checksum of %s: %s, want %s", answer, got, want)
		}
		if !json.Valid(answer) {
			t.Errorf("answer %s is no JSON", answer)
		}
	}
	for _, wrong := range []bool{false, true} {
		var log strings.Builder
		transport := roundTrip(func(req *http.Request) (*http.Response, error) {
			resp, err := db.RoundTrip(req)
			if err == nil && wrong {
				resp.Header.Set("X-Amz-Crc32", "1")
			}
			return resp, err
		})
		client := db.Client(once, func(o *dynamodb.Options) {
			o.HTTPClient, o.Logger = &http.Client{Transport: transport}, logging.NewStandardLogger(&log)
		})
		if _, err := client.GetItem(t.Context(), &dynamodb.GetItemInput{TableName: aws.String("items"), Key: item{"id": s("é")}}); err != nil {
			t.Error(err)
		}
		if strings.Contains(log.String(), "checksum") != wrong {
			t.Errorf("wrong sum %t: the SDK logs %q", wrong, log.String())
		}
	}
}

type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

// What is no call of DynamoDB's, or none that the database knows, is refused in words.
func TestProtocolErrors(t *testing.T) {
	db := newDB(nil)
	for name, c := range map[string]struct{ target, body, want string }{
		"no target":          {"", "{}", "UnknownOperationException"},
		"unknown operation":  {target + "ListTables", "{}", "UnknownOperationException"},
		"no JSON":            {target + "GetItem", "{", "SerializationException"},
		"no object":          {target + "GetItem", "[]", "SerializationException"},
		"wrong kind":         {target + "GetItem", `{"TableName":7}`, "SerializationException"},
		"no number":          {target + "Query", `{"TableName":"items","Limit":"7"}`, "SerializationException"},
		"unknown member":     {target + "GetItem", `{"TableName":"items","Colour":"red"}`, "memdb does not support Colour"},
		"value of two kinds": {target + "GetItem", `{"TableName":"items","Key":{"id":{"S":"a","N":"1"}}}`, "more than one datatypes"},
		"value of no kind":   {target + "GetItem", `{"TableName":"items","Key":{"id":{}}}`, "AttributeValue is empty"},
		"value of what kind": {target + "GetItem", `{"TableName":"items","Key":{"id":{"X":"a"}}}`, "AttributeValue is empty"},
		"bytes in no base64": {target + "GetItem", `{"TableName":"items","Key":{"id":{"B":"?"}}}`, "SerializationException"},
		"no table":           {target + "GetItem", `{}`, "'tableName'"},
	} {
		status, answer, err := db.respond(t.Context(), c.target, []byte(c.body))
		if err != nil || status != http.StatusBadRequest || !bytes.Contains(answer, []byte(c.want)) {
			t.Errorf("%s: %d %s, error %v; want %s", name, status, answer, err, c.want)
		}
	}
}

// Other processes reach it by sockets; a lost reply breaks their connection.
func TestServer(t *testing.T) {
	lose := false
	db := newDB(func(Call) Fault { return Fault{LoseReply: lose} })
	server := httptest.NewUnstartedServer(db)
	server.Config.ErrorLog = nil
	server.Start()
	defer server.Close()
	client := db.Client(once, func(o *dynamodb.Options) { o.BaseEndpoint, o.HTTPClient = &server.URL, server.Client() })
	put := &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item{"id": s("a")},
		ConditionExpression: aws.String("attribute_not_exists(id)")}
	if _, err := client.PutItem(t.Context(), put); err != nil {
		t.Fatal(err)
	}
	refused := new(types.ConditionalCheckFailedException)
	if _, err := client.PutItem(t.Context(), put); !errors.As(err, &refused) {
		t.Errorf("second put: error %v", err)
	}
	lose = true
	put.Item["id"] = s("b")
	if _, err := client.PutItem(t.Context(), put); err == nil || errors.As(err, &refused) {
		t.Errorf("put whose reply was lost: error %v", err)
	}
	if items := db.Items("items"); len(items) != 2 {
		t.Errorf("%d items, want both", len(items))
	}
}

// In a bubble time is the test's: the SDK's pauses between its retries cost nothing, and no goroutine is left.
func TestInBubble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		db := newDB(func(c Call) Fault {
			if c.Number < 3 {
				return Fault{LoseReply: true}
			}
			return Fault{}
		})
		begin := time.Now()
		_, err := db.Client().PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item{"id": s("a")}})
		if err != nil || db.Usage()["PutItem"].Calls != 3 {
			t.Errorf("error %v after %d calls, want none after 3", err, db.Usage()["PutItem"].Calls)
		}
		if time.Since(begin) == 0 {
			t.Error("the SDK did not pause")
		}
	})
}

// Faults, which know DynamoDB Local, know the database too.
func TestBehindFaults(t *testing.T) {
	db := newDB(nil)
	faults := &intenttest.Faults{Base: db, Plan: func(c intenttest.Call) intenttest.Fault { return intenttest.Fault{LoseReply: true} }}
	client := db.Client(once, func(o *dynamodb.Options) { o.HTTPClient = faults.Client() })
	_, err := client.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: aws.String("items"), Item: item{"id": s("a")}})
	if !errors.Is(err, syscall.ECONNRESET) || len(db.Items("items")) != 1 {
		t.Errorf("error %v and %d items, want a reset connection and one", err, len(db.Items("items")))
	}
}

// The probe that DynamoDB Local has to pass.
func TestFitness(t *testing.T) {
	if err := intenttest.Fitness(t.Context(), New(Config{}).Client()); err != nil {
		t.Error(err)
	}
}
