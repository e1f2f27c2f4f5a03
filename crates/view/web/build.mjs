// Bundles the page into dist/: one script, one style sheet, the licences of all packages in them.
import { build } from 'esbuild';
import { readFile, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const out = 'dist';
const ALLOWED = new Set(['MIT', 'MIT and ISC', 'ISC', 'BSD-3-Clause', 'BSD-2-Clause', 'Apache-2.0', '0BSD', 'Zlib']);
const MIT = `Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated
documentation files (the "Software"), to deal in the Software without restriction, including without limitation the
rights to use, copy, modify, merge, publish, distribute, sublicense, and/or sell copies of the Software, and to permit
persons to whom the Software is furnished to do so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the
Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE
WARRANTIES OF MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR
COPYRIGHT HOLDERS BE LIABLE FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR
OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;
const { metafile } = await build({
  entryPoints: { page: 'src/main.jsx' },
  outdir: out,
  bundle: true,
  minify: true,
  format: 'esm',
  target: 'es2022',
  jsx: 'automatic',
  define: { 'process.env.NODE_ENV': '"production"' },
  // The licences of all packages are in one file instead.
  legalComments: 'linked',
  metafile: true,
  logLevel: 'warning',
});
await writeFile(join(out, 'index.html'), await readFile('src/index.html'));
await writeFile(join(out, 'licences.txt'), await licences(Object.keys(metafile.inputs)));

/** Returns the names and licences of the packages that the bundled files belong to. */
async function licences(files) {
  const folders = new Set();
  for (const file of files) {
    const found = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file);
    if (found) folders.add(found[1]);
  }
  const texts = [];
  for (const folder of [...folders].sort()) {
    texts.push(await licence(folder));
  }
  return texts.join(`\n${'-'.repeat(80)}\n\n`);
}

async function licence(folder) {
  const { name, version, license, author } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8'));
  if (!ALLOWED.has(license)) {
    throw new Error(`${name} ${version} has the licence ${license}: check it and add it to ALLOWED`);
  }
  const file = (await readdir(folder)).find((entry) => /^licen[cs]e(\.|$)/i.test(entry));
  const holder = typeof author === 'string' ? author : (author?.name ?? 'its authors');
  const text = file ? await readFile(join(folder, file), 'utf8') : `Copyright by ${holder}. ${MIT}`;
  if (!file && license !== 'MIT') {
    throw new Error(`${name} ${version} has no file with its licence`);
  }
  return `${name} ${version} (${license})\n\n${text.trim()}\n`;
}
