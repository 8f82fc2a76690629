// The peer, as its documentation puts it together: "Batch integration", "Lambda timeouts" (registerLambdaContext), "Making idempotency
// key required" and "Payload validation" of the idempotency page, and what it says of several operations (they share one
// persistence layer where their configuration is the same). What is not set here has the library's default.
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';

const processor = new BatchProcessor(EventType.SQS);

const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.TABLE });

const config = new IdempotencyConfig({
  eventKeyJmesPath: process.env.KEY_JMESPATH,
  throwOnNoIdempotencyKey: true,
  payloadValidationJmesPath: 'powertools_json(body).amount_cents',
  expiresAfterSeconds: Number(process.env.RETENTION_SECONDS),
});

// The effect. The far side is told which intent it is only to count by it.
const call = async (record) => {
  const response = await fetch(process.env.FAR_SIDE, { method: 'POST', body: record.body });
  if (!response.ok) {
    throw new Error(`far side answered ${response.status}`);
  }
  return response.json();
};

const operation = (name) =>
  makeIdempotent(call, { persistenceStore, config, keyPrefix: process.env.OWN_PREFIXES && name });

const operations = { charge: operation('charge'), ship: operation('ship') };

export const handler = async (event, context) => {
  config.registerLambdaContext(context);
  const queue = event.Records[0].eventSourceARN.split(':').pop();
  return processPartialResponse(event, operations[queue], processor, { context });
};
