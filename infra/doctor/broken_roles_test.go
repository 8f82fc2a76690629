package doctor

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const (
	ordersTable = "!If [MakesOrdersTable, !GetAtt OrdersTable.Arn, !Sub 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${ExistingOrdersTable}']"
	shipTable   = "- {Effect: Allow, Action: [dynamodb:UpdateItem, dynamodb:GetItem], Resource: " + ordersTable + "}\n"
	shipTraces  = "- !If\n                - IsTraced\n                # X-Ray knows no resource that could be named.\n" +
		"                - {Effect: Allow, Action: [xray:PutTraceSegments, xray:PutTelemetryRecords], Resource: '*'}\n                - !Ref AWS::NoValue\n"
	shipQueue   = "Action: [sqs:ReceiveMessage, sqs:DeleteMessage, sqs:GetQueueAttributes, sqs:ChangeMessageVisibility]\n                Resource: !GetAtt ShipQueue.Arn\n"
	shipLog     = "Action: [logs:CreateLogStream, logs:PutLogEvents], Resource: !GetAtt ShipLogGroup.Arn}\n"
	welcomeFrom = "                  Condition: {StringEquals: {'ses:FromAddress': !Ref EmailFrom}}\n"
	indent      = "              "
	shipRole    = "  ShipRole:\n    Type: AWS::IAM::Role\n    Properties:\n"
	managed     = "      ManagedPolicyArns: [!Sub 'arn:${AWS::Partition}:iam::aws:policy/Some']\n"
)

var (
	withSecret = map[string]string{"StripeSecretArn": "arn:aws:secretsmanager:eu-central-1:123456789012:secret:stripe-AbCdEf"}
	withEmail  = map[string]string{"EmailFrom": "shop@example.com"}
)

