// What Lambda's Node runtime does, as far as the handler can tell, and as cheaply: the Runtime API's loop on one kept connection.
// https://docs.aws.amazon.com/lambda/latest/dg/runtimes-api.html
import { Agent, request } from 'node:http';
import { handler } from './dist/index.mjs';

const api = `http://${process.env.AWS_LAMBDA_RUNTIME_API}/2018-06-01/runtime/invocation`;
const agent = new Agent({ keepAlive: true, maxSockets: 1 });

const call = (method, path, body) =>
  new Promise((resolve, reject) => {
    const sent = request(api + path, { method, agent }, (reply) => {
      const chunks = [];
      reply.on('data', (chunk) => chunks.push(chunk));
      reply.on('end', () => resolve({ headers: reply.headers, body: Buffer.concat(chunks).toString() }));
      reply.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });

for (;;) {
  const next = await call('GET', '/next');
  const id = next.headers['lambda-runtime-aws-request-id'];
  const deadline = Number(next.headers['lambda-runtime-deadline-ms']);
  const context = {
    awsRequestId: id,
    functionName: process.env.AWS_LAMBDA_FUNCTION_NAME,
    getRemainingTimeInMillis: () => Math.max(0, deadline - Date.now()),
  };
  try {
    await call('POST', `/${id}/response`, JSON.stringify(await handler(JSON.parse(next.body), context)));
  } catch (error) {
    console.error(error);
    await call('POST', `/${id}/error`, JSON.stringify({ errorType: error.name, errorMessage: error.message }));
  }
}
