import { readFileSync } from 'node:fs';
const m = new WebAssembly.Module(readFileSync('dist/dobrushin.wasm'));
console.log(WebAssembly.Module.imports(m));
const e = new WebAssembly.Instance(m, {}).exports;
function ask(r){ const b=new TextEncoder().encode(JSON.stringify(r)); const p=e.reserve(b.length); new Uint8Array(e.memory.buffer,p,b.length).set(b); const n=e.ask(b.length); return JSON.parse(new TextDecoder().decode(new Uint8Array(e.memory.buffer,e.answer(),n))); }
const about = ask({ask:'about'}).ok;
const t=(f)=>{const a=performance.now(); const r=f(); return [r, (performance.now()-a).toFixed(0)+' ms'];};
for (const p of about.presets) {
  const [r,ms]=t(()=>ask({ask:'account',run:p.toml,floor:false}));
  const best=r.ok?.report.guarantee?.analysis;
  const [f,fms]=t(()=>ask({ask:'account',run:p.toml,only:best?[best]:[]}));
  const sect=ask({ask:'parse',run:p.toml});
  console.log(p.id, ms, 'floor', fms, best, JSON.stringify(r.ok?.report.guarantee?.epsilon)??r.error?.message, sect.error?.message??'', e.memory.buffer.byteLength>>20,'MB');
}