// brokenRoles are breakages of roles (C70).
var brokenRoles = []breakage{
	{"role-calls", "an action less", "                  - dynamodb:BatchGetItem\n", "", "ChargeRole",
		[]string{"does not allow dynamodb:BatchGetItem on IntentTable", "of ChargeFunction"}, nil},
	{"role-calls", "an action less of a transaction", "[dynamodb:PutItem, dynamodb:GetItem], Resource: ",
		"[dynamodb:GetItem], Resource: ", "AdjustRole", []string{"does not allow dynamodb:PutItem on IntentTable"}, nil},
	{"role-calls", "nothing on the own queue", "sqs:GetQueueAttributes, sqs:ChangeMessageVisibility]\n                Resource: !GetAtt WelcomeQueue.Arn",
		"sqs:GetQueueAttributes]\n                Resource: !GetAtt WelcomeQueue.Arn", "WelcomeRole", []string{"does not allow sqs:ChangeMessageVisibility on WelcomeQueue"}, nil},
	{"role-calls", "an action less of the mapping", shipQueue, strings.Replace(shipQueue, "sqs:ReceiveMessage, ", "", 1), "ShipRole",
		[]string{"does not allow sqs:ReceiveMessage on ShipQueue"}, nil},
	{"role-calls", "no log", shipLog, strings.Replace(shipLog, ", logs:PutLogEvents", "", 1), "ShipRole", []string{"does not allow logs:PutLogEvents on ShipLogGroup"}, nil},
	{"role-calls", "an action more", shipTable, strings.Replace(shipTable, "GetItem", "GetItem, dynamodb:PutItem", 1), "ShipRole",
		[]string{"allows dynamodb:PutItem on OrdersTable, which nothing calls"}, nil},
	{"role-calls", "an action more of the queue", shipQueue, strings.Replace(shipQueue, "]", ", sqs:PurgeQueue]", 1), "ShipRole",
		[]string{"allows sqs:PurgeQueue on ShipQueue, which nothing calls"}, nil},
	{"role-calls", "another table", shipTable, strings.ReplaceAll(shipTable, "OrdersTable", "CartsTable"), "ShipRole",
		[]string{"does not allow dynamodb:UpdateItem on OrdersTable", "allows dynamodb:UpdateItem on CartsTable, which nothing calls"}, nil},
	{"role-calls", "another table by its name", shipTable, strings.Replace(shipTable, ordersTable,
		"!Sub 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/orders'", 1), "ShipRole",
		[]string{"does not allow dynamodb:GetItem on OrdersTable", "allows dynamodb:GetItem on arn:aws:dynamodb:eu-central-1:123456789012:table/orders"}, nil},
	{"role-calls", "another table in use", "ORDERS_TABLE: !If [MakesOrdersTable, !Ref OrdersTable, !Ref ExistingOrdersTable]", "ORDERS_TABLE: orders", "ShipRole",
		[]string{"does not allow dynamodb:GetItem on arn:aws:dynamodb:eu-central-1:123456789012:table/orders", "allows dynamodb:GetItem on OrdersTable"}, nil},
	{"role-calls", "another table that was there", shipTable, strings.ReplaceAll(shipTable, "${ExistingOrdersTable}", "${ExistingCartsTable}"), "ShipRole",
		[]string{"does not allow dynamodb:GetItem on arn:aws:dynamodb:eu-central-1:123456789012:table/orders", "table/carts, which nothing calls"},
		map[string]string{"ExistingOrdersTable": "orders", "ExistingCartsTable": "carts"}},
	{"role-calls", "another's dead-letter queue", "Action: sqs:SendMessage, Resource: !GetAtt ShipDeadLetterQueue.Arn",
		"Action: sqs:SendMessage, Resource: !GetAtt ChargeDeadLetterQueue.Arn", "ShipRole",
		[]string{"does not allow sqs:SendMessage on ShipDeadLetterQueue", "allows sqs:SendMessage on ChargeDeadLetterQueue"}, nil},
	{"role-calls", "another's log", shipLog, strings.Replace(shipLog, "Ship", "Charge", 1), "ShipRole", []string{"allows logs:PutLogEvents on ChargeLogGroup"}, nil},
	{"role-calls", "another secret", "Action: secretsmanager:GetSecretValue, Resource: !Ref StripeSecretArn", "Action: secretsmanager:GetSecretValue, Resource: " +
		"'arn:aws:secretsmanager:eu-central-1:123456789012:secret:other-AbCdEf'", "ChargeRole", []string{":secret:stripe-AbCdEf", ":secret:other-AbCdEf, which nothing calls"}, withSecret},
	{"role-calls", "another sender", welcomeFrom, strings.Replace(welcomeFrom, "!Ref EmailFrom", "other@example.com", 1), "WelcomeRole",
		[]string{"does not allow ses:SendEmail from shop@example.com"}, withEmail},
	{"role-calls", "e-mails without a sender", "              - !If\n                - HasEmailFrom\n", "              - !If\n                - HasNotificationEmail\n", "WelcomeRole",
		[]string{"allows ses:SendEmail on arn:aws:ses:eu-central-1:123456789012:identity/*, which nothing calls"}, map[string]string{"NotificationEmail": "ops@example.com"}},
	{"role-calls", "what is denied again", shipTable, shipTable + indent + "- {Effect: Deny, Action: dynamodb:Update*, Resource: !GetAtt OrdersTable.Arn}\n", "ShipRole",
		[]string{"denies dynamodb:UpdateItem on OrdersTable"}, nil},
	{"role-calls", "an action under a condition", shipTable, strings.Replace(shipTable, "}\n", ", Condition: {Bool: {'aws:ViaAWSService': 'true'}}}\n", 1), "ShipRole",
		[]string{"allows dynamodb:UpdateItem on OrdersTable only under the condition Bool aws:ViaAWSService"}, nil},
	{"role-calls", "no traces", shipLog + indent + shipTraces, shipLog, "ShipRole",
		[]string{"does not allow xray:PutTelemetryRecords on *"}, map[string]string{"Tracing": "Active"}},
	{"role-calls", "traces of nothing", shipTable, shipTable + indent + "- {Effect: Allow, Action: [xray:PutTraceSegments], Resource: '*'}\n", "ShipRole",
		[]string{"allows xray:PutTraceSegments on *, which nothing calls"}, nil},
	{"role-calls", "another's role", "Role: !GetAtt ShipRole.Arn", "Role: !GetAtt ClearcartRole.Arn", "ClearcartRole",
		[]string{"does not allow dynamodb:UpdateItem on OrdersTable", "of ShipFunction and ClearcartFunction"}, nil},

	{"role-wildcards", "all actions", shipTable, strings.Replace(shipTable, "[dynamodb:UpdateItem, dynamodb:GetItem]", "dynamodb:*", 1), "ShipRole",
		[]string{"allows dynamodb:* on OrdersTable: a wildcard"}, nil},
	{"role-wildcards", "some actions", shipTable, strings.Replace(shipTable, "dynamodb:GetItem", "dynamodb:Get*", 1), "ShipRole", []string{"dynamodb:Get* on OrdersTable"}, nil},
	{"role-wildcards", "everything", shipTable, strings.Replace(shipTable, ordersTable, "'*'", 1), "ShipRole",
		[]string{"allows dynamodb:UpdateItem, dynamodb:GetItem on *: a wildcard"}, nil},
	{"role-wildcards", "all tables", shipTable, strings.Replace(shipTable, ordersTable,
		"!Sub 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/*'", 1), "ShipRole", []string{"on arn:aws:dynamodb:eu-central-1:123456789012:table/*"}, nil},
	{"role-wildcards", "any sender", welcomeFrom, "", "WelcomeRole", []string{"allows ses:SendEmail on arn:aws:ses:eu-central-1:123456789012:identity/*"}, withEmail},
	{"role-wildcards", "senders like it", welcomeFrom, strings.Replace(welcomeFrom, "StringEquals", "StringLike", 1), "WelcomeRole",
		[]string{"allows ses:SendEmail on arn:aws:ses"}, withEmail},
	{"role-wildcards", "other actions beside e-mail", "                  Action: ses:SendEmail\n", "                  Action: [ses:SendEmail, ses:DeleteEmailIdentity]\n", "WelcomeRole",
		[]string{"allows ses:SendEmail, ses:DeleteEmailIdentity on arn:aws:ses"}, withEmail},
}

