import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, it } from 'vitest'

const bundleService = fileURLToPath(new URL('../bundle-service.mjs', import.meta.url))

const manifest = '{"type":"module","bundle":{"programs":{"main":"src/main.ts"},"keepNames":true}}'

/** Returns the output of the bundle of these sources; `src/main.ts` is its entry. */
async function runBundled(files: Record<string, string>): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bundler-'))
  try {
    for (const [path, content] of Object.entries({ 'package.json': manifest, ...files })) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    await execa('node', [bundleService], { cwd: folder })
    return (await execa('node', ['--enable-source-maps', 'dist/bundle/main.js'], { cwd: folder })).stdout
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it('keeps the names of clashing classes when configured, because errors are distinguished by them', async () => {
  const module =
    'export class Clash extends Error { constructor() { super(); this.name = this.constructor.name } }'
  const printed = await runBundled({
    'src/one.ts': module,
    'src/two.ts': module,
    'src/main.ts': `import * as one from './one.js'; import * as two from './two.js'
      console.log(new one.Clash().name, new two.Clash().name)`,
  })
  expect(printed).toBe('Clash Clash')
})

it('gives CommonJS packages that are loaded late the names of Node', async () => {
  const printed = await runBundled({
    'node_modules/tool/package.json': '{"name":"tool","main":"index.js"}',
    'node_modules/tool/index.js': 'exports.Tool = class { name() { return "tool" } }; exports["a-b"] = 1',
    'src/late.ts': `export const late = async () => { const { Tool } = await import('tool'); return new Tool().name() }`,
    'src/main.ts': `import tool from 'tool'; import { late } from './late.js'
      const { default: same } = await import('tool')
      console.log(await late(), same === tool)`,
  })
  expect(printed).toBe('tool true')
})

it('bundles the entry of a worker thread, beside the file that names it', async () => {
  const printed = await runBundled({
    'src/deep/shared.ts': 'export const greeting = "hello"',
    'src/deep/greet.worker.ts': `import { parentPort } from 'node:worker_threads'
      import { greeting } from './shared.js'
      parentPort.postMessage(greeting)`,
    'src/deep/start.ts': `import { once } from 'node:events'
      import { Worker } from 'node:worker_threads'
      export const start = async () => once(new Worker(new URL('./greet.worker.js', import.meta.url)), 'message')`,
    'src/main.ts': `import { start } from './deep/start.js'
      console.log(...(await start()))`,
  })
  expect(printed).toBe('hello')
})

it('keeps the previous bundle while the sources have an error, and reports its location', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bundler-'))
  const bundle = () => execa('node', [bundleService], { cwd: folder, reject: false })
  const run = async () => (await execa('node', ['dist/bundle/main.js'], { cwd: folder })).stdout
  try {
    mkdirSync(join(folder, 'src'))
    writeFileSync(join(folder, 'package.json'), manifest)
    writeFileSync(join(folder, 'src/main.ts'), `console.log('first')`)
    await bundle()
    writeFileSync(join(folder, 'src/main.ts'), 'const =')
    expect((await bundle()).stderr).toContain('src/main.ts:1:6')
    expect(await run()).toBe('first')
    writeFileSync(join(folder, 'src/main.ts'), `console.log('second')`)
    await bundle()
    expect(await run()).toBe('second')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

it('errors name lines of sources for own code, and the bundle for libraries, whose maps would take memory', async () => {
  const printed = await runBundled({
    'node_modules/tool/package.json': '{"name":"tool","main":"index.js"}',
    'node_modules/tool/index.js': 'exports.call = function called(work) {\n  return work()\n}',
    'src/fail.ts': `export function fail() {\n  throw new Error('x')\n}`,
    'src/main.ts': `import tool from 'tool'; import { fail } from './fail.js'
      try { tool.call(fail) } catch (error) { console.log(error.stack) }`,
  })
  expect(printed).toMatch(/at fail \(.*src\/fail\.ts:2:\d+\)/)
  expect(printed).toMatch(/called .*dist\/bundle\/main\.js:\d+/)
})
