import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { afterAll, beforeAll, expect, it } from 'vitest'

const packClients = fileURLToPath(new URL('../pack-clients.mjs', import.meta.url))

const files = {
  'service/clients.json':
    '[{"name":"tool","package":"@switchyard/tool"},{"name":"command","package":"@switchyard/command","isCommand":true}]',
  'command/package.json': JSON.stringify({
    name: '@switchyard/command',
    version: '1.2.3',
    description: 'A command',
    license: 'MIT',
    bin: { command: 'bin/command.mjs' },
    engines: { node: '>=20.19' },
    exports: { '.': './src/main.ts' },
  }),
  'command/README.md': '# A command',
  'command/bin/command.mjs': `#!/usr/bin/env node\nimport { main } from '../dist/main.js'\nmain()`,
  'command/src/main.ts': `import { help } from 'library'\nexport const main = (): void => console.log(help())`,
  'command/node_modules/library/package.json':
    '{"name":"library","version":"4.5.6","main":"index.mjs","license":"MIT"}',
  'command/node_modules/library/index.mjs': `export const help = () => 'helps'`,
  'command/node_modules/library/license': 'Be kind',
  'tool/package.json': JSON.stringify({
    name: '@switchyard/tool',
    version: '1.2.3',
    description: 'A tool',
    license: 'MIT',
    exports: { '.': './src/index.ts' },
    dependencies: { '@switchyard/shared': 'workspace:*', library: 'catalog:' },
  }),
  'tool/README.md': '# A tool',
  'tool/src/index.ts': `import type { Kind } from '@switchyard/shared/kind'\nexport { use } from './deep/use.js'\nexport const kindOf = (kind: Kind): Kind => kind`,
  'tool/src/deep/use.ts': `import { hash } from 'node:crypto'\nimport { kind } from '@switchyard/shared/kind'\nimport { help } from 'library/help'\nexport const use = (): string => kind + help() + hash('md5', '')`,
  'tool/src/unused.ts': 'export const secret = 1',
  'tool/node_modules/library/package.json': '{"name":"library","version":"4.5.6"}',
  'shared/package.json': JSON.stringify({
    name: '@switchyard/shared',
    version: '1.2.3',
    exports: { './kind': './src/gen/kind.ts' },
  }),
  'shared/src/gen/kind.ts': `export type Kind = 'shared'\nexport const kind: Kind = 'shared'`,
}

let folder: string
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'switchyard-pack-'))
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
  }
  const link = (from: string, name: string) => {
    mkdirSync(join(folder, from, 'node_modules/@switchyard'), { recursive: true })
    symlinkSync(join(folder, name), join(folder, from, 'node_modules/@switchyard', name))
  }
  link('service', 'tool')
  link('tool', 'shared')
  link('service', 'command')
  await pack('one')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

const pack = (target: string) =>
  execa('node', [packClients, join(folder, target)], { cwd: join(folder, 'service') })
const tar = async (...args: string[]) =>
  (await execa('tar', ['-f', join(folder, 'one/tool.tgz'), ...args])).stdout
const contentOf = (path: string) => tar('-xzO', `package/${path}`)

it('packs the modules of an entry and nothing else, including those of other packages of the workspace', async () => {
  expect((await tar('-tz')).split('\n')).toEqual(
    [
      'package.json',
      'README.md',
      'LICENSE',
      'dist/deep/use.d.ts',
      'dist/deep/use.js',
      'dist/index.d.ts',
      'dist/index.js',
      'dist/shared/gen/kind.d.ts',
      'dist/shared/gen/kind.js',
    ].map((path) => `package/${path}`),
  )
  expect(await contentOf('dist/index.js')).toBe(
    `export { use } from './deep/use.js';\nexport const kindOf = (kind) => kind;`,
  )
  expect(await contentOf('dist/deep/use.js')).toContain(`import { kind } from '../shared/gen/kind.js'`)
  expect(await contentOf('dist/index.d.ts')).toContain(`import type { Kind } from './shared/gen/kind.js'`)
  expect(await contentOf('dist/deep/use.d.ts')).toBe('export declare const use: () => string;')
})

it('declares the imported libraries, from their installed version up, and no package of the workspace', async () => {
  expect(JSON.parse(await contentOf('package.json'))).toEqual({
    name: '@switchyard/tool',
    version: '1.2.3',
    description: 'A tool',
    license: 'MIT',
    type: 'module',
    exports: { '.': { types: './dist/index.d.ts', default: './dist/index.js' } },
    types: './dist/index.d.ts',
    engines: { node: '>=20.19' },
    dependencies: { library: '^4.5.6' },
  })
})

it('results in the same bytes again', async () => {
  await pack('two')
  for (const file of ['tool.tgz', 'index.json'])
    expect(readFileSync(join(folder, 'two', file))).toEqual(readFileSync(join(folder, 'one', file)))
})

it('refuses a client whose exports do not declare their types, which one file alone does not show', async () => {
  const source = join(folder, 'tool/src/deep/use.ts')
  writeFileSync(source, files['tool/src/deep/use.ts'].replace('(): string =>', '() =>'))
  const { stderr } = await execa('node', [packClients, join(folder, 'bad')], {
    cwd: join(folder, 'service'),
    reject: false,
  })
  writeFileSync(source, files['tool/src/deep/use.ts'])
  expect(stderr).toContain('tool/src/deep/use.ts(4,20): error TS9007')
})

it('refuses a client that uses a library without depending on it', async () => {
  const manifest = join(folder, 'tool/package.json')
  writeFileSync(manifest, files['tool/package.json'].replace('"library":"catalog:"', '"other":"catalog:"'))
  const { stderr } = await execa('node', [packClients, join(folder, 'bad')], {
    cwd: join(folder, 'service'),
    reject: false,
  })
  writeFileSync(manifest, files['tool/package.json'])
  expect(stderr).toContain('uses library, and does not depend on it')
})

it('packs a command as one file with its libraries and their licences, which runs without an installation', async () => {
  const target = join(folder, 'unpacked')
  mkdirSync(target)
  await execa('tar', ['-xzf', join(folder, 'one/command.tgz'), '-C', target])
  expect((await execa(join(target, 'package/bin/command.mjs'))).stdout).toBe('helps')
  expect(readFileSync(join(target, 'package/LICENSES-OF-LIBRARIES'), 'utf8')).toBe(
    'library 4.5.6\n\nBe kind\n',
  )
  expect(JSON.parse(readFileSync(join(target, 'package/package.json'), 'utf8'))).not.toHaveProperty(
    'dependencies',
  )
  expect(JSON.parse(readFileSync(join(folder, 'client-packages.json'), 'utf8'))).toEqual([
    { name: 'library', version: '4.5.6', license: 'MIT' },
  ])
})
