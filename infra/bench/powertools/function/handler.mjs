// The peer, as its documentation puts it together: "Batch integration" and "Lambda timeouts" (registerLambdaContext) of the idempotency
// page. What is not set here has the library's default. The key is where ours is by default, too.
import { BatchProcessor, EventType, processPartialResponse } from '@aws-lambda-powertools/batch';
import { IdempotencyConfig, makeIdempotent } from '@aws-lambda-powertools/idempotency';
import { DynamoDBPersistenceLayer } from '@aws-lambda-powertools/idempotency/dynamodb';

const processor = new BatchProcessor(EventType.SQS);

const persistenceStore = new DynamoDBPersistenceLayer({ tableName: process.env.INTENT_TABLE });

const config = new IdempotencyConfig({ eventKeyJmesPath: 'powertools_json(body).idempotency_key' });

// The effect does nothing but give a result.
const charge = async (record) => {
  const order = JSON.parse(record.body);
  return { charge_id: `ch_${order.idempotency_key}` };
};

const idempotentCharge = makeIdempotent(charge, { persistenceStore, config });

export const handler = async (event, context) => {
  config.registerLambdaContext(context);
  return processPartialResponse(event, idempotentCharge, processor, { context });
};
