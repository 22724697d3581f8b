import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import { expect, it } from 'vitest'

const shipBundle = fileURLToPath(new URL('../ship-bundle.mjs', import.meta.url))

/**
 * Returns names and licences of the packages that ship with a service which uses piscina, or the reason why
 * none do.
 */
async function shipWith(manifest: object) {
  const folder = mkdtempSync(join(tmpdir(), 'switchyard-ship-'))
  const json = (value: object) => JSON.stringify({ version: '1.0.0', ...value })
  const files = {
    'package.json': json({ name: 'service', dependencies: { piscina: '1.0.0' }, bundle: {} }),
    'dist/bundle/main.js': '',
    'dist/bundle/packages.json': '[]',
    'node_modules/piscina/package.json': json({ name: 'piscina', ...manifest }),
    'node_modules/installed/package.json': json({ name: 'installed' }),
  }
  try {
    for (const [path, content] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), content)
    }
    const { exitCode, stderr } = await execa('node', [shipBundle, 'shipped'], { cwd: folder, reject: false })
    if (exitCode !== 0) return stderr
    const { components } = JSON.parse(readFileSync(join(folder, 'shipped/sbom.cdx.json'), 'utf8')) as {
      components: { name: string; licenses: { expression: string }[] }[]
    }
    return components.map(({ name, licenses }) => [name, ...licenses.map(({ expression }) => expression)])
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

it('ships the dependencies of a package outside the bundle, without optional packages that are not installed', async () => {
  const manifest = { dependencies: { installed: '1.0.0' }, optionalDependencies: { absent: '1.0.0' } }
  expect(await shipWith(manifest)).toEqual([['installed'], ['piscina']])
})

it('ships nothing when a required dependency is not installed', async () => {
  expect(await shipWith({ dependencies: { absent: '1.0.0' } })).toMatch(
    /depends on absent, which is not installed/,
  )
})

it.each([
  { license: 'MIT' },
  { license: { type: 'MIT', url: 'https://example.com' } },
  { licenses: [{ type: 'MIT', url: 'https://example.com' }] },
])('lists the licence of a package in any of its forms: %j', async (manifest) => {
  expect(await shipWith(manifest)).toEqual([['piscina', 'MIT']])
})
