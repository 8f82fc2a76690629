package memdb

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/aws/smithy-go"

	"github.com/singleeffect/once/shared/intenttest"
)

// api is what DynamoDB Local, through the SDK, and the database are both asked.
type api interface {
	PutItem(context.Context, *dynamodb.PutItemInput, ...func(*dynamodb.Options)) (*dynamodb.PutItemOutput, error)
	UpdateItem(context.Context, *dynamodb.UpdateItemInput, ...func(*dynamodb.Options)) (*dynamodb.UpdateItemOutput, error)
	DeleteItem(context.Context, *dynamodb.DeleteItemInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteItemOutput, error)
	GetItem(context.Context, *dynamodb.GetItemInput, ...func(*dynamodb.Options)) (*dynamodb.GetItemOutput, error)
	Query(context.Context, *dynamodb.QueryInput, ...func(*dynamodb.Options)) (*dynamodb.QueryOutput, error)
	Scan(context.Context, *dynamodb.ScanInput, ...func(*dynamodb.Options)) (*dynamodb.ScanOutput, error)
	BatchGetItem(context.Context, *dynamodb.BatchGetItemInput, ...func(*dynamodb.Options)) (*dynamodb.BatchGetItemOutput, error)
	TransactWriteItems(context.Context, *dynamodb.TransactWriteItemsInput, ...func(*dynamodb.Options)) (*dynamodb.TransactWriteItemsOutput, error)
	ExecuteStatement(context.Context, *dynamodb.ExecuteStatementInput, ...func(*dynamodb.Options)) (*dynamodb.ExecuteStatementOutput, error)
	BatchExecuteStatement(context.Context, *dynamodb.BatchExecuteStatementInput,
		...func(*dynamodb.Options)) (*dynamodb.BatchExecuteStatementOutput, error)
	CreateTable(context.Context, *dynamodb.CreateTableInput, ...func(*dynamodb.Options)) (*dynamodb.CreateTableOutput, error)
	DeleteTable(context.Context, *dynamodb.DeleteTableInput, ...func(*dynamodb.Options)) (*dynamodb.DeleteTableOutput, error)
}

var (
	_ api = (*DB)(nil)
	_ api = (*dynamodb.Client)(nil)
)

// engines are the two with the same tables.
type engines struct {
	local  *dynamodb.Client
	memory *DB
	// items has the key id; sorted has the keys user and nr, which is a number.
	items, sorted string
	// anyFault is set where updates may have several faults at once: which one is told is chance.
	anyFault bool
}

var faultsOfUpdates = regexp.MustCompile(`The document path provided in the update expression is invalid for update|` +
	`The provided expression refers to an attribute that does not exist in the item|An operand in the update expression has an incorrect data type|` +
	`path one: [^"]*`)

// TestMain lets more tests run beside each other than there are processors: they wait, for DynamoDB Local or by the contract's clock,
// more than they work.
func TestMain(m *testing.M) {
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// newEngines runs the test beside others.
func newEngines(t *testing.T) *engines {
	t.Helper()
	t.Parallel()
	local := intenttest.Engine(t, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} })
	e := &engines{local: local, items: intenttest.Table(t, local, "id")}
	e.memory = New(Config{Tables: []Table{{Name: e.items, Keys: []string{"id"}}}})
	e.sorted = "sorted-" + e.items
	create := &dynamodb.CreateTableInput{
		TableName: &e.sorted, BillingMode: types.BillingModePayPerRequest,
		KeySchema: []types.KeySchemaElement{
			{AttributeName: aws.String("user"), KeyType: types.KeyTypeHash}, {AttributeName: aws.String("nr"), KeyType: types.KeyTypeRange},
		},
		AttributeDefinitions: []types.AttributeDefinition{
			{AttributeName: aws.String("user"), AttributeType: types.ScalarAttributeTypeS},
			{AttributeName: aws.String("nr"), AttributeType: types.ScalarAttributeTypeN},
		},
	}
	for _, a := range []api{e.local, e.memory} {
		if _, err := a.CreateTable(t.Context(), create); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { e.local.DeleteTable(context.Background(), &dynamodb.DeleteTableInput{TableName: &e.sorted}) })
	return e
}

