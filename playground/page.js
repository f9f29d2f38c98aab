// The page of the playground. `engine` runs in a worker, so that the page lives whatever a program
// does there, and under node, for tests; everything else is the page.
'use strict';

// Answers messages {id, question, file} by {id, answer} or {id, broke}; the first one is {wasm}.
function engine(scope) {
  let module = null;
  let instance = null;
  const ask = (exports, question, file) => {
    const text = new TextEncoder().encode(JSON.stringify(question));
    const at = exports.input(4 + text.length + file.length) >>> 0;
    const memory = new Uint8Array(exports.memory.buffer);
    memory.set(file, at);
    memory.set(text, at + file.length);
    new DataView(memory.buffer).setUint32(at + file.length + text.length, text.length, true);
    return words(exports, exports.answer());
  };
  const words = (exports, at) => new TextDecoder()
    .decode(new Uint8Array(exports.memory.buffer, at >>> 0, exports.length() >>> 0));
  scope.onmessage = async ({data: {id, wasm, question, file}}) => {
    if (wasm) {
      module = WebAssembly.compile(wasm);
      module.catch(() => {}); // said when it is asked
      return;
    }
    try {
      instance ??= await WebAssembly.instantiate(await module, {});
      const answer = ask(instance.exports, question, file ?? new Uint8Array());
      scope.postMessage({id, answer: JSON.parse(answer)});
    } catch (error) {
      let said = '';
      try {
        said = words(instance.exports, instance.exports.said());
      } catch { /* it said nothing */ }
      instance = null; // its memory is what the panic left
      scope.postMessage({id, broke: said.startsWith('panicked') ? said : String(error)});
    }
  };
}

const LIMIT_S = 60;
const FILE_MB_MAX = 200;
const IN_ADDRESS_MAX = 64 << 10; // of a file, in characters; browsers take a few million

// Bytes through a stream that packs or unpacks them, at most so many.
async function through(bytes, stream, nMax = Infinity) {
  const reader = new Blob([bytes]).stream().pipeThrough(stream).getReader();
  const parts = [];
  let n = 0;
  for (;;) {
    const {done, value} = await reader.read();
    if (done) return new Uint8Array(await new Blob(parts).arrayBuffer());
    n += value.length;
    if (n > nMax) throw new Error('too long');
    parts.push(value);
  }
}

const fromBase64 = text => Uint8Array.from(atob(text), letter => letter.charCodeAt(0));

async function packed(bytes) {
  const small = await through(bytes, new CompressionStream('deflate-raw'));
  let text = '';
  for (const byte of small) text += String.fromCharCode(byte);
  return btoa(text).replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '');
}

const unpacked = text => through(
  fromBase64(text.replaceAll('-', '+').replaceAll('_', '/')),
  new DecompressionStream('deflate-raw'), 16 << 20);