// Roles that say the same in another way are as good.
func TestSoundRoles(t *testing.T) {
	for _, parameters := range []map[string]string{{"Tracing": "Active"}, {"ExistingOrdersTable": "orders", "ExistingIntentTable": "intents"}} {
		for _, f := range Check(stack(t, text(t), parameters)) {
			t.Errorf("%v: %v", parameters, f)
		}
	}
	for _, tt := range []struct {
		name  string
		edits []string // old, new, …
	}{
		{"a table by its name", []string{shipTable, strings.Replace(shipTable, ordersTable,
			"!Sub 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/${OrdersTable}'", 1)}},
		{"a table of others", []string{"ORDERS_TABLE: !If [MakesOrdersTable, !Ref OrdersTable, !Ref ExistingOrdersTable]", "ORDERS_TABLE: orders", shipTable, strings.Replace(shipTable, ordersTable,
			"!Sub 'arn:${AWS::Partition}:dynamodb:${AWS::Region}:${AWS::AccountId}:table/orders'", 1)}},
		{"two statements", []string{shipTable, strings.Replace(shipTable, "[dynamodb:UpdateItem, dynamodb:GetItem]", "dynamodb:UpdateItem", 1) + indent +
			strings.Replace(shipTable, "[dynamodb:UpdateItem, dynamodb:GetItem]", "dynamodb:GetItem", 1)}},
		{"a managed policy that is not read", []string{shipTable, strings.Replace(shipTable, ", dynamodb:GetItem", "", 1), shipRole, shipRole + managed}},
		{"what is denied sometimes", []string{shipTable, shipTable + indent + "- {Effect: Deny, Action: dynamodb:UpdateItem, Resource: !GetAtt OrdersTable.Arn, " +
			"Condition: {Bool: {'aws:SecureTransport': 'false'}}}\n"}},
		{"traces", []string{shipTable, shipTable + indent + "- {Effect: Allow, Action: [xray:PutTraceSegments, xray:PutTelemetryRecords], Resource: '*'}\n",
			"      Role: !GetAtt ShipRole.Arn\n", "      Role: !GetAtt ShipRole.Arn\n      Tracing: Active\n"}},
		{"a role of nobody here", []string{"  ShipRole:\n", "  OtherRole:\n    Type: AWS::IAM::Role\n    Properties:\n      Policies: [{PolicyName: x, PolicyDocument: {Version: '2012-10-17', " +
			"Statement: [{Effect: Allow, Action: '*', Resource: '*'}]}}]\n\n  ShipRole:\n"}},
		{"SAM's own role", []string{"      Role: !GetAtt ShipRole.Arn\n", "      Policies: [SQSPollerPolicy: {QueueName: !GetAtt ShipQueue.QueueName}]\n"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			edited := text(t)
			for edit := range slices.Chunk(tt.edits, 2) {
				if !strings.Contains(edited, edit[0]) {
					t.Fatalf("template.yaml has no %q to edit", edit[0])
				}
				edited = strings.Replace(edited, edit[0], edit[1], 1)
			}
			for _, f := range Check(stack(t, edited, nil)) {
				t.Error(f)
			}
		})
	}
}