// asked is one call, made on both engines.
type asked func(context.Context, api) (any, error)

// answers are what they say, in a form that tells equal answers.
func (e *engines) answers(t *testing.T, call asked) (local, memory string) {
	t.Helper()
	out1, err1 := call(t.Context(), e.local)
	out2, err2 := call(t.Context(), e.memory)
	return written(out1, err1), written(out2, err2)
}

// same wants both engines to say the same, but for the known differences in words.
func (e *engines) same(t *testing.T, what string, call asked) {
	t.Helper()
	local, memory := e.answers(t, call)
	local, memory = reword(local), reword(memory)
	if e.anyFault {
		local, memory = faultsOfUpdates.ReplaceAllString(local, "fault"), faultsOfUpdates.ReplaceAllString(memory, "fault")
	}
	if local != memory {
		i := 0
		for i < min(len(local), len(memory)) && local[i] == memory[i] {
			i++
		}
		i = max(0, i-200)
		t.Errorf("%.300s:\nDynamoDB Local: %.500s\nmemdb:          %.500s", what, local[i:], memory[i:])
	}
}

var wordsOfErrors = regexp.MustCompile(`"[Mm]essage":"([^"\\]|\\.)*"`)

// alike wants both engines to answer the same, or to refuse with the same exception in whatever words.
func (e *engines) alike(t *testing.T, what string, call asked) {
	t.Helper()
	local, memory := e.answers(t, call)
	if wordsOfErrors.ReplaceAllString(local, "") != wordsOfErrors.ReplaceAllString(memory, "") {
		t.Errorf("%.300s:\nDynamoDB Local: %.500s\nmemdb:          %.500s", what, local, memory)
	}
}

// refuses wants a ValidationException of the database.
func (e *engines) refuses(t *testing.T, what string, call asked) {
	t.Helper()
	if _, err := call(t.Context(), e.memory); !isInvalid(err) {
		t.Errorf("%.300s: error %v, want a ValidationException", what, err)
	}
}

