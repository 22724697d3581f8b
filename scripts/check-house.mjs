// `pnpm check house`: measures the shape of the sources (docs/architecture.md, "A subject is a folder"). It
// fails
// - when a file, or a line of a comment, is too long
// - when the median file becomes too short
// - when a folder is named after a layer
// - when an endpoint is outside of a file of routes, because .dependency-cruiser.cjs checks the imports of
//   such files by their name
// - when only one package uses a store of a package of stores
import { readFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { execa } from 'execa'
import ts from 'typescript'
import { root } from '../ops/setup/bootstrap.mjs'

const limits = { medianLinesMin: 82, linesOfFileMax: 400, commentCharsMax: 110 }
const layers = new Set([
  'use-cases',
  'presenters',
  'hook-payloads',
  'routes',
  'controllers',
  'helpers',
  'utils',
])
const isTest = /\/test\/|\.test\.tsx?$/
const excluded = /\.d\.ts$|\/gen(?:-descriptors)?\/|\/generated\//

const { stdout } = await execa('git', ['ls-files', '--', 'packages', 'services'], { cwd: root })
const all = stdout.split('\n').filter((path) => /\.(?:tsx?|mjs)$/.test(path) && !excluded.test(path))
const paths = all.filter((path) => !isTest.test(path))
const read = (path) => {
  const text = readFileSync(join(root, path), 'utf8')
  return { path, text, lines: text.split('\n').length - 1 }
}
const files = paths.map(read)
const tests = all.filter((path) => isTest.test(path)).map(read)

/** Returns the statements of a file, without their positions. */
const statementsOf = ({ path, text }) => ts.createSourceFile(path, text, ts.ScriptTarget.Latest).statements

/** Returns the names that a file exports by declarations. */
function exportsOf(file) {
  const isExported = ({ modifiers = [] }) =>
    modifiers.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
  return statementsOf(file)
    .filter(isExported)
    .flatMap(({ name, declarationList }) =>
      (name ? [name] : (declarationList?.declarations ?? []).map((declaration) => declaration.name)).map(
        ({ text }) => text,
      ),
    )
}

/** Packages with rows that several packages use, and the folders of their stores. */
const stores = {
  db: 'packages/db/src/stores/',
  'saga-store': 'packages/saga-store/src/',
  webhooks: 'packages/webhooks/src/store/',
}

/** Returns the names that a file imports from a package, or within the package from its other files. */
const importsOf = (name, file) =>
  statementsOf(file)
    .filter(ts.isImportDeclaration)
    .filter(({ moduleSpecifier: { text } }) =>
      file.path.startsWith(`packages/${name}/`) ? text.startsWith('.') : text === `@switchyard/${name}`,
    )
    .flatMap(({ importClause }) => importClause?.namedBindings?.elements ?? [])
    .map(({ name, propertyName }) => (propertyName ?? name).text)

/**
 * Returns the stores of a package that only one other package imports. A store is also shared when another
 * store uses it, or when tests of a second package use it, because no test may import another service.
 */
function storesOfOne([name, folder]) {
  const users = new Map()
  for (const file of [...files, ...tests.filter(({ path }) => !path.startsWith(`packages/${name}/`))]) {
    const user = file.path.split('/').slice(0, 2).join('/')
    for (const imported of importsOf(name, file))
      users.set(imported, (users.get(imported) ?? new Set()).add(user))
  }
  return files
    .filter(({ path }) => path.startsWith(folder))
    .filter((file) => {
      const [user, ...others] = new Set(
        exportsOf(file).flatMap((exported) => [...(users.get(exported) ?? [])]),
      )
      return user !== undefined && user !== `packages/${name}` && others.length === 0
    })
    .map(({ path }) => path)
}

const withEndpoint = files.filter(
  ({ path, text }) => path.startsWith('services/') && /\bendpoint\(/.test(text),
)

/** Returns the lines of comments that are too long, except those that a tool reads. */
const longComments = ({ path, text }) =>
  text
    .split('\n')
    .map((line, index) => ({ line, number: index + 1 }))
    .filter(
      ({ line }) => /^\s*(?:\/\/ (?!biome-ignore)|\/?\*)/.test(line) && line.length > limits.commentCharsMax,
    )
    .map(({ number }) => `${path}:${number} is a comment of over ${limits.commentCharsMax} characters`)

const lines = files.map((file) => file.lines).toSorted((a, b) => a - b)
const median = lines[Math.floor(lines.length / 2)] ?? 0
const total = lines.reduce((sum, each) => sum + each, 0)
const problems = [
  ...files
    .filter((file) => file.lines > limits.linesOfFileMax)
    .map(({ path, lines: count }) => `${path} has ${count} lines, over ${limits.linesOfFileMax}`),
  ...[...new Set(paths.map(dirname))]
    .filter((folder) => layers.has(basename(folder)))
    .map((folder) => `${folder} is named after a layer`),
  ...withEndpoint
    .filter(({ path }) => !/\/[a-z-]*routes\.ts$/.test(path))
    .map(({ path }) => `${path} has an endpoint, which belongs to a file of routes`),
  ...files.flatMap(longComments),
  ...Object.entries(stores)
    .flatMap(storesOfOne)
    .map((path) => `${path} has one user, to which it belongs`),
]
if (withEndpoint.length < 50) problems.push(`only ${withEndpoint.length} files with endpoints were seen`)
if (median < limits.medianLinesMin)
  problems.push(`a median of ${median} lines, under ${limits.medianLinesMin}`)

console.log(`${files.length} source files, ${total} lines, a median of ${median} lines`)
for (const problem of problems) console.error(`✗ ${problem}`)
process.exitCode = problems.length > 0 ? 1 : 0
