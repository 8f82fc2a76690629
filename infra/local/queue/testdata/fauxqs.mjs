// Starts fauxqs, whose entry file is the first argument, on a free port, prints its address, and ends when standard
// input does, so that it never outlives the test that started it.
import { pathToFileURL } from "node:url";

const { startFauxqs } = await import(pathToFileURL(process.argv[2]));
const server = await startFauxqs({ port: 0, logger: false });
console.log(server.address);
process.stdin.resume();
process.stdin.on("end", () => server.stop().then(() => process.exit(0)));
