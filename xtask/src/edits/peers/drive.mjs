// Drives the published matching code of other agents: one case per line of standard input, one answer per line of
// standard output. Started by `cargo xtask edits --peers` in the folder that holds the unpacked packages.
//
// What stands around the matching functions in those programs (permissions, telemetry, asking a model to correct a failed
// edit) is left out; how they treat line endings and a byte order mark is kept.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { createInterface } from 'node:readline';

const [folder, temporary] = process.argv.slice(2);
const require = createRequire(join(folder, 'drive.mjs'));

// OpenCode is one executable that holds its bundled script as text. The replacers and the function that tries them one
// after another stand together, between two constants and the next import.
function opencode() {
  const text = readFileSync(join(folder, 'opencode-linux-x64/bin/opencode')).toString('latin1');
  const anchor = text.indexOf('Found multiple matches for oldString. Provide more surrounding context');
  const start = text.lastIndexOf('=0.65,', anchor);
  const end = text.indexOf('import ', anchor);
  if (anchor < 0 || start < 0 || end < 0) throw Error('its script has changed: the replacers are not found');
  const source = 'var a0=0.65,' + Buffer.from(text.slice(start + 6, end), 'latin1').toString('utf8');
  const first = /([\w$]+)$/.exec(text.slice(0, start))[1];
  const name = /function ([\w$]+)\([^)]*\)\{if\([^)]*\)throw Error\("No changes to apply/.exec(source)[1];
  const replace = new Function(`${source.replace('var a0', `var ${first}`)}\nreturn ${name};`)();
  return ({ before, old, new: text }) => {
    const bom = before.startsWith('\ufeff');
    const content = bom ? before.slice(1) : before;
    const ending = content.includes('\r\n') ? '\r\n' : '\n';
    const adapt = (value) => value.replaceAll('\r\n', '\n').replaceAll('\n', ending);
    const result = replace(content, adapt(old), adapt(text), false);
    return bom && !result.startsWith('\ufeff') ? `\ufeff${result}` : result;
  };
}

// Gemini CLI's module of the tool is loaded without its imports, which reach the whole program; the two it needs for
// matching are given to it.
function gemini() {
  const read = (path) => readFileSync(join(folder, 'gemini-cli-core/dist/src', path), 'utf8');
  const source = read('tools/edit.js');
  const part = (from, to) => {
    const start = source.indexOf(from);
    const end = to ? source.indexOf(to) : source.length;
    if (start < 0 || end < 0) throw Error(`its module has changed: no ${from}`);
    return source.slice(start, end);
  };
  const code = [
    part('const ENABLE_FUZZY', 'export function applyReplacement'),
    part('function restoreTrailingNewline', 'export function isEditToolParams'),
    part('function stripWhitespace'),
  ];
  const utilities = read('utils/textUtils.js');
  const literal = utilities.slice(utilities.indexOf('export function safeLiteralReplace'));
  code.push(literal.slice(0, literal.indexOf('\n}\n') + 3));
  const body = code.join('\n').replace(/^export /gm, '').replace(/^\/\/# .*$/gm, '');
  const names = ['levenshtein', 'EditStrategyEvent', 'logEditStrategy', 'ToolErrorType'];
  const made = new Function(...names, `${body}\nreturn { calculateReplacement, getErrorReplaceResult };`)(
    require('fast-levenshtein'),
    class {},
    () => {},
    {},
  );
  return async ({ before, old, new: text }) => {
    const params = { file_path: 'file', old_string: old, new_string: text };
    const content = before.replaceAll('\r\n', '\n');
    const result = await made.calculateReplacement({}, { params, currentContent: content });
    const { occurrences, finalOldString, finalNewString, newContent } = result;
    const error = made.getErrorReplaceResult(params, occurrences, finalOldString, finalNewString);
    if (error) throw Error(error.display);
    if (newContent === content) throw Error('no change');
    return before.includes('\r\n') ? newContent.replaceAll(/\r?\n/g, '\r\n') : newContent;
  };
}

// Codex takes patches only. An edit is sent as a patch: the lines at the beginning and the end that both strings share
// are its context.
function codex() {
  const program = join(folder, 'codex/vendor/x86_64-unknown-linux-musl/bin/codex');
  return ({ before, old, new: text, patch, extension }) => {
    const workspace = mkdtempSync(join(temporary, 'codex-'));
    const name = `file.${extension}`;
    try {
      writeFileSync(join(workspace, name), before);
      const sent = patch === undefined ? asPatch(old, text, name) : patch.replaceAll('@PATH@', name);
      const environment = { ...process.env, HOME: workspace, CODEX_HOME: workspace };
      const ran = spawnSync(program, ['--codex-run-as-apply-patch', sent], { cwd: workspace, env: environment });
      if (ran.error) throw ran.error;
      if (ran.status !== 0) throw Error(ran.stderr.toString().slice(0, 300));
      return readFileSync(join(workspace, name), 'utf8');
    } finally {
      rmSync(workspace, { recursive: true, force: true });
    }
  };
}

function asPatch(old, text, name) {
  const [before, after] = [old.split('\n'), text.split('\n')];
  const shortest = Math.min(before.length, after.length);
  let head = 0;
  while (head < shortest && before[head] === after[head]) head++;
  let tail = 0;
  while (tail < shortest - head && before.at(-1 - tail) === after.at(-1 - tail)) tail++;
  const mark = (lines, sign) => lines.map((line) => sign + line);
  const lines = [
    ...mark(before.slice(0, head), ' '),
    ...mark(before.slice(head, before.length - tail), '-'),
    ...mark(after.slice(head, after.length - tail), '+'),
    ...mark(before.slice(before.length - tail), ' '),
  ];
  return `*** Begin Patch\n*** Update File: ${name}\n@@\n${lines.join('\n')}\n*** End Patch\n`;
}

const peers = {};
const reasons = {};
for (const [name, make] of Object.entries({ opencode, gemini, codex })) {
  try {
    peers[name] = make();
  } catch (error) {
    reasons[name] = String(error.message ?? error);
  }
}
process.stdout.write(JSON.stringify({ reasons }) + '\n');

for await (const line of createInterface({ input: process.stdin })) {
  const call = JSON.parse(line);
  const answer = {};
  for (const name of call.peers.filter((name) => peers[name])) {
    try {
      answer[name] = { text: await peers[name](call) };
    } catch (error) {
      answer[name] = { error: String(error.message ?? error).slice(0, 300) };
    }
  }
  process.stdout.write(JSON.stringify(answer) + '\n');
}
