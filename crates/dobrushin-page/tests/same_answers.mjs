// Asks questions in WebAssembly, and compares the answers with those of the native program, to the last digit:
//   cargo run --release -p dobrushin-page --example random_questions 10000 7 | node same_answers.mjs dobrushin.wasm
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";

const module = await WebAssembly.compile(readFileSync(process.argv[2]));
const { exports } = await WebAssembly.instantiate(module, {});

function ask(question) {
  const bytes = new TextEncoder().encode(question);
  const place = exports.reserve(bytes.length);
  new Uint8Array(exports.memory.buffer, place, bytes.length).set(bytes);
  const length = exports.ask(bytes.length);
  return new TextDecoder().decode(new Uint8Array(exports.memory.buffer, exports.answer(), length));
}

let [same, guarantees, different] = [0, 0, 0];
for await (const line of createInterface({ input: process.stdin })) {
  const { question, answer } = JSON.parse(line);
  let here;
  try {
    here = ask(question);
  } catch (error) {
    console.log(`the question ${question}\nends in WebAssembly with ${error}`);
    process.exit(1);
  }
  if (here === answer) same += 1;
  else {
    different += 1;
    let at = 0;
    while (here[at] === answer[at]) at += 1;
    const near = (text) => text.slice(Math.max(0, at - 60), at + 60);
    console.log(`the question ${question}\nis answered by the program …${near(answer)}…\nand in WebAssembly …${near(here)}…`);
  }
  if (JSON.parse(answer).ok?.report.guarantee) guarantees += 1;
}
console.log(`${guarantees} guarantees among ${same + different} answers`);
console.log(`${same} passed, ${different} failed`);
process.exit(different > 0 || guarantees === 0 ? 1 : 0);
