// `pnpm check regexes`: fails when the analyser `recheck` finds a text for which a regular expression of the
// sources takes more than linear time, and when a regular expression is created at run time, which `recheck`
// cannot analyse.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { execa } from 'execa'
import { check } from 'recheck'
import ts from 'typescript'
import { root } from '../ops/setup/bootstrap.mjs'

/** A generous time limit, because the analysis of some expressions takes seconds. */
const judgedMs = 120_000
/** The bundler is left out, because it reads only files of this repository. */
const sources = [
  'packages/*/src/*',
  'services/*/src/*',
  'examples/*/src/*',
  'ops',
  ':!ops/bundler',
  'scripts',
]
const suffixes = /\.(?:ts|mts|mjs|js)$/
const excluded = /\/test\/|\.test\.ts$|\.d\.ts$|\/gen\/|\/generated\//

async function listFiles() {
  const { stdout } = await execa('git', ['ls-files', '--', ...sources], { cwd: root })
  return stdout.split('\n').filter((path) => suffixes.test(path) && !excluded.test(path))
}

/** The regular expressions of the gateway's routing table, which the gateway creates at run time. */
const routes = 'ops/gateway/routes.json'
const madeFromRoutes = 'packages/local-servers/src/gateway/routing-table.ts'

function* regexesOfRoutes() {
  for (const { match, path } of JSON.parse(readFileSync(join(root, routes), 'utf8'))) {
    if (match === 'regex') yield { position: routes, source: path, flags: '' }
  }
}

/**
 * Yields every regular expression of a file; `source` is null for an expression that is created at run time.
 */
function* regexesOf(path) {
  const text = readFileSync(join(root, path), 'utf8')
  const file = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true)
  const position = (node) => `${path}:${file.getLineAndCharacterOfPosition(node.getStart()).line + 1}`
  const waiting = [file]
  for (let node = waiting.pop(); node !== undefined; node = waiting.pop()) {
    if (ts.isRegularExpressionLiteral(node)) {
      const end = node.text.lastIndexOf('/')
      yield { position: position(node), source: node.text.slice(1, end), flags: node.text.slice(end + 1) }
    } else if (isMaking(node) && path !== madeFromRoutes) {
      yield { position: position(node), source: null, flags: '' }
    }
    node.forEachChild((child) => void waiting.push(child))
  }
}

const isMaking = (node) =>
  (ts.isNewExpression(node) || ts.isCallExpression(node)) &&
  ts.isIdentifier(node.expression) &&
  node.expression.text === 'RegExp'

/** Returns the problem of a regular expression; null when there is none. */
async function problemOf({ source, flags }) {
  if (source === null) return 'is made at run time; write it down, or match with code that takes linear time'
  const result = await check(source, flags, { timeout: judgedMs })
  if (result.status === 'safe') return null
  if (result.status === 'vulnerable') {
    return `takes ${result.complexity.summary} time: ${result.attack.pattern.slice(0, 200)}`
  }
  return `cannot be judged: ${result.error.kind}`
}

const problems = []
const judged = new Map()
let count = 0
const files = await listFiles()
for (const regex of [...regexesOfRoutes(), ...files.flatMap((path) => [...regexesOf(path)])]) {
  count += 1
  const key = JSON.stringify([regex.source, regex.flags])
  if (!judged.has(key)) judged.set(key, await problemOf(regex))
  const problem = judged.get(key)
  if (problem) problems.push(`${regex.position} /${regex.source ?? '…'}/${regex.flags} ${problem}`)
}
// A path pattern without matches would make this check useless.
if (count < 100) problems.push(`only ${count} regular expressions were seen: the check is blind`)
for (const problem of problems) console.error(`✗ ${problem}`)
console.log(`${count} regular expressions in ${files.length} files`)
process.exitCode = problems.length === 0 ? 0 : 1
