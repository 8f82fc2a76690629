// What Lambda's Node runtime does, as far as the handler can tell: the Runtime API's loop.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
import { handler } from './handler.mjs';

const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;

const answer = (id, kind, body) => fetch(`${api}/${id}/${kind}`, { method: 'POST', body: JSON.stringify(body) });

for (;;) {
  const next = await fetch(`${api}/next`);
  const id = next.headers.get('lambda-runtime-aws-request-id');
  const deadline = Number(next.headers.get('lambda-runtime-deadline-ms'));
  const context = {
    awsRequestId: id,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
  try {
    await answer(id, 'response', await handler(await next.json(), context));
  } catch (error) {
    console.error(error);
    await answer(id, 'error', { errorType: error.name, errorMessage: error.message });
  }
}
