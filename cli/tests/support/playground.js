// Asks the module of the playground what comes as lines of JSON, {question, file}, by the part of
// its page that runs in a worker; prints an answer a line.
'use strict';
const fs = require('fs');
const readline = require('readline');
const [script, page] = process.argv.slice(2);
const text = fs.readFileSync(page, 'latin1');
const packed = /<script type="application\/octet-stream" id="module">([^<]*)</.exec(text)[1];
const wasm = require('zlib').gunzipSync(Buffer.from(packed, 'base64'));
const scope = {postMessage: said => scope.heard(said)};
require(script)(scope);

(async () => {
  scope.onmessage({data: {wasm}});
  for await (const line of readline.createInterface({input: process.stdin})) {
    const {question, file} = JSON.parse(line);
    const bytes = file ? new Uint8Array(fs.readFileSync(file)) : undefined;
    const said = await new Promise(heard => {
      scope.heard = heard;
      scope.onmessage({data: {id: 1, question, file: bytes}});
    });
    process.stdout.write(JSON.stringify(said) + '\n');
  }
})();
