// One instance of the program in a thread of its own. The page sends it the compiled module once, then requests; it never answers
// two at once. After a trap it is not used again: the page starts another one.

interface Program {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  ask(length: number): number;
  answer(): number;
  answered(): number;
}

export type ToWorker = { module: WebAssembly.Module } | { request: string };
export type FromWorker = { reply: string } | { trapped: string };

let program: Program | undefined;

function textAt(from: Program, start: number, length: number): string {
  return new TextDecoder().decode(new Uint8Array(from.memory.buffer, start >>> 0, length >>> 0));
}

function replyTo(asked: Program, request: string): string {
  const bytes = new TextEncoder().encode(request);
  const start = asked.reserve(bytes.length) >>> 0;
  new Uint8Array(asked.memory.buffer, start, bytes.length).set(bytes);
  const length = asked.ask(bytes.length);
  return textAt(asked, asked.answer(), length);
}

function reasonOf(trapped: Program | undefined, error: unknown): string {
  try {
    const said = trapped ? textAt(trapped, trapped.answer(), trapped.answered()) : '';
    return said || String(error);
  } catch {
    return String(error);
  }
}

self.onmessage = ({ data }: MessageEvent<ToWorker>) => {
  const send = (message: FromWorker) => self.postMessage(message);
  try {
    if ('module' in data) {
      program = new WebAssembly.Instance(data.module, {}).exports as unknown as Program;
    } else if (program) {
      send({ reply: replyTo(program, data.request) });
    }
  } catch (error) {
    send({ trapped: reasonOf(program, error) });
  }
};