// sameItems wants the same in both engines' tables.
func (e *engines) sameItems(t *testing.T) {
	t.Helper()
	for _, table := range []string{e.items, e.sorted} {
		var local []map[string]types.AttributeValue
		pages := dynamodb.NewScanPaginator(e.local, &dynamodb.ScanInput{TableName: &table, ConsistentRead: aws.Bool(true)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			local = append(local, page.Items...)
		}
		got, want := inOrder(e.memory.Items(table)), inOrder(local)
		if !slices.Equal(got, want) {
			t.Errorf("items of %s:\nDynamoDB Local: %.2000v\nmemdb:          %.2000v", table, want, got)
		}
	}
}

func inOrder(items []map[string]types.AttributeValue) []string {
	var all []string
	for _, it := range items {
		plainly(reflect.ValueOf(it))
		all = append(all, string(encode(it)))
	}
	slices.Sort(all)
	return all
}

// written is an answer as text.
func written(out any, err error) string {
	if err == nil {
		plainly(reflect.ValueOf(out))
		return string(encode(out))
	}
	var failure smithy.APIError
	if !errors.As(err, &failure) {
		return err.Error()
	}
	v := reflect.New(reflect.TypeOf(failure).Elem()) // a copy: the SDK's errors are compared by what they hold
	v.Elem().Set(reflect.ValueOf(failure).Elem())
	plainly(v)
	return string(exception(v.Interface().(smithy.APIError)))
}

// plainly puts what may differ without meaning anything into one form: the order of sets and of what has none, and numbers'
// zeros.
func plainly(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			plainly(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() && v.Type().Field(i).Name != "ResultMetadata" {
				plainly(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			plainly(v.Index(i))
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			value := v.MapIndex(key)
			if attribute, ok := value.Interface().(types.AttributeValue); ok {
				if taken, err := take(attribute, 0); err == nil {
					v.SetMapIndex(key, reflect.ValueOf(&taken).Elem())
				}
				continue
			}
			plainly(value)
		}
	}
}

func s(v string) types.AttributeValue { return &types.AttributeValueMemberS{Value: v} }
func n(v any) types.AttributeValue    { return &types.AttributeValueMemberN{Value: fmt.Sprint(v)} }
func b(v string) types.AttributeValue { return &types.AttributeValueMemberB{Value: []byte(v)} }
func l(v ...types.AttributeValue) types.AttributeValue {
	return &types.AttributeValueMemberL{Value: v}
}
func m(v item) types.AttributeValue       { return &types.AttributeValueMemberM{Value: v} }
func ss(v ...string) types.AttributeValue { return &types.AttributeValueMemberSS{Value: v} }
func ns(v ...string) types.AttributeValue { return &types.AttributeValueMemberNS{Value: v} }
func boolean(v bool) types.AttributeValue { return &types.AttributeValueMemberBOOL{Value: v} }
func null() types.AttributeValue          { return &types.AttributeValueMemberNULL{Value: true} }
func bs(v ...string) (a types.AttributeValue) {
	set := &types.AttributeValueMemberBS{}
	for _, x := range v {
		set.Value = append(set.Value, []byte(x))
	}
	return set
}

func long(n int) string { return strings.Repeat("x", n) }

func putting(in dynamodb.PutItemInput) asked {
	return func(ctx context.Context, a api) (any, error) { return orErr(a.PutItem(ctx, &in)) }
}

func updating(in dynamodb.UpdateItemInput) asked {
	return func(ctx context.Context, a api) (any, error) { return orErr(a.UpdateItem(ctx, &in)) }
}

func deleting(in dynamodb.DeleteItemInput) asked {
	return func(ctx context.Context, a api) (any, error) { return orErr(a.DeleteItem(ctx, &in)) }
}

func getting(in dynamodb.GetItemInput) asked {
	return func(ctx context.Context, a api) (any, error) { return orErr(a.GetItem(ctx, &in)) }
}

func querying(in dynamodb.QueryInput) asked {
	return func(ctx context.Context, a api) (any, error) { return orErr(a.Query(ctx, &in)) }
}

func transacting(in dynamodb.TransactWriteItemsInput) asked {
	return func(ctx context.Context, a api) (any, error) {
		out, err := a.TransactWriteItems(ctx, &in)
		if err != nil {
			return nil, err
		}
		byTable(out.ConsumedCapacity)
		return out, nil
	}
}

func executing(in dynamodb.ExecuteStatementInput) asked {
	return func(ctx context.Context, a api) (any, error) { return orErr(a.ExecuteStatement(ctx, &in)) }
}

func batching(in dynamodb.BatchExecuteStatementInput) asked {
	return func(ctx context.Context, a api) (any, error) { return orErr(a.BatchExecuteStatement(ctx, &in)) }
}

func batchGetting(in dynamodb.BatchGetItemInput) asked {
	return func(ctx context.Context, a api) (any, error) {
		out, err := a.BatchGetItem(ctx, &in)
		if err != nil {
			return nil, err
		}
		byTable(out.ConsumedCapacity)
		for _, items := range out.Responses { // in no order
			slices.SortFunc(items, func(x, y map[string]types.AttributeValue) int {
				return strings.Compare(string(encode(x)), string(encode(y)))
			})
		}
		return out, nil
	}
}

// byTable: the order of the tables means nothing.
func byTable(all []types.ConsumedCapacity) {
	slices.SortFunc(all, func(x, y types.ConsumedCapacity) int { return strings.Compare(*x.TableName, *y.TableName) })
}

// orErr keeps a nil pointer from becoming an any that is not nil.
func orErr[Out any](out *Out, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return out, nil
}
