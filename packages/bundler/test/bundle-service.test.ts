import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, it } from 'vitest'

const bundleService = fileURLToPath(new URL('../bundle-service.mjs', import.meta.url))

it('keeps the names of classes that clash, when told to: errors are told apart by them', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-bundler-'))
  try {
    mkdirSync(join(folder, 'dist'))
    writeFileSync(join(folder, 'package.json'), '{"type":"module"}')
    const module =
      'export class Clash extends Error { constructor() { super(); this.name = this.constructor.name } }'
    for (const name of ['one', 'two']) writeFileSync(join(folder, 'dist', `${name}.js`), module)
    writeFileSync(
      join(folder, 'dist', 'main.js'),
      `import * as one from './one.js'; import * as two from './two.js'
       console.log(new one.Clash().name, new two.Clash().name)`,
    )
    await execa('node', [bundleService, '--keep-names'], { cwd: folder })
    const { stdout } = await execa('node', ['dist/bundle/main.js'], { cwd: folder })
    expect(stdout).toBe('Clash Clash')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
