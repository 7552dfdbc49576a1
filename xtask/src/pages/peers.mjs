// Reads the pages below a folder with @mozilla/readability and turndown: `peers.mjs FROM TO ROUNDS`.
import fs from 'node:fs';
import path from 'node:path';
import { JSDOM } from 'jsdom';
import { Readability } from '@mozilla/readability';
import TurndownService from 'turndown';
import gfm from 'turndown-plugin-gfm';

const [from, to, rounds] = process.argv.slice(2);
const pages = fs.readdirSync(from).filter((name) => name.endsWith('.html')).map((name) => [name, fs.readFileSync(path.join(from, name))]);
const turndown = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced' });
turndown.use(gfm.gfm);

function markdown(bytes) {
  const dom = new JSDOM(bytes, { url: 'https://site.example/a/page.html', contentType: 'text/html' });
  const article = new Readability(dom.window.document).parse();
  return article ? `# ${article.title}\n\n${turndown.turndown(article.content)}` : '';
}

let bytes = 0;
const started = process.hrtime.bigint();
for (let round = 0; round < Number(rounds); round++) {
  for (const [name, page] of pages) {
    const text = markdown(page);
    bytes += page.length;
    if (round === 0) fs.writeFileSync(path.join(to, name.replace('.html', '.md')), text);
  }
}
console.log(JSON.stringify({ seconds: Number(process.hrtime.bigint() - started) / 1e9, bytes }));
