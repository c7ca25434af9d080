import v8 from 'node:v8'; import vm from 'node:vm'; import fs from 'node:fs';
v8.setFlagsFromString('--expose-gc'); const gc = vm.runInNewContext('gc');
const pss = () => Math.round(Number(/^Pss:\s+(\d+)/m.exec(fs.readFileSync('/proc/self/smaps_rollup','utf8'))[1])/1024);
gc(); let h = process.memoryUsage().heapUsed/1e6, p = pss(); console.log('base', h.toFixed(1), p);
for (const m of process.argv.slice(2)) { const t=performance.now(); await import(m.startsWith('/')||!m.startsWith('.')?m:process.cwd()+'/'+m); const dt=performance.now()-t; gc(); const h2=process.memoryUsage().heapUsed/1e6, p2=pss(); console.log(m.padEnd(50), '+'+(h2-h).toFixed(1), 'heap;', '+'+(p2-p), 'pss;', dt.toFixed(0),'ms'); h=h2;p=p2; }