// With secret and sender each function's role is judged, by every call that it lists; of a function whose calls are not at hand none is.
func TestRolesAreJudged(t *testing.T) {
	parameters := maps.Clone(withSecret)
	maps.Copy(parameters, withEmail)
	s := stack(t, text(t), parameters)
	for _, f := range s.Functions {
		whole := s.Calls[f.Folder]
		if len(whole) < 3 {
			t.Errorf("%s has %d calls", f.Folder, len(whole))
		}
		for i, c := range whole {
			s.Calls[f.Folder] = slices.Delete(slices.Clone(whole), i, i+1)
			found := Check(s)
			if len(found) != 1 || found[0].Rule != "role-calls" || found[0].Resource != f.Role || !strings.Contains(found[0].Message, c.Action) {
				t.Errorf("%s without %v: got %v, want that its role allows more", f.LogicalID, c, found)
			}
		}
		s.Calls[f.Folder] = whole
	}
	s = stack(t, strings.Replace(text(t), indent+shipTable, "", 1), parameters)
	if len(Check(s)) != 1 {
		t.Error("a role without its table: nothing is found")
	}
	delete(s.Calls, "ship")
	if found := Check(s); len(found) != 0 {
		t.Errorf("without ship's calls: got %v", found)
	}
}

// What a managed policy allows is not known, and what the role allows itself is.
func TestManagedPolicy(t *testing.T) {
	edited := strings.Replace(text(t), shipTable, strings.Replace(shipTable, "GetItem", "Query", 1), 1)
	found := Check(stack(t, strings.Replace(edited, shipRole, shipRole+managed, 1), nil))
	if len(found) != 1 || found[0].Message != "allows dynamodb:Query on OrdersTable, which nothing calls: it is of ShipFunction" {
		t.Errorf("got %v, want that the query is too much, and nothing else", found)
	}
}

func TestCalls(t *testing.T) {
	root := t.TempDir()
	for name, content := range map[string]string{
		"functions/one/testdata/calls.txt": "dynamodb:PutItem INTENT_TABLE\nsqs:SendMessage QUEUE_URL\n", "functions/two/main.go": "package main",
	} {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	calls, err := Calls(root)
	want := []Call{{"dynamodb:PutItem", "INTENT_TABLE"}, {"sqs:SendMessage", "QUEUE_URL"}}
	if _, two := calls["two"]; err != nil || two || !slices.Equal(calls["one"], want) {
		t.Errorf("got %v and error %v, want %v of one, and none of two", calls, err, want)
	}
	if err := os.WriteFile(filepath.Join(root, "functions/one/testdata/calls.txt"), []byte("dynamodb:PutItem\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Calls(root); err == nil || !strings.Contains(err.Error(), `"dynamodb:PutItem" is no action and variable`) {
		t.Errorf("got error %v, want one that quotes the line", err)
	}
	if _, err := Calls(t.TempDir()); err == nil {
		t.Error("without functions: got no error")
	}
}