function start() {
  const at = id => document.getElementById(id);
  let about = null;    // what there is to choose from
  let state = {};      // what the address holds
  let file = null;     // {name, bytes, sources} that was dropped
  let made = null;     // the last answer about a cipher
  let worker = null;
  let wasm = null;
  let waiting = null;  // {id, done, timer} of the question that the worker has
  let nAsked = 0;

  const trouble = text => { at('trouble').textContent = text; };
  const option = (value, text, title) => Object.assign(new Option(text, value), {title: title ?? ''});

  // The worker.

  function newWorker() {
    const url = URL.createObjectURL(new Blob([`'use strict';(${engine})(self)`], {type: 'text/javascript'}));
    worker = new Worker(url);
    URL.revokeObjectURL(url);
    worker.onmessage = ({data}) => { if (waiting?.id === data.id) settle(data); };
    worker.onerror = event => settle({broke: event.message ?? 'the worker did not start'});
    worker.postMessage({wasm});
  }

  function settle(data) {
    if (!waiting) return;
    clearInterval(waiting.timer);
    at('stop').hidden = true;
    const {done} = waiting;
    waiting = null;
    done(data);
  }

  function stop(why) {
    worker.terminate();
    newWorker();
    settle({stopped: why});
  }

  // Asks; an older question that is still being worked on is dropped. The answer, or null if there
  // is none to show.
  async function ask(question, bytes) {
    if (waiting) stop('');
    const [id, began] = [++nAsked, performance.now()];
    const seconds = () => (performance.now() - began) / 1000;
    const data = await new Promise(done => {
      const timer = setInterval(() => {
        at('stop').hidden = seconds() < 0.5;
        if (seconds() > 0.5) at('said').textContent = `working, ${seconds().toFixed(0)} s`;
        if (seconds() > LIMIT_S) stop(`stopped after ${LIMIT_S} s`);
      }, 250);
      waiting = {id, done, timer};
      worker.postMessage({id, question, file: bytes});
    });
    if (data.stopped === '') return null;
    at('said').textContent = data.answer?.ok && question.ask !== 'about' ? `done in ${seconds().toFixed(2)} s, measured in this browser` : '';
    if (data.stopped) trouble(`${data.stopped}: the command line below does the same without a limit`);
    else if (data.broke?.startsWith('panicked')) {
      trouble(`This is our mistake, please report it with what you gave: ${data.broke}`);
    } else if (data.broke) {
      trouble(`It ended without an answer (${data.broke}), most likely for want of memory: the command line below has more.`);
    }
    return data.answer ?? null;
  }

  // The address.

  const KEYS = ['show', 'cpu', 'function', 'file', 'object', 'name', 'text', 'layout', 'arch', 'slicing', 'mode'];

  async function write() {
    const values = new URLSearchParams();
    for (const key of KEYS) if (state[key]) values.set(key, state[key]);
    for (const key of ['text', 'layout']) {
      if (typeof state[key] === 'string') values.set(key, await packed(new TextEncoder().encode(state[key])));
    }
    history.replaceState(null, '', '#' + values);
  }

  async function read() {
    trouble('');
    const values = new URLSearchParams(location.hash.slice(1));
    const next = {};
    const faults = [];
    for (const [key, value] of values) {
      if (!KEYS.includes(key)) faults.push(`it has \`${key}\`, which this page does not know`);
      else if (key === 'object') next.object = value;
      else if (key !== 'text' && key !== 'layout') next[key] = value;
      else {
        try {
          next[key] = new TextDecoder('utf-8', {fatal: true}).decode(await unpacked(value));
        } catch {
          faults.push(`its \`${key}\` cannot be unpacked`);
        }
      }
    }
    if (next.show && !['audit', 'cipher'].includes(next.show)) faults.push(`it shows \`${next.show}\``);
    if (next.name && !about.ciphers.some(it => it.name === next.name)) faults.push(`it names a program \`${next.name}\``);
    if (next.object && next.file) {
      try {
        file = {name: next.file, bytes: await unpacked(next.object), sources: {}};
      } catch {
        faults.push('its `object` cannot be unpacked');
      }
    }
    if (faults.length > 0) {
      state = {show: next.show === 'cipher' ? 'cipher' : 'audit'};
      trouble(`The link is damaged: ${faults.join('; ')}. Ask for it again; what you see is the example.`);
    } else {
      state = next;
      if (next.file && !next.object && file?.name !== next.file) {
        trouble(`The link is about \`${next.file}\`, which is too large to be in it: drop that file here. What you see is the example.`);
        state = {show: 'audit', cpu: ''};
      }
    }
    show();
  }

  // What is shown.

  function show() {
    const isCipher = state.show === 'cipher';
    at('audit').hidden = isCipher;
    at('cipher').hidden = !isCipher;
    at('to-audit').setAttribute('aria-pressed', String(!isCipher));
    at('to-cipher').setAttribute('aria-pressed', String(isCipher));
    if (isCipher) showProgram();
    else audit(true);
  }

  async function audit(withList) {
    at('cpu').value = state.cpu ?? '';
    const question = {ask: 'audit', list: withList, sources: file?.sources ?? {}};
    if (file) question.name = file.name;
    // The example's link says nothing of the machine, and is about an A53.
    const cpu = state.cpu || (file ? null : 'cortex-a53');
    if (cpu) question.cpu = cpu;
    if (state.function) question.function = state.function;
    const words = ['meanwhile audit', quoted(file?.name ?? 'checksum.o')];
    if (cpu) words.push('--cpu', cpu);
    at('command').textContent = words.join(' ');
    const answer = await ask(question, file?.bytes);
    if (!answer?.ok) {
      if (answer) trouble(answer.text);
      at('page').srcdoc = at('listing').textContent = ''; // they were of another
      return;
    }
    if (withList) {
      const cycles = it => it.cycles === undefined ? '' : `: ${it.cycles} cycles, bound ${it.bound}`;
      at('function').replaceChildren(...answer.functions.map(it => option(it.name, it.shown + cycles(it), it.shown)));
    }
    at('function').value = answer.function;
    at('cpu').value = answer.cpu;
    if (at('function').length > 1) words.push('--function', quoted(answer.function));
    at('command').textContent = words.join(' ');
    at('said').textContent = `${file?.name ?? 'an example, checksum.o'}: ${at('said').textContent}`;
    if (answer.more > 0) answer.warnings.push(`${answer.more} more functions are not listed: function=NAME in the address names one`);
    if (answer.warnings.length > 0) at('said').textContent += `; note: ${answer.warnings.join('; ')}`;
    // The first wait is explained without a click.
    const click = "<script>document.querySelector('.asm button.stall')?.click()</scr" + 'ipt></body>';
    const top = scrollY; // the page of the audit scrolls to what it explains
    at('page').onload = () => scrollTo(0, top);
    at('page').srcdoc = answer.html.replace('</body>', () => click);
    at('listing').textContent = answer.text;
    at('page').title = `The audit of ${answer.title}`;
    await write();
  }

  const program = () => about.ciphers.find(it => it.name === (state.name || 'lea'));

  function showProgram() {
    const it = program();
    at('name').value = it.name;
    at('arch').value = state.arch || 'avx2';
    at('slicing').value = state.slicing || '';
    at('mode').replaceChildren(option('', 'blocks'), ...it.modes.map(mode => option(mode, mode)));
    at('mode').value = state.mode || '';
    at('text').value = state.text ?? it.text;
    at('layout').value = state.layout ?? it.layout;
    compile();
  }

  async function compile() {
    const it = program();
    const isEdited = it.is_file || at('text').value !== it.text || at('layout').value !== it.layout;
    state.text = at('text').value === it.text ? undefined : at('text').value;
    state.layout = at('layout').value === it.layout ? undefined : at('layout').value;
    const question = {ask: 'cipher', name: isEdited ? `${it.name}.ua` : it.name, arch: state.arch || 'avx2'};
    if (isEdited) Object.assign(question, {text: at('text').value, layout: at('layout').value});
    if (state.slicing) question.slicing = state.slicing;
    if (state.mode) question.mode = state.mode;
    const words = ['meanwhile cipher compile', question.name, '--arch', question.arch];
    if (state.slicing) words.push('--slicing', state.slicing);
    if (state.mode) words.push('--mode', state.mode);
    at('command').textContent = words.join(' ') + ` -o ${it.name}.c`;
    await write();
    const answer = await ask(question);
    if (!answer) return;
    at('errors').hidden = answer.ok;
    at('errors').textContent = answer.ok ? '' : answer.text;
    at('told').hidden = !answer.ok;
    at('made').style.opacity = answer.ok ? '' : '0.5'; // of the program before
    if (!answer.ok) return;
    made = answer;
    const lines = [...answer.told, ...answer.warnings.map(text => `warning: ${text}`)];
    at('told').replaceChildren(...lines.map(line => Object.assign(document.createElement('li'), {textContent: line})));
    showMade();
  }

  function showMade() {
    const isC = at('as-c').getAttribute('aria-pressed') === 'true';
    at('made').textContent = made ? (isC ? made.source : made.header) : '';
  }

  const quoted = word => /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`;

  // What the reader does.

  async function take(files) {
    const all = [...files]; // before the list is emptied
    const isSource = it => /\.(c|h|cc|cpp|cxx|hpp|s|rs|inc)$/i.test(it.name);
    const object = all.find(it => !isSource(it));
    trouble('');
    if (!object) {
      trouble('These are source files: drop the object that was compiled from them, too.');
      return;
    }
    if (object.size > FILE_MB_MAX << 20) {
      trouble(`\`${object.name}\` has ${(object.size / 2 ** 20).toFixed(0)} MB, and this page takes ${FILE_MB_MAX}: the command line takes any size.`);
      return;
    }
    const sources = {};
    for (const it of all.filter(isSource)) sources[it.name] = await it.text();
    file = {name: object.name, bytes: new Uint8Array(await object.arrayBuffer()), sources};
    const small = object.size <= 8 * IN_ADDRESS_MAX ? await packed(file.bytes) : '';
    state = {show: 'audit', file: file.name};
    if (small && small.length <= IN_ADDRESS_MAX) state.object = small;
    audit(true);
  }

  const press = (one, other, then) => at(one).addEventListener('click', () => {
    at(one).setAttribute('aria-pressed', 'true');
    at(other).setAttribute('aria-pressed', 'false');
    then();
  });
  const choose = (id, then) => at(id).addEventListener('change', () => {
    trouble('');
    state[id] = at(id).value;
    then();
  });
  const go = where => () => { trouble(''); state.show = where; show(); };
  press('to-audit', 'to-cipher', go('audit'));
  press('to-cipher', 'to-audit', go('cipher'));
  press('as-c', 'as-header', showMade);
  press('as-header', 'as-c', showMade);
  const asText = is => () => { at('page').hidden = is; at('listing').hidden = !is; };
  press('as-page', 'as-text', asText(false));
  press('as-text', 'as-page', asText(true));
  choose('cpu', () => audit(true));
  choose('function', () => audit(false));
  for (const id of ['arch', 'slicing', 'mode']) choose(id, compile);
  choose('name', () => { state = {show: 'cipher', name: state.name, arch: state.arch}; showProgram(); });
  let pause = 0;
  for (const id of ['text', 'layout']) at(id).addEventListener('input', () => {
    clearTimeout(pause);
    pause = setTimeout(() => { trouble(''); compile(); }, 300);
  });
  at('stop').addEventListener('click', () => stop('stopped'));
  at('files').addEventListener('change', () => {
    take(at('files').files);
    at('files').value = ''; // the same name again is a new file: one compiles, and looks again
  });
  for (const name of ['dragover', 'dragleave', 'drop']) document.addEventListener(name, event => {
    event.preventDefault();
    at('drop').classList.toggle('over', name === 'dragover');
    if (name === 'drop' && event.dataTransfer.files.length > 0) take(event.dataTransfer.files);
  });
  at('save').addEventListener('click', () => {
    const ending = at('as-c').getAttribute('aria-pressed') === 'true' ? 'c' : 'h';
    const url = URL.createObjectURL(new Blob([at('made').textContent], {type: 'text/plain'}));
    Object.assign(document.createElement('a'), {href: url, download: `${program().name}.${ending}`}).click();
    URL.revokeObjectURL(url);
  });
  at('copy').addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(location.href);
      at('said').textContent = 'the link is copied';
    } catch {
      at('said').textContent = 'the browser does not let pages copy: take the address from its bar';
    }
  });
  window.addEventListener('hashchange', read);

  (async () => {
    if (typeof WebAssembly !== 'object' || typeof DecompressionStream !== 'function' || typeof Worker !== 'function') {
      at('said').textContent = '';
      trouble('This browser lacks WebAssembly, workers or DecompressionStream, or they are switched off: take one of 2023 or later (Chromium 103, Firefox 113, Safari 16.4), or the command line, which does the same.');
      return;
    }
    wasm = (await through(fromBase64(at('module').textContent), new DecompressionStream('gzip'))).buffer;
    at('module').remove();
    newWorker();
    about = await ask({ask: 'about'});
    if (!about) return;
    at('cpu').replaceChildren(option('', 'the one that fits'), ...about.cpus.map(it => option(it.name, it.name, it.title)));
    at('arch').replaceChildren(...about.archs.map(name => option(name, name)));
    at('name').replaceChildren(...about.ciphers.map(it => option(it.name, it.title)));
    await read();
  })();
}

if (typeof document === 'undefined') module.exports = engine;
else start();
